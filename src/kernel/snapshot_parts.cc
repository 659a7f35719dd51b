// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot_parts.h"

#include <algorithm>

#include "codec/normaliser.h"
#include "kernel/list_reader.h"
#include "kernel/version.h"

namespace holdfast::kernel {
namespace {

base::Error damaged(std::string_view what) {
  return {base::ErrorCode::kCorrupt, "the snapshot's " + std::string(what) + " cannot be used"};
}

HashTrie read_trie(ListReader& list) {
  const base::Hash root = list.hash();
  return HashTrie(root, list.nat());
}

bool read_workflows(codec::View view, bool have_active,
                    std::vector<SnapshotParts::Workflow>& into) {
  ListReader list(view);
  while (list.good() && !list.at_end()) {
    SnapshotParts::Workflow workflow{list.text(), read_trie(list)};
    if (have_active) workflow.active = list.nat();
    into.push_back(workflow);
  }
  return list.good();
}

}  // namespace

base::Result<SnapshotParts> read_snapshot(base::ByteView bytes) {
  codec::Normaliser normaliser;
  if (!normaliser.from_cbor(codec::Schema::item(), bytes, codec::Strictness::kStrict))
    return damaged("bytes");
  SnapshotParts parts(bytes);
  ListReader list(codec::View::of(bytes));
  const std::uint64_t version = list.nat();
  if (!list.good()) return damaged("version");
  if (version != kSnapshotVersion) return other_version("a snapshot", version, kSnapshotVersion);
  parts.next_record = list.nat();
  parts.latest_ns = list.nat();
  parts.mail_bytes = list.nat();
  const base::ByteView origin = list.bytes();
  if (origin.size() != parts.origin.size()) return damaged("origin");
  std::copy(origin.begin(), origin.end(), parts.origin.begin());
  parts.definitions = list.hash();
  if (!read_workflows(list.next(), true, parts.workflows) ||
      !read_workflows(list.next(), false, parts.retired))
    return damaged("list of workflows");
  parts.intents = read_trie(list);
  parts.event_ids = list.next();
  parts.settled = list.next();
  parts.ready = list.next();
  parts.proposals = list.next();
  if (!list.done()) return damaged("form");
  return parts;
}

}  // namespace holdfast::kernel
