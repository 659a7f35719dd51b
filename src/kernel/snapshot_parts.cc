// SPDX-License-Identifier: Apache-2.0
#include "kernel/snapshot_parts.h"

#include <algorithm>

#include "codec/normaliser.h"
#include "kernel/event_ids.h"
#include "kernel/limits.h"
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

// In the order of their names, and never none.
bool read_sources(codec::View view, SnapshotParts& parts) {
  ListReader list(view);
  while (list.good() && !list.at_end()) {
    const std::string_view name = list.text();
    list.require(parts.sources.empty() || parts.sources.back().name < name);
    const std::uint64_t heard_ns = list.nat();
    const std::uint64_t marked = list.nat();
    const codec::View chunks = list.next();
    parts.sources.push_back({name, heard_ns, marked, chunks, list.next()});
  }
  return list.good() && !parts.sources.empty() && parts.sources.size() <= kMostEventSources;
}

bool same(const HashTrie& a, const HashTrie& b) {
  return a.root() == b.root() && a.size() == b.size();
}

bool same(const SnapshotParts::Workflow& a, const SnapshotParts::Workflow& b) {
  return a.name == b.name && same(a.index, b.index) && a.active == b.active;
}

bool same(const SnapshotParts::Source& a, const SnapshotParts::Source& b) {
  return a.name == b.name && a.heard_ns == b.heard_ns && a.marked == b.marked &&
         base::equal(a.chunks.encoded(), b.chunks.encoded()) &&
         base::equal(a.times.encoded(), b.times.encoded());
}

bool same(codec::View a, codec::View b) { return base::equal(a.encoded(), b.encoded()); }

bool same(const std::optional<codec::View>& a, const std::optional<codec::View>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

// Ids of a snapshot of before, or of a world that was restored from one.
bool has_ids_of_before(const SnapshotParts& parts) {
  if (!parts.event_id_times) return !ListReader(parts.event_ids).at_end();
  ListReader list(*parts.event_id_times);
  list.nat();
  return !list.boolean() && list.good();
}

}  // namespace

namespace {

bool same_but_for_ids(const SnapshotParts& a, const SnapshotParts& b) {
  return a.next_record == b.next_record && a.latest_ns == b.latest_ns &&
         a.mail_bytes == b.mail_bytes && a.origin == b.origin && a.definitions == b.definitions &&
         std::equal(a.workflows.begin(), a.workflows.end(), b.workflows.begin(), b.workflows.end(),
                    [](const auto& x, const auto& y) { return same(x, y); }) &&
         std::equal(a.retired.begin(), a.retired.end(), b.retired.begin(), b.retired.end(),
                    [](const auto& x, const auto& y) { return same(x, y); }) &&
         same(a.intents, b.intents) && same(a.settled, b.settled) && same(a.ready, b.ready) &&
         same(a.proposals, b.proposals) && same(a.waiting, b.waiting) &&
         same(a.workers, b.workers) && same(a.cordons, b.cordons) && same(a.numbering, b.numbering);
}

}  // namespace

bool same_but_for_ids_of_before(const SnapshotParts& a, const SnapshotParts& b) {
  if (!has_ids_of_before(a) && !has_ids_of_before(b)) return false;
  return same_but_for_ids(a, b) &&
         std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), b.sources.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}

base::Result<bool> same_but_for_unhandled(const Blobs& blobs, const SnapshotParts& before,
                                          const SnapshotParts& now) {
  if (!same_but_for_ids(before, now) || !same(before.event_id_times, now.event_id_times) ||
      before.sources.size() != now.sources.size())
    return false;
  for (std::size_t i = 0; i < now.sources.size(); ++i) {
    SnapshotParts::Source was = before.sources[i];
    if (!TRY(same_but_for_unhandled(blobs, was.chunks, now.sources[i].chunks))) return false;
    was.chunks = now.sources[i].chunks;
    if (!same(was, now.sources[i])) return false;
  }
  return same_but_for_unhandled(blobs, before.event_ids, now.event_ids);
}

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
  if (!list.at_end()) parts.event_id_times = list.next();
  if (!list.at_end()) parts.waiting = list.next();
  if (!list.at_end()) {
    parts.workers = list.next();
    parts.cordons = list.next();
  }
  if (!list.at_end()) {
    const codec::View numbering = list.next();
    if (!numbering.is_null()) parts.numbering = numbering;
    list.require(parts.numbering.has_value() || !list.at_end());  // it is null only before sources
  }
  if (!list.at_end() && !read_sources(list.next(), parts)) return damaged("sources of events");
  if (!list.done()) return damaged("form");
  return parts;
}

}  // namespace holdfast::kernel
