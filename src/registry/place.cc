// SPDX-License-Identifier: Apache-2.0
#include "registry/place.h"

#include <algorithm>

namespace holdfast::registry {
namespace {

constexpr std::size_t kMostOfWorkflowName = 60;
constexpr std::size_t kMostOfNonce = 12;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

base::Result<void> check_signal_name(std::string_view name) {
  const bool good = name.starts_with(kSignalPrefix) && name.size() > kSignalPrefix.size() &&
                    name.size() <= kMaxSignalName &&
                    std::all_of(name.begin(), name.end(), is_plain);
  if (good) return {};
  return base::invalid(std::string(name),
                       "a signal file is in the folder of the registry itself, and is called "
                       "preempt- and up to 192 letters, digits, '-', '_' or '.'");
}

base::Result<std::string> signal_name_of(const Place& place, std::string_view path) {
  std::string_view name = path;
  if (name.starts_with(place.folder + "/")) name.remove_prefix(place.folder.size() + 1);
  TRY(check_signal_name(name));
  return std::string(name);
}

std::string made_up_signal_name(std::string_view workflow, std::string_view nonce) {
  std::string name(kSignalPrefix);
  for (const char c : workflow.substr(0, kMostOfWorkflowName)) name += is_plain(c) ? c : '_';
  name += '-';
  name += nonce.substr(0, kMostOfNonce);
  return name;
}

}  // namespace holdfast::registry
