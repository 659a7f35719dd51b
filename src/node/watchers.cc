// SPDX-License-Identifier: Apache-2.0
#include "node/watchers.h"

#include <utility>

#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

bool has_ended(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled" ||
         status == "deleted";
}

std::string name_of(std::string_view workflow, base::ByteView key) {
  std::string name(workflow);
  name += '\0';  // no name of a workflow has one
  name += base::as_text(key);
  return name;
}

}  // namespace

bool Watchers::add(std::uint64_t number, const kernel::InstanceName& instance, Question question) {
  if (names_.size() >= kMost) return false;
  std::string name = name_of(instance.workflow, instance.key);
  watchers_[name].emplace(number, std::move(question));
  names_.emplace(number, std::move(name));
  return true;
}

void Watchers::remove(std::uint64_t number) {
  const auto name = names_.find(number);
  if (name == names_.end()) return;
  const auto found = watchers_.find(name->second);
  found->second.erase(number);
  if (found->second.empty()) watchers_.erase(found);
  names_.erase(name);
}

std::vector<Question> Watchers::ended_by(base::ByteView record) {
  std::vector<Question> questions;
  const auto view = kernel::read_record(record);
  if (!view) return questions;  // it was written just now; the journal will be read by others
  for (const kernel::InstanceView& instance : view->instances) {
    if (!has_ended(instance.status)) continue;
    const auto found = watchers_.find(name_of(instance.workflow, instance.key));
    if (found == watchers_.end()) continue;
    for (auto& [number, question] : found->second) {
      names_.erase(number);
      questions.push_back(std::move(question));
    }
    watchers_.erase(found);
  }
  return questions;
}

}  // namespace holdfast::node
