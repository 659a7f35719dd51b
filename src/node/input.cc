// SPDX-License-Identifier: Apache-2.0
#include "node/input.h"

#include <cstring>
#include <initializer_list>
#include <tuple>

#include "base/check.h"

namespace holdfast::node {
namespace {

// One block for everything that a tick borrows, handed out piece by piece.
class Block {
 public:
  Block(std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes) size_ += size;
    bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(size_);
  }

  void own(base::ByteView& view) {
    if (!view.empty()) std::memcpy(bytes_.get() + used_, view.data(), view.size());
    view = {bytes_.get() + used_, view.size()};
    used_ += view.size();
    CHECK(used_ <= size_);
  }
  void own(std::string_view& text) {
    base::ByteView bytes = base::as_bytes(text);
    own(bytes);
    text = base::as_text(bytes);
  }

  std::unique_ptr<std::uint8_t[]> take() { return std::move(bytes_); }
  std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

template <class Part, class Borrowed>
Input Input::owning(Part own, Borrowed borrowed) {
  return std::apply(
      [&](auto&... views) {
        Block block({views.size()...});
        (block.own(views), ...);
        return Input(own, block.take(), block.size());
      },
      borrowed(own));
}

Input Input::event(const kernel::EventArrived& event) {
  return owning(event, [](auto& own) {
    return std::tie(own.schema, own.value, own.id, own.workflow, own.key, own.trace);
  });
}

Input Input::receipt(const kernel::ReceiptArrived& receipt) {
  return owning(receipt, [](auto& own) {
    return std::tie(own.payload, own.signature.key, own.signature.bytes, own.fence.worker);
  });
}

Input Input::progress(const kernel::ProgressArrived& progress) {
  return owning(progress,
                [](auto& own) { return std::tie(own.kind, own.payload, own.fence.worker); });
}

Input Input::control(const kernel::ControlRequested& request) {
  return owning(request,
                [](auto& own) { return std::tie(own.workflow, own.key, own.reason, own.by); });
}

Input Input::apply(const kernel::ApplyManifest& apply) {
  return owning(apply, [](auto& own) { return std::tie(own.definitions, own.by); });
}

Input Input::propose(const kernel::Propose& propose) {
  return owning(propose, [](auto& own) { return std::tie(own.document, own.description, own.by); });
}

Input Input::shadow(const kernel::ReportShadow& report) {
  return owning(report, [](auto& own) { return std::tie(own.report, own.by); });
}

Input Input::decide(const kernel::Decide& decide) {
  return owning(decide, [](auto& own) { return std::tie(own.by, own.reason); });
}

bool Input::is_control() const noexcept {
  return std::holds_alternative<kernel::ControlRequested>(tick_) ||
         std::holds_alternative<kernel::ApplyManifest>(tick_) ||
         std::holds_alternative<kernel::Propose>(tick_) ||
         std::holds_alternative<kernel::ReportShadow>(tick_) ||
         std::holds_alternative<kernel::Decide>(tick_) ||
         std::holds_alternative<kernel::ReopenInstance>(tick_) ||
         std::holds_alternative<kernel::ApplyProposal>(tick_);
}

Input Input::apply_proposal(const kernel::ApplyProposal& apply) {
  return owning(apply, [](auto& own) { return std::tie(own.by); });
}

Input Input::forget(const kernel::ForgetEnded& forget) {
  return owning(forget, [](auto& own) { return std::tie(own.instances); });
}

Input Input::enrol(const kernel::WorkerEnrolled& enrolled) {
  return owning(enrolled, [](auto& own) {
    return std::tie(own.worker, own.node, own.name, own.description);
  });
}

Input Input::change_worker(const kernel::WorkerChanged& changed) {
  return owning(changed, [](auto& own) { return std::tie(own.worker, own.reason, own.by); });
}

Input Input::lease(const kernel::Leased& leased) {
  return owning(leased, [](auto& own) { return std::tie(own.worker, own.items); });
}

Input Input::give_back(const kernel::Returned& returned) {
  return owning(returned, [](auto& own) { return std::tie(own.worker, own.items); });
}

Input Input::stop_work(const kernel::StopAsked& asked) {
  return owning(asked, [](auto& own) { return std::tie(own.reason, own.by); });
}

Input Input::mark_source(const kernel::SourceMarked& marked) {
  return owning(marked, [](auto& own) { return std::tie(own.source); });
}

Input Input::reopen(const kernel::ReopenInstance& reopen) {
  return owning(reopen, [](auto& own) {
    return std::tie(own.workflow, own.key, own.image, own.reason, own.by);
  });
}

Input Input::migrate(const kernel::MigrateInstances& migrate) {
  return owning(migrate, [](auto& own) { return std::tie(own.instances, own.by); });
}

}  // namespace holdfast::node
