// SPDX-License-Identifier: Apache-2.0
// What this machine has, as far as this process may use it: processors (affinity and the quota of
// its control group), memory (the machine's or the group's limit), and NVIDIA devices where
// nvidia-smi lists some.
#pragma once

#include <string_view>
#include <vector>

#include "worker/messages.h"

namespace holdfast::work {

Resources probe_resources();

// Lines of `nvidia-smi --query-gpu=index,name,memory.total --format=csv,noheader,nounits`. A line
// that does not look so is left out.
std::vector<Device> devices_in(std::string_view text);

// "MemTotal:  32768 kB" of /proc/meminfo, in bytes; 0: it is not there.
std::uint64_t memory_in(std::string_view meminfo);

// "200000 100000" of cpu.max is 2000; 0: "max", or not such a line.
std::uint64_t quota_milli_in(std::string_view cpu_max);

}  // namespace holdfast::work
