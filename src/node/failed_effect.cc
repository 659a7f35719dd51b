// SPDX-License-Identifier: Apache-2.0
#include "node/failed_effect.h"

#include "codec/normaliser.h"
#include "codec/view.h"
#include "steps/entry_codec.h"
#include "steps/results_codec.h"

namespace holdfast::node {
namespace {

std::string_view text_under(codec::View map, std::string_view name) {
  const auto found = map.find(name);
  return found ? found->text().value_or("") : std::string_view();
}
std::uint64_t number_under(codec::View map, std::string_view name) {
  const auto found = map.find(name);
  return found ? found->nat().value_or(0) : 0;
}

// Of an entry `attempt_failed`, also among several.
bool is_named_by(codec::View entry, FailedEffect& failed) {
  if (entry.kind() != codec::ViewKind::kMap) return false;
  const std::string_view kind = text_under(entry, "kind");
  if (kind == steps::kSeveral) {
    const auto several = entry.find("value");
    const auto list = several ? several->bytes() : std::nullopt;
    // Any workflow may use the word.
    codec::Normaliser normaliser;
    const auto parts =
        normaliser.part_from_cbor(codec::Schema::item(), list.value_or(base::ByteView()));
    if (!parts) return false;
    for (const codec::View part : codec::View::of(*parts).elements()) {
      if (text_under(part, "kind") != steps::kSeveral && is_named_by(part, failed)) return true;
    }
    return false;
  }
  if (kind != steps::word_for(steps::EntryKind::kAttemptFailed)) return false;
  failed.step = text_under(entry, "step");
  failed.attempt = number_under(entry, "attempts");
  return true;
}

// The entry that tells of it; or, of one that has to be judged first, the run that is asked.
void name_failed_step(const kernel::InstanceView& instance, FailedEffect& failed) {
  for (const base::ByteView entry : instance.annotations) {
    if (is_named_by(codec::View::of(entry), failed)) return;
  }
  for (const kernel::OpenedView& opened : instance.opened) {
    const codec::View params = codec::View::of(opened.params);
    if (params.kind() != codec::ViewKind::kMap || !params.find("work")) continue;
    failed.step = text_under(params, "step");
    failed.attempt = number_under(params, "failures");
    if (failed.attempt != 0) return;
  }
  failed.step.clear();
}

}  // namespace

std::optional<steps::Failure> failure_of(const kernel::ReceiptArrived& receipt) {
  if (receipt.is_too_large() || receipt.payload.empty()) return std::nullopt;
  const codec::View payload = codec::View::of(receipt.payload);
  const auto text = [&](std::string_view name) {
    const auto found = payload.find(name);
    return found ? found->text().value_or("") : std::string_view();
  };
  if (receipt.status != kernel::ReceiptStatus::kOk)
    return steps::Failure{text("code"), text("message")};
  const auto results = payload.find("results");
  if (payload.size() != 1 || !results || !results->bytes()) return std::nullopt;
  return steps::failure_in(*results->bytes());
}

std::optional<FailedEffect> failed_effect(const kernel::RecordView& record) {
  const auto* receipt = std::get_if<kernel::ReceiptArrived>(&record.tick.input);
  if (receipt == nullptr || record.instances.empty()) return std::nullopt;
  const auto failure = failure_of(*receipt);
  if (!failure) return std::nullopt;
  const kernel::InstanceView& instance = record.instances.front();
  const bool is_body = receipt->status == kernel::ReceiptStatus::kOk;
  FailedEffect failed{.record = record.number,
                      .instance = kernel::instance_name(instance.workflow, instance.key),
                      .workflow = std::string(instance.workflow),
                      .status = is_body ? "failed" : std::string(kernel::name_of(receipt->status)),
                      .code = std::string(failure->code),
                      .message = std::string(failure->message)};
  name_failed_step(instance, failed);
  return failed;
}

std::vector<FailedInstance> failed_instances(const kernel::RecordView& record) {
  std::vector<FailedInstance> failed;
  for (const kernel::InstanceView& instance : record.instances) {
    // One that had failed before has no outcome here.
    if (instance.status != "failed" || instance.outcome.empty()) continue;
    const codec::View error = codec::View::of(instance.outcome);
    const auto text = [&](std::string_view name) {
      const auto found = error.find(name);
      return std::string(found ? found->text().value_or("") : "");
    };
    failed.push_back({record.number, std::string(instance.workflow), kernel::key_name(instance.key),
                      text("code"), text("message")});
  }
  return failed;
}

}  // namespace holdfast::node
