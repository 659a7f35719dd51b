// SPDX-License-Identifier: Apache-2.0
// A run of a step workflow that goes on for ever: what one more event costs, at its beginning and
// at its end. The machine alone, without the kernel around it: read the state, reduce, write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "steps/machine.h"

namespace holdfast::steps::testing {

class LongRunContext : public kernel::Context {
 public:
  std::uint64_t now_ns = 1'700'000'000'000'000'000;

  std::uint64_t time_ns() const override { return now_ns; }
  std::uint64_t logical_ns() const override { return now_ns; }
  std::uint64_t record() const override { return 1; }
  base::Hash entropy() const override { return {}; }
  base::Hash manifest_hash() const override { return {}; }
  std::string_view workflow() const override { return "bench/Loop@1"; }
  base::Hash workflow_hash() const override { return {}; }
  base::ByteView key() const override { return key_; }
  bool is_keyed() const override { return true; }
  std::uint64_t mail_waiting() const override { return 0; }
  void write_event(const kernel::Mail&, codec::Buffer&) const override {}
  bool write_context(const kernel::Mail&, codec::Buffer&) const override { return false; }

 private:
  base::Bytes key_ = {0x61, 0x6b};
};

// A step that takes what it returns; beside it some that wait, collect and store.
class LongRun {
 public:
  LongRun() : machine_(graph(), "bench/Loop@1") {
    kernel::Mail start;
    start.schema = "bench/Start@1";
    start.value = {0x01};
    step(start);
  }

  // One event: the step ran, returned, and is asked for again.
  void turn() {
    kernel::Mail mail;
    mail.kind = kernel::MailKind::kReceipt;
    mail.origin.issuer_ref = "r" + std::to_string(++run_);
    codec::Buffer results;
    codec::write_list_head(results, 4);
    results.append(result(3, "default"));
    results.append(result(4, "default"));
    results.append(stored());
    results.append(returned());
    codec::Buffer value;
    codec::write_map_head(value, 1);
    codec::write_text(value, "results");
    codec::write_bytes(value, results.view());
    mail.value = value.to_bytes();
    step(mail);
    CHECK(output_.effects().size() == 1);
  }

  std::size_t state_bytes() const { return state_.size(); }
  // Of all that the last event made it write.
  std::size_t output_bytes() { return output_.bytes().size(); }

 private:
  static Graph graph() {
    return {{{"bench/Start@1", Role::kStart}, {"bench/A@1"}, {"bench/Stop@1", Role::kStop}},
            {{.name = "loop",
              .accepts = {0, 1},
              .join = {},
              .returns = {1, 2},
              .returns_list = {},
              .handles = {}}}};
  }
  static base::Bytes result(std::uint64_t kind, std::string_view text) {
    codec::Buffer out;
    codec::write_list_head(out, kind == 3 ? 4 : 2);
    codec::write_nat(out, kind);
    codec::write_text(out, text);
    if (kind == 3) write_event(out);
    return out.to_bytes();
  }
  static base::Bytes returned() {
    codec::Buffer out;
    codec::write_list_head(out, 3);
    codec::write_nat(out, 0);
    write_event(out);
    return out.to_bytes();
  }
  base::Bytes stored() const {
    codec::Buffer out;
    codec::write_list_head(out, 4);
    codec::write_nat(out, 8);
    codec::write_text(out, "count");
    codec::Buffer number;
    codec::write_nat(number, run_);
    codec::write_bytes(out, number.view());
    codec::write_bool(out, true);
    return out.to_bytes();
  }
  static void write_event(codec::Buffer& out) {
    codec::write_text(out, "bench/A@1");
    codec::Buffer value;
    codec::write_text(value, "an event of some length, as they are");
    codec::write_bytes(out, value.view());
  }

  void step(const kernel::Mail& mail) {
    context_.now_ns += 1'000'000;
    output_.clear();
    machine_.step(
        {state_.empty() ? std::nullopt : std::optional<base::ByteView>(state_), mail, context_},
        output_);
    output_.finish();
    CHECK(output_.fate() == kernel::Fate::kGoesOn && output_.state());
    state_.assign(output_.state()->begin(), output_.state()->end());
  }

  StepsMachine machine_;
  LongRunContext context_;
  kernel::StepOutput output_;
  base::Bytes state_;
  std::uint64_t run_ = 0;
};

}  // namespace holdfast::steps::testing
