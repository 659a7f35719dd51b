// SPDX-License-Identifier: Apache-2.0
// What one step may know besides state and message. Internal to the kernel.
#pragma once

#include "kernel/machine.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

class StepContext : public Context {
 public:
  // `delivery` says which of the tick this is.
  StepContext(WorldState& world, const Cell& cell, std::uint64_t delivery)
      : world_(world),
        workflow_(world.program->workflow(cell.workflow)),
        cell_(cell),
        delivery_(delivery) {}

  std::uint64_t time_ns() const override { return world_.tick->time_ns; }
  std::uint64_t logical_ns() const override;
  std::uint64_t record() const override { return world_.next_record; }
  base::Hash entropy() const override;
  base::Hash manifest_hash() const override { return world_.program->manifest_hash(); }
  std::string_view workflow() const override { return workflow_.name; }
  base::Hash workflow_hash() const override { return workflow_.hash; }
  base::ByteView key() const override { return cell_.key; }
  bool is_keyed() const override { return workflow_.key.has_value(); }
  std::uint64_t mail_waiting() const override { return cell_.mail.size(); }
  void write_event(const Mail& mail, codec::Buffer& out) const override;
  bool write_context(const Mail& mail, codec::Buffer& out) const override;

 private:
  WorldState& world_;
  const WorkflowProgram& workflow_;
  const Cell& cell_;
  std::uint64_t delivery_;
};

}  // namespace holdfast::kernel
