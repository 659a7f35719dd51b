// SPDX-License-Identifier: Apache-2.0
// Hides secrets in what comes back from outside before it becomes part of a receipt, and so of the
// journal: an outside that says again what it was told. Each occurrence becomes as many asterisks,
// so that nothing moves. Only the bytes as they are: what somebody has encoded is not recognised.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "executors/secret.h"

namespace holdfast::executors {

void mask(std::span<char> text, const std::vector<Secret>& secrets);

inline void mask(std::string& text, const std::vector<Secret>& secrets) {
  mask(std::span<char>(text.data(), text.size()), secrets);
}

// The longest of them: where a text is cut, so much more must be kept until it was masked.
std::size_t longest(const std::vector<Secret>& secrets);

}  // namespace holdfast::executors
