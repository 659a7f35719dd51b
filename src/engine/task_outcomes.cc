// SPDX-License-Identifier: Apache-2.0
#include "engine/task_outcomes.h"

#include <algorithm>
#include <utility>

#include "defs/system_names.h"
#include "tasks/large_result.h"
#include "tasks/messages.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kAtOnce = 256;
constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20;

}  // namespace

void TaskOutcomes::load(std::vector<tasks::TaskRange> tasks, Engine::Then<Done> then) {
  tasks::tidy(tasks);
  ranges_.assign(tasks.rbegin(), tasks.rend());
  then_ = std::move(then);
  load_more();
}

void TaskOutcomes::load_more() {
  asked_.clear();
  std::vector<Engine::RawName> names;
  for (std::size_t i = ranges_.size(); i-- > 0 && names.size() < kAtOnce;) {
    for (tasks::TaskIndex task = ranges_[i].first;
         task < ranges_[i].end() && names.size() < kAtOnce; ++task) {
      asked_.push_back(task);
      names.push_back(
          {std::string(defs::kTaskWorkflow), tasks::key_bytes(tasks::task_key(graph_, task))});
    }
  }
  if (names.empty()) return then_(Done{});
  read_(
      std::move(names),
      [self = shared_from_this()](Result<Engine::RawInstances> found) {
        if (!found) return self->then_(found.error());
        self->take(std::move(*found));
      },
      kBytesAtOnce);
}

void TaskOutcomes::take(Engine::RawInstances found) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string id = tasks::task_key(graph_, asked_[i]);
    if (!found[i]) return then_(found[i].error());
    if (found[i]->status != InstanceStatus::kCompleted)
      return then_(Error{ErrorCode::kUnavailable, "task " + id + " has no result"});
    const auto reference = tasks::reference_of(codec::View::of(found[i]->outcome));
    if (!add_bytes(reference ? reference->bytes : found[i]->outcome.size())) return;
    if (reference) references_.push_back(asked_[i]);
    held_.emplace(asked_[i], Held{std::move(found[i]->outcome), id});
    tasks::TaskRange& range = ranges_.back();
    ++range.first;
    if (--range.count == 0) ranges_.pop_back();
  }
  load_blobs();
}

// False: it is too much, and told.
bool TaskOutcomes::add_bytes(std::size_t bytes) {
  bytes_ += std::min(bytes, kMaxBytes + 1);
  if (bytes_ <= kMaxBytes) return true;
  then_(Error{ErrorCode::kTooLarge, "the results that the task reads have more than " +
                                        std::to_string(kMaxBytes) + " bytes"});
  return false;
}

// One after the other: each may have some MiB.
void TaskOutcomes::load_blobs() {
  if (references_.empty()) return load_more();
  const tasks::TaskIndex task = references_.back();
  references_.pop_back();
  Held& held = held_.find(task)->second;
  const auto reference = tasks::reference_of(codec::View::of(held.result));
  read_blob_({reference->hash.bytes}, [self = shared_from_this(), &held](Result<Bytes> found) {
    if (!found) {
      const bool is_missing = found.error().code == ErrorCode::kNotFound;
      return self->then_(Error{is_missing ? ErrorCode::kCorrupt : found.error().code,
                               "the result of task " + held.id + ": " + found.error().message});
    }
    held.result = std::move(*found);
    self->load_blobs();
  });
}

std::optional<tasks::Outcome> TaskOutcomes::find(tasks::TaskIndex task) const {
  const auto found = held_.find(task);
  if (found == held_.end()) return std::nullopt;
  return tasks::Outcome{codec::View::of(found->second.result), found->second.id};
}

std::vector<tasks::TaskRange> read_by_condition(const tasks::TaskDefinition& task) {
  std::vector<tasks::TaskRange> ranges;
  for (const tasks::Input& input : task.inputs) {
    // An element may read others, and a condition may look at the element.
    if (!task.condition || (input.node != task.condition->node && !task.element)) continue;
    ranges.push_back(input.tasks);
  }
  return ranges;
}

std::vector<tasks::TaskRange> read_by_spec(const tasks::TaskDefinition& task) {
  std::vector<tasks::TaskRange> ranges;
  for (const tasks::Input& input : task.inputs) ranges.push_back(input.tasks);
  return ranges;
}

}  // namespace holdfast::engine
