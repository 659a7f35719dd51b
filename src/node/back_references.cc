// SPDX-License-Identifier: Apache-2.0
#include "node/back_references.h"

#include "base/sha256.h"

namespace holdfast::node {
namespace {

base::Hash name_hash(const kernel::InstanceView& instance) {
  std::string name(instance.workflow);
  name += '\0';
  name += base::as_text(instance.key);
  return base::sha256(base::as_bytes(name));
}

}  // namespace

std::optional<base::Error> BackReferences::follow(const kernel::RecordView& record) {
  std::optional<base::Error> problem;
  for (const kernel::InstanceView& instance : record.instances) {
    const base::Hash name = name_hash(instance);
    const auto known = last_.find(name);
    if (known == last_.end() && last_.size() == kMaxFollowed) {
      ++unfollowed_;
      continue;
    }
    // One that was not seen yet begins here, or was touched before the journal begins.
    const bool is_right = known != last_.end() ? instance.previous == known->second
                                               : instance.previous < first_record_;
    if (!is_right && !problem) {
      const std::string before =
          known != last_.end() ? std::to_string(known->second) : "none in this journal";
      problem = base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(record.number),
                            "names record " + std::to_string(instance.previous) +
                                " as the one before it for " + std::string(instance.workflow) +
                                " " + kernel::key_text(instance.key) + ", but that is " + before);
    }
    last_[name] = instance.status == "deleted" ? 0 : record.number;
  }
  return problem;
}

}  // namespace holdfast::node
