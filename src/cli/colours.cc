// SPDX-License-Identifier: Apache-2.0
#include "cli/colours.h"

#include <unistd.h>

#include <cstdlib>

namespace holdfast::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// What no word of ours is has none.
std::string_view colour_of(std::string_view status) {
  if (status == "completed") return "\x1b[32m";
  if (status == "failed") return "\x1b[31m";
  if (status == "cancelled" || status.ends_with(", paused")) return "\x1b[33m";
  return {};
}

}  // namespace

bool shows_colours() {
  return ::isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty() &&
         !variable("TERM").empty() && variable("TERM") != "dumb";
}

std::string painted_status(std::string_view status) {
  const std::string_view colour = colour_of(status);
  if (colour.empty()) return std::string(status);
  return std::string(colour) + std::string(status) + "\x1b[0m";
}

}  // namespace holdfast::cli
