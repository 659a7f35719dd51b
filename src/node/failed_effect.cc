// SPDX-License-Identifier: Apache-2.0
#include "node/failed_effect.h"

#include "codec/view.h"
#include "steps/results_codec.h"

namespace holdfast::node {

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
  return FailedEffect{.record = record.number,
                      .instance = kernel::instance_name(instance.workflow, instance.key),
                      .workflow = std::string(instance.workflow),
                      .status = is_body ? "failed" : std::string(kernel::name_of(receipt->status)),
                      .code = std::string(failure->code),
                      .message = std::string(failure->message)};
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
