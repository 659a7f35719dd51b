// SPDX-License-Identifier: Apache-2.0
// Finds every reference in a value, front to back. Every byte is read once; it is recursive, at
// most codec::kMaxDepth deep.
#pragma once

#include <string>

#include "codec/view.h"
#include "tasks/reference.h"
#include "tasks/trail.h"

namespace holdfast::tasks {

class ReferenceVisitor {
 public:
  virtual ~ReferenceVisitor() = default;
  virtual void found(const Reference& reference, const Trail& where) = 0;
  virtual void malformed(std::string problem, const Trail& where) = 0;
};

void visit_references(codec::View value, const Trail& where, ReferenceVisitor& visitor);

}  // namespace holdfast::tasks
