// SPDX-License-Identifier: Apache-2.0
#include "worker/child_setup.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

extern char** environ;

namespace holdfast::work {
namespace {

// What servers know us by is nothing for the programs of tasks.
constexpr std::array<std::string_view, 3> kOwnVariables = {
    "HOLDFAST_TOKEN=", "HOLDFAST_CLIENT_KEY=", "CUDA_VISIBLE_DEVICES="};

}  // namespace

base::Result<executors::Program> find_program(const std::string& name) {
  if (name.empty()) return base::invalid("program", "its name is empty");
  if (name.find('/') != std::string::npos) {
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::absolute(name, problem);
    return executors::Program::allow(problem ? name : whole.lexically_normal().string());
  }
  const char* const variable = std::getenv("PATH");
  const std::string_view path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string_view folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (!folder.starts_with('/')) continue;
    const std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    if (auto found = executors::Program::allow(candidate)) return found;
  }
  return base::Error(base::ErrorCode::kNotFound, name, "no such program in PATH");
}

std::vector<std::string> child_environment() {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const bool is_own =
        std::any_of(kOwnVariables.begin(), kOwnVariables.end(),
                    [&](std::string_view own) { return variable.starts_with(own); });
    if (!is_own) all.emplace_back(variable);
  }
  return all;
}

void add_devices(std::vector<std::string>& environment, const std::vector<std::uint64_t>& devices) {
  if (devices.empty()) return;
  std::string list;
  for (const std::uint64_t device : devices)
    list += (list.empty() ? "" : ",") + std::to_string(device);
  environment.push_back("CUDA_VISIBLE_DEVICES=" + list);
}

std::string present_folder() {
  std::error_code problem;
  const std::filesystem::path path = std::filesystem::current_path(problem);
  return problem ? "/" : path.string();
}

std::string ending_text(int code, int signal) {
  return signal != 0 ? "was killed by signal " + std::to_string(signal)
                     : "exited with " + std::to_string(code);
}

}  // namespace holdfast::work
