// SPDX-License-Identifier: Apache-2.0
#include "worker/probe.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "executors/child.h"
#include "worker/child_output.h"
#include "worker/child_setup.h"

namespace holdfast::work {
namespace {

constexpr int kProbeMs = 10'000;
constexpr std::size_t kMaxProbeBytes = 64 << 10;
constexpr std::size_t kMostDevices = 64;

std::string_view trim(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  text = trim(text);
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::string text_of_file(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a short program prints; empty where it is not there, fails or takes too long.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  auto found = find_program(program);
  if (!found) return {};
  executors::ChildPlan plan;
  plan.program = &*found;
  plan.scripts_by_path = true;
  plan.argv.push_back(found->path);
  plan.argv.insert(plan.argv.end(), arguments.begin(), arguments.end());
  plan.environment = child_environment();
  plan.folder = "/";
  auto child = executors::Child::start(plan);
  if (!child) return {};
  std::string output;
  while (true) {
    std::vector<pollfd> polled{{child->ended(), POLLIN, 0}, {child->output(), POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), kProbeMs) <= 0) return {};
    const bool goes_on =
        read_available(child->output(), kMaxProbeBytes, [&](std::string_view bytes) {
          if (output.size() + bytes.size() <= kMaxProbeBytes) output += bytes;
        });
    if (!goes_on) child->close_output();
    if (polled[0].revents == 0) continue;
    const auto ending = child->wait();
    return ending && ending->code == 0 && ending->signal == 0 ? output : "";
  }
}

std::uint64_t processors_milli() {
  cpu_set_t set;
  const long count = ::sched_getaffinity(0, sizeof set, &set) == 0
                         ? CPU_COUNT(&set)
                         : ::sysconf(_SC_NPROCESSORS_ONLN);
  const std::uint64_t milli = static_cast<std::uint64_t>(std::max(1L, count)) * 1000;
  const std::uint64_t quota = quota_milli_in(text_of_file("/sys/fs/cgroup/cpu.max"));
  return quota == 0 ? milli : std::min(milli, quota);
}

std::uint64_t memory_bytes() {
  const std::uint64_t machine = memory_in(text_of_file("/proc/meminfo"));
  const std::string limit = text_of_file("/sys/fs/cgroup/memory.max");
  const auto group = number_in(std::string_view(limit).substr(0, limit.find('\n')));
  return group && (machine == 0 || *group < machine) ? *group : machine;
}

}  // namespace

std::vector<Device> devices_in(std::string_view text) {
  std::vector<Device> devices;
  while (!text.empty() && devices.size() < kMostDevices) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find(',');
    const std::size_t last = line.rfind(',');
    if (first == std::string_view::npos || first == last) continue;
    const auto index = number_in(line.substr(0, first));
    const auto mebibytes = number_in(line.substr(last + 1));
    if (!index || !mebibytes || *mebibytes > (std::uint64_t{1} << 40)) continue;
    const std::string_view name = trim(line.substr(first + 1, last - first - 1));
    devices.push_back({*index, plain_text(name, 128), *mebibytes << 20});
  }
  return devices;
}

std::uint64_t memory_in(std::string_view meminfo) {
  constexpr std::string_view kName = "MemTotal:";
  const std::size_t at = meminfo.find(kName);
  if (at == std::string_view::npos) return 0;
  std::string_view line = meminfo.substr(at + kName.size());
  line = trim(line.substr(0, line.find('\n')));
  if (!line.ends_with("kB")) return 0;
  line.remove_suffix(2);
  return number_in(line).value_or(0) << 10;
}

std::uint64_t quota_milli_in(std::string_view cpu_max) {
  cpu_max = trim(cpu_max.substr(0, cpu_max.find('\n')));
  const std::size_t space = cpu_max.find(' ');
  if (space == std::string_view::npos) return 0;
  const auto quota = number_in(cpu_max.substr(0, space));
  const auto period = number_in(cpu_max.substr(space + 1));
  if (!quota || !period || *period == 0 || *quota > UINT64_MAX / 1000) return 0;
  return std::max<std::uint64_t>(1, *quota * 1000 / *period);
}

Resources probe_resources() {
  Resources resources;
  resources.cpu_milli = processors_milli();
  resources.memory_bytes = memory_bytes();
  resources.devices = devices_in(output_of(
      "nvidia-smi", {"--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"}));
  return resources;
}

}  // namespace holdfast::work
