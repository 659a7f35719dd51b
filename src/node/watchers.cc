// SPDX-License-Identifier: Apache-2.0
#include "node/watchers.h"

#include <utility>

#include "node/instance_key.h"

namespace holdfast::node {

bool Watchers::add(std::uint64_t number, const kernel::InstanceName& instance, Question question) {
  if (names_.size() >= kMost) return false;
  std::string name = instance_key(instance.workflow, instance.key);
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

void Watchers::take(const kernel::TouchedName& instance, std::vector<Question>& questions) {
  if (watchers_.empty()) return;
  const auto found = watchers_.find(instance_key(instance.workflow, instance.key));
  if (found == watchers_.end()) return;
  for (auto& [number, question] : found->second) {
    names_.erase(number);
    questions.push_back(std::move(question));
  }
  watchers_.erase(found);
}

}  // namespace holdfast::node
