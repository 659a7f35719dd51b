// SPDX-License-Identifier: Apache-2.0
#include "workers/delivery.h"

#include <utility>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "tasks/render.h"
#include "tasks/task_codec.h"
#include "workers/payloads.h"
#include "workers/task_of.h"

namespace holdfast::workers {
namespace {

// For tasks that read no results.
class NoOutcomes : public tasks::Outcomes {
 public:
  std::optional<tasks::Outcome> find(tasks::TaskIndex) const override { return std::nullopt; }
};

Error error_of(const base::Error& error) {
  const bool is_large = error.code() == base::ErrorCode::kTooLarge;
  return {is_large ? ErrorCode::kTooLarge : ErrorCode::kNotFound, error.to_string()};
}

// As the answer has it. A small one is not worth being counted: no value takes more than 16 bytes
// of JSON for one of its own.
std::size_t bytes_as_json(const Bytes& input) {
  constexpr std::size_t kSmall = 1024;
  if (input.size() <= kSmall) return 16 * input.size();
  return codec::JsonPieces(codec::View::of(input)).size();
}

// Such an input is tried again with the next answer. With any other error the task would never end.
bool may_pass(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kIo ||
         code == ErrorCode::kTimedOut || code == ErrorCode::kEnded;
}

}  // namespace

void Delivery::begin() {
  std::vector<Hash> intents;
  for (const dispatch::Dispatch& each : dispatches_) intents.push_back({each.intent.bytes});
  engine_->work(
      std::move(intents),
      [self = shared_from_this()](Result<std::vector<Result<WorkInfo>>> found) {
        if (found) {
          self->found_ = std::move(*found);
        } else {
          self->is_complete_ = false;
        }
        self->go_on();
      },
      kMaxInputsBytes);
}

// In a loop as long as nothing has to be waited for, so that many tasks need no deep stack.
void Delivery::go_on() {
  while (next_ < found_.size() && !is_full_) {
    const std::size_t index = next_++;
    const Result<WorkInfo>& info = found_[index];
    const dispatch::Dispatch& wanted = dispatches_[index];
    // It may have ended, or be somebody else's, since it was chosen for this answer.
    if (!info || !info->lease || info->lease->worker != worker_ ||
        info->lease->dispatch != wanted.number)
      continue;
    const auto params = read_params(info->params);
    if (!params) continue;
    WorkItem item;
    item.d = wanted.to_text();
    item.intent = info->intent;
    item.type = params->type;
    item.graph = params->graph;
    item.task = params->number;
    item.name = params->name;
    item.attempt = params->attempt + info->losses;
    item.timeout_ms = (params->timeout_ns + 999'999) / 1'000'000;
    item.devices = devices_of(info->lease->detail);
    item.resume = info->resume;
    item.trace = info->trace;
    const auto definition = tasks::read_task(codec::View::of(params->definition));
    if (definition) {
      item.queue = queue_of(definition->resources);
      item.recipe = definition->resources.recipe;
      item.is_preemptible = definition->policy.preemptible;
    }
    if (!definition) {
      fail(item, error_of(definition.error()));
    } else if (definition->inputs.empty()) {
      const auto input = tasks::render(*definition, NoOutcomes());
      rendered(std::move(item), input ? Result<Bytes>(*input) : error_of(input.error()));
    } else if (render_) {
      const std::string graph = params->graph;
      const Bytes bytes(params->definition.begin(), params->definition.end());
      return render_(
          graph, bytes,
          [self = shared_from_this(), item = std::move(item)](const Result<Bytes>& input) {
            self->rendered(item, input);
            self->go_on();
          });
    } else {
      is_complete_ = false;
    }
  }
  then_(std::move(work_), is_complete_);
}

void Delivery::rendered(WorkItem item, const Result<Bytes>& input) {
  const std::size_t bytes = input ? bytes_as_json(*input) : 0;
  if (bytes > kMaxInputsBytes) {
    fail(item, {ErrorCode::kTooLarge, "with its references resolved the spec has " +
                                          std::to_string(bytes) + " bytes as JSON; at most " +
                                          std::to_string(kMaxInputsBytes) + " are allowed"});
  } else if (bytes_ + bytes > kMaxInputsBytes) {
    is_full_ = true;  // it is first in the next answer
  } else if (input) {
    item.input = *input;
    bytes_ += bytes;
    work_.push_back(std::move(item));
  } else if (!may_pass(input.error().code)) {
    fail(item, input.error());
  } else {
    is_complete_ = false;
  }
}

// No worker could do better, so nobody tries again.
void Delivery::fail(const WorkItem& item, const Error& error) const {
  const auto dispatch = dispatch::Dispatch::parse(item.d);
  const TaskFailure failure{.code = "task.bad_reference",
                            .message = error.message.substr(0, kMaxErrorMessageBytes),
                            .is_retryable = false};
  engine_->settle_work(worker_,
                       {{.intent = item.intent,
                         .dispatch = dispatch->number,
                         .status = Status::kError,
                         .payload = receipt_of_failure(failure)}},
                       [](const Result<WorkAnswers>&) {});
}

}  // namespace holdfast::workers
