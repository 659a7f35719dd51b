// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: what a turn is told of the world, always the same.
#pragma once

#include "kernel/machine.h"

namespace holdfast::steps::testing {

class FixedContext : public kernel::Context {
 public:
  std::uint64_t time_ns() const override { return 5; }
  std::uint64_t logical_ns() const override { return 5; }
  std::uint64_t record() const override { return 1; }
  base::Hash entropy() const override { return {}; }
  base::Hash manifest_hash() const override { return {}; }
  std::string_view workflow() const override { return "t/Flow@1"; }
  base::Hash workflow_hash() const override { return {}; }
  base::ByteView key() const override { return {}; }
  bool is_keyed() const override { return false; }
  std::uint64_t mail_waiting() const override { return 0; }
  void write_event(const kernel::Mail&, codec::Buffer&) const override {}
  bool write_context(const kernel::Mail&, codec::Buffer&) const override { return false; }
};

}  // namespace holdfast::steps::testing
