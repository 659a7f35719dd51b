// SPDX-License-Identifier: Apache-2.0
// What the programs that a worker starts have in common: where they are found, and their
// environment: the worker's own without what it is trusted with, and what the task brings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "executors/program.h"
#include "worker/messages.h"

namespace holdfast::work {

// A program by its path, or by its name in PATH.
base::Result<executors::Program> find_program(const std::string& name);

// NAME=value, for a program that runs tasks. Tokens of ours are left out.
std::vector<std::string> child_environment();

// Adds CUDA_VISIBLE_DEVICES where the task has devices.
void add_devices(std::vector<std::string>& environment, const std::vector<std::uint64_t>& devices);

std::string present_folder();

// "exited with 3", "was killed by signal 9"
std::string ending_text(int code, int signal);

}  // namespace holdfast::work
