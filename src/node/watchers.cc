// SPDX-License-Identifier: Apache-2.0
#include "node/watchers.h"

#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

bool has_ended(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

}  // namespace

std::uint64_t Watchers::add(std::string_view workflow, base::ByteView key, Question question) {
  Name name(workflow, base::Bytes(key.begin(), key.end()));
  const std::uint64_t number = next_++;
  watchers_.emplace(name, Watcher{number, std::move(question)});
  names_.emplace(number, std::move(name));
  return number;
}

void Watchers::remove(std::uint64_t number) {
  const auto name = names_.find(number);
  if (name == names_.end()) return;
  const auto [begin, end] = watchers_.equal_range(name->second);
  for (auto at = begin; at != end; ++at) {
    if (at->second.number != number) continue;
    watchers_.erase(at);
    break;
  }
  names_.erase(name);
}

std::vector<Question> Watchers::ended_by(base::ByteView record) {
  std::vector<Question> questions;
  const auto view = kernel::read_record(record);
  if (!view) return questions;  // it was written just now; the journal will be read by others
  for (const kernel::InstanceView& instance : view->instances) {
    if (!has_ended(instance.status)) continue;
    const Name name(instance.workflow, base::Bytes(instance.key.begin(), instance.key.end()));
    const auto [begin, end] = watchers_.equal_range(name);
    for (auto at = begin; at != end; ++at) {
      names_.erase(at->second.number);
      questions.push_back(std::move(at->second.question));
    }
    watchers_.erase(begin, end);
  }
  return questions;
}

}  // namespace holdfast::node
