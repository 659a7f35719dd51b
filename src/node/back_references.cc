// SPDX-License-Identifier: Apache-2.0
#include "node/back_references.h"

#include <map>

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
  std::map<base::Hash, std::uint64_t> ended;  // lives that end here, and the record before
  for (const kernel::InstanceView& instance : record.instances) {
    const base::Hash name = name_hash(instance);
    const auto known = last_.find(name);
    if (known == last_.end() && last_.size() == kMaxFollowed) {
      ++unfollowed_;
      continue;
    }
    std::optional<std::uint64_t> expected;
    if (const auto here = ended.find(name); here != ended.end()) {
      expected = here->second;
    } else if (known != last_.end()) {
      expected = known->second;
    }
    // One that was not seen yet begins here, or was touched before the journal begins.
    const bool is_right =
        expected ? instance.previous == *expected : instance.previous < first_record_;
    if (!is_right && !problem) {
      const std::string before = expected ? std::to_string(*expected) : "none in this journal";
      problem = base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(record.number),
                            "names record " + std::to_string(instance.previous) +
                                " as the one before it for " + std::string(instance.workflow) +
                                " " + kernel::key_text(instance.key) + ", but that is " + before);
    }
    const bool is_deleted = instance.status == "deleted";
    if (is_deleted) ended[name] = instance.previous;
    last_[name] = is_deleted ? 0 : record.number;
  }
  return problem;
}

}  // namespace holdfast::node
