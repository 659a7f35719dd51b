// SPDX-License-Identifier: Apache-2.0
#include "node/input.h"

#include <cstring>
#include <initializer_list>

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

template <class... Views>
Block own_all(Views&... views) {
  Block block({views.size()...});
  (block.own(views), ...);
  return block;
}

}  // namespace

Input Input::event(const kernel::EventArrived& event) {
  kernel::EventArrived own = event;
  Block block = own_all(own.schema, own.value, own.id, own.workflow, own.key, own.trace);
  return Input(own, block.take(), block.size());
}

Input Input::receipt(const kernel::ReceiptArrived& receipt) {
  kernel::ReceiptArrived own = receipt;
  Block block = own_all(own.payload, own.signature.key, own.signature.bytes);
  return Input(own, block.take(), block.size());
}

Input Input::progress(const kernel::ProgressArrived& progress) {
  kernel::ProgressArrived own = progress;
  Block block = own_all(own.kind, own.payload);
  return Input(own, block.take(), block.size());
}

Input Input::control(const kernel::ControlRequested& request) {
  kernel::ControlRequested own = request;
  Block block = own_all(own.workflow, own.key, own.reason);
  return Input(own, block.take(), block.size());
}

Input Input::apply(const kernel::ApplyManifest& apply) {
  kernel::ApplyManifest own = apply;
  Block block = own_all(own.definitions);
  return Input(own, block.take(), block.size());
}

Input Input::propose(const kernel::Propose& propose) {
  kernel::Propose own = propose;
  Block block = own_all(own.document, own.description);
  return Input(own, block.take(), block.size());
}

Input Input::shadow(const kernel::ReportShadow& report) {
  kernel::ReportShadow own = report;
  Block block = own_all(own.report);
  return Input(own, block.take(), block.size());
}

Input Input::decide(const kernel::Decide& decide) {
  kernel::Decide own = decide;
  Block block = own_all(own.by, own.reason);
  return Input(own, block.take(), block.size());
}

Input Input::forget(const kernel::ForgetEnded& forget) {
  kernel::ForgetEnded own = forget;
  Block block = own_all(own.instances);
  return Input(own, block.take(), block.size());
}

}  // namespace holdfast::node
