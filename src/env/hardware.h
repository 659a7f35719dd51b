// SPDX-License-Identifier: Apache-2.0
// The machine, for the line beside figures that were measured on it.
#pragma once

#include <fstream>
#include <string>

namespace holdfast::env {

inline std::string hardware() {
  std::ifstream file("/proc/cpuinfo");
  std::string model = "unknown processor";
  int cores = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    ++cores;
  }
  return model + ", " + std::to_string(cores) + " cores, " + __VERSION__;
}

}  // namespace holdfast::env
