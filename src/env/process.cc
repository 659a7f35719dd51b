// SPDX-License-Identifier: Apache-2.0
#include "env/process.h"

#include <unistd.h>

#include <fstream>

namespace holdfast::env {
namespace {

class PosixProcess : public Process {
 public:
  std::int64_t id() override { return ::getpid(); }

  std::string host_name() override {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
    return name;
  }

  std::string boot_id() override { return boot_id_; }

 private:
  static std::string read_boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
  }

  const std::string boot_id_ = read_boot_id();  // no process lives longer than that
};

}  // namespace

std::unique_ptr<Process> posix_process() { return std::make_unique<PosixProcess>(); }

std::string describe(Process& process) {
  return "process " + std::to_string(process.id()) + " on host " + process.host_name();
}

}  // namespace holdfast::env
