// SPDX-License-Identifier: Apache-2.0
#include "node/refusal.h"

#include <string>
#include <utility>
#include <variant>

#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

// How many of a list a message names.
constexpr std::size_t kMostNamed = 5;

base::Error error_of(const kernel::Refused& refused) {
  std::string message = refused.message;
  for (std::size_t i = 0; i < refused.details.size() && i < kMostNamed; ++i)
    message += (i == 0 ? ": " : "; ") + refused.details[i];
  if (refused.details.size() > kMostNamed) message += "; and more";
  return {refused.code, std::move(message)};
}

base::Error error_of(const kernel::Blocked& blocked) {
  std::string message = std::to_string(blocked.count) + " instances have not ended: ";
  for (std::size_t i = 0; i < blocked.blockers.size() && i < kMostNamed; ++i) {
    const kernel::Blocker& blocker = blocked.blockers[i];
    message += (i == 0 ? "" : ", ") + kernel::instance_name(blocker.workflow, blocker.key);
  }
  if (blocked.count > kMostNamed) message += " and others";
  for (std::size_t i = 0; i < blocked.workflows.size() && i < kMostNamed; ++i) {
    const kernel::BlockedWorkflow& each = blocked.workflows[i];
    if (each.because.empty()) continue;
    message += "; for " + each.workflow + " this changes: ";
    for (std::size_t j = 0; j < each.because.size() && j < kMostNamed; ++j)
      message += (j == 0 ? "" : ", ") + each.because[j];
    if (each.because.size() > kMostNamed) message += " and more";
  }
  return {base::ErrorCode::kConflict, std::move(message)};
}

}  // namespace

std::optional<base::Error> refusal(const kernel::Answer& answer) {
  if (const auto* refused = std::get_if<kernel::Refused>(&answer)) return error_of(*refused);
  if (const auto* blocked = std::get_if<kernel::Blocked>(&answer)) return error_of(*blocked);
  return std::nullopt;
}

}  // namespace holdfast::node
