// SPDX-License-Identifier: Apache-2.0
// A world in its folder, only looked at: what is asked is answered by replaying its records in
// memory, from the nearest snapshot.
#include <algorithm>
#include <utility>

#include "cli/existing_world.h"
#include "cli/progress.h"
#include "cli/world_source.h"
#include "codec/cbor_writer.h"
#include "engine/translate.h"
#include "gateway/definitions.h"
#include "gateway/documents.h"
#include "gateway/wait_reasons.h"
#include "kernel/record_view.h"
#include "native/machines.h"
#include "node/past_world.h"
#include "node/record_document.h"
#include "node/timeline.h"

namespace holdfast::cli {
namespace {

using gateway::put;
using gateway::put_flag;
using gateway::put_number;
using gateway::put_value;

constexpr std::size_t kMostPartBytes = std::size_t{8} << 20;

base::Error inside(const Error& error) {
  // The codes are the same, one by one.
  return {static_cast<base::ErrorCode>(error.code), error.message};
}

struct Row {
  std::string workflow;
  base::Bytes key;
  std::string_view status;
  bool paused = false;
  std::uint64_t record = 0;
  std::uint64_t last_ns = 0;
};

class OfflineSource : public WorldSource {
 public:
  OfflineSource(std::unique_ptr<ExistingWorld> world, std::unique_ptr<store::BlobsLook> blobs,
                store::JournalFiles journal, const std::vector<Module>& modules)
      : folder_(std::move(world)),
        blobs_(std::move(blobs)),
        journal_(std::move(journal)),
        machines_(modules) {}

  base::Result<Document> instances(const ListQuery& query) override {
    if (!query.after.empty())
      return base::invalid("after", "a world in a folder is listed at once: say a larger limit");
    std::vector<Row> rows = TRY(matching(query));
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
      return std::tie(b.record, a.workflow, a.key) < std::tie(a.record, b.workflow, b.key);
    });
    const bool is_cut = rows.size() > query.limit;
    if (is_cut) rows.resize(query.limit);
    codec::Buffer out;
    codec::write_map_head(out, 2);
    codec::write_text(out, "instances");
    codec::write_list_head(out, rows.size());
    for (const Row& row : rows) {
      codec::write_map_head(out, 6);
      put(out, "workflow", row.workflow);
      put_value(out, "key", row.key);
      put(out, "status", row.status);
      put_flag(out, "paused", row.paused);
      put_number(out, "last_record", row.record);
      put_number(out, "last_ns", row.last_ns);
    }
    codec::write_text(out, "next");
    if (is_cut) {
      codec::write_nat(out, rows.size());
    } else {
      codec::write_null(out);
    }
    return Document::ours(out);
  }

  base::Result<Document> instance(const InstanceId& id) override {
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto found = engine::read(world, name);
    if (!found) return inside(found.error());
    codec::Buffer out;
    gateway::put_instance(out, name.workflow, name.key, *found);
    return Document::ours(out);
  }

  base::Result<Document> state(const InstanceId& id, std::uint64_t at) override {
    kernel::World* world = nullptr;
    if (at == 0) {
      world = TRY(present());
    } else {
      past_.reset();
      past_ = TRY(world_at(at));
      world = &past_->world();
    }
    auto name = name_of(*world, id);
    if (!name) return std::move(name).error().within(at == 0 ? "" : "record " + std::to_string(at));
    const auto found = engine::read(*world, *name);
    if (!found) return inside(found.error());
    codec::Buffer out;
    codec::write_map_head(out, 4);
    put_number(out, "at", world->next_record() - 1);
    put_number(out, "record", found->last_record);
    put(out, "status", gateway::name_of(found->status));
    put_value(out, "state", found->state);
    return Document::ours(out);
  }

  base::Result<Document> timeline(const InstanceId& id, std::uint64_t from,
                                  std::uint64_t limit) override {
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const kernel::Cell* cell = TRY(world.find(name.workflow, name.key));
    if (cell == nullptr) return no_such(id);
    node::RecordSource records;
    records.read = [this](store::RecordNumber number) { return node::record_in(journal_, number); };
    records.first = journal_.first();
    const auto walk =
        TRY(node::timeline(records, name.workflow, name.key, from == 0 ? cell->last_record : from,
                           {.records = limit, .bytes = kMostPartBytes}));
    codec::Buffer out;
    codec::write_map_head(out, 3);
    codec::write_text(out, "records");
    codec::write_list_head(out, walk.entries.size());
    for (const node::TimelineEntry& entry : walk.entries) node::write_document(out, entry.view);
    codec::write_text(out, "next");
    if (walk.end == node::TimelineEnd::kBegun) {
      codec::write_null(out);
    } else {
      codec::write_nat(out, walk.next);
    }
    put_flag(out, "trimmed", walk.end == node::TimelineEnd::kTrimmed);
    return Document::ours(out);
  }

  base::Result<Document> why(const InstanceId& id) override {
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto reasons = engine::reasons_of(world, name);
    if (!reasons) return inside(reasons.error());
    codec::Buffer out;
    gateway::put_why(out, *reasons);
    return Document::ours(out);
  }

  base::Result<Document> journal(std::uint64_t from, std::uint64_t limit) override {
    const auto reader = TRY(journal_.read(from == 0 ? journal_.first() : from));
    std::vector<base::Bytes> documents;
    std::size_t bytes = 0;
    while (documents.size() < limit && bytes < kMostPartBytes) {
      const auto record = TRY(reader->next());
      if (!record) break;
      codec::Buffer document;
      node::write_document(document, TRY(kernel::read_record(record->bytes)));
      bytes += document.size();
      documents.push_back(document.to_bytes());
    }
    codec::Buffer out;
    codec::write_map_head(out, 4);
    codec::write_text(out, "records");
    codec::write_list_head(out, documents.size());
    for (const base::Bytes& document : documents) out.append(document);
    put_number(out, "next", reader->cursor());
    put_number(out, "first", journal_.first());
    put_number(out, "last", journal_.last());
    return Document::ours(out);
  }

  base::Result<Document> manifest() override {
    kernel::World& world = *TRY(present());
    const base::Bytes& closure = world.program().closure();
    codec::Buffer out;
    codec::write_map_head(out, 1);
    codec::write_text(out, "definitions");
    if (closure.empty()) {
      codec::write_list_head(out, 0);
    } else {
      out.append(codec::View::of(closure).encoded());
    }
    return Document::ours(out);
  }

  base::Result<Document> proposals() override {
    kernel::World& world = *TRY(present());
    const std::vector<kernel::ProposalView> all = world.proposals();
    codec::Buffer out;
    codec::write_map_head(out, 1);
    codec::write_text(out, "proposals");
    codec::write_list_head(out, all.size());
    for (const kernel::ProposalView& proposal : all) {
      codec::write_map_head(out, 8);
      put_number(out, "proposal", proposal.id);
      put(out, "base", proposal.base.to_text());
      put(out, "stage", proposal.stage);
      put(out, "manifest", proposal.manifest.to_text());
      put(out, "description", proposal.description);
      put(out, "by", proposal.by);
      put(out, "reason", proposal.reason);
      codec::write_text(out, "report");
      if (proposal.report.empty()) {
        codec::write_null(out);
      } else {
        out.append(codec::View::of(proposal.report).encoded());
      }
    }
    return Document::ours(out);
  }

  base::Result<std::vector<InstanceId>> beginning_with(std::string_view prefix,
                                                       std::size_t most) override {
    kernel::World& world = *TRY(present());
    std::vector<InstanceId> found;
    TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
      InstanceId id{std::string(workflow), word_of(cell.key)};
      if (id.text().starts_with(prefix)) found.push_back(std::move(id));
      return found.size() < most;
    }));
    std::ranges::sort(found, {}, &InstanceId::text);
    return found;
  }

 private:
  static std::string word_of(const base::Bytes& key) {
    return key.empty() ? "-" : key_word(codec::View::of(key));
  }

  static base::Error no_such(const InstanceId& id) {
    return {base::ErrorCode::kNotFound, "there is no " + id.text()};
  }

  base::Result<std::unique_ptr<node::PastWorld>> world_at(std::uint64_t record) {
    Progress progress("replaying", journal_.last());
    return node::PastWorld::at(journal_, blobs_.get(), machines_, record,
                               [&](store::RecordNumber at) { progress.at(at); });
  }

  base::Result<kernel::World*> present() {
    if (!present_) present_ = TRY(world_at(journal_.last()));
    return &present_->world();
  }

  base::Result<std::vector<Row>> matching(const ListQuery& query) {
    kernel::World& world = *TRY(present());
    std::vector<Row> rows;
    TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
      const std::string_view status = kernel::name_of(cell.status());
      if (!query.workflow.empty() && workflow != query.workflow) return true;
      if (!query.status.empty() && status != query.status) return true;
      if (cell.last_active_ns < query.since_ns) return true;
      rows.push_back({std::string(workflow), cell.key, status, cell.paused, cell.last_record,
                      cell.last_active_ns});
      return true;
    }));
    return rows;
  }

  // The canonical name. A workflow that the manifest does not have any more has no schema for its
  // key: then the instance whose key reads so is looked for.
  base::Result<kernel::InstanceName> name_of(kernel::World& world, const InstanceId& id) {
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    if (definitions.workflow(id.workflow) != nullptr) {
      kernel::InstanceName name;
      name.workflow = id.workflow;
      name.key = TRY(definitions.key_of(id.workflow, id.key));
      if (TRY(world.find(name.workflow, name.key)) == nullptr) return no_such(id);
      return name;
    }
    std::optional<kernel::InstanceName> found;
    TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
      if (workflow == id.workflow && word_of(cell.key) == id.key)
        found = kernel::InstanceName{id.workflow, cell.key};
      return !found;
    }));
    if (!found) return no_such(id);
    return std::move(*found);
  }

  std::unique_ptr<ExistingWorld> folder_;
  std::unique_ptr<store::BlobsLook> blobs_;  // null: there are none
  store::JournalFiles journal_;
  native::Machines machines_;
  std::unique_ptr<node::PastWorld> present_;
  std::unique_ptr<node::PastWorld> past_;
};

}  // namespace

base::Result<std::unique_ptr<WorldSource>> offline_source(const std::string& world,
                                                          const std::vector<Module>& modules) {
  auto folder = TRY(ExistingWorld::open(world));
  auto blobs = TRY(store::BlobsLook::open(store::WorldPlace::of(folder->folder())));
  auto journal = TRY(store::JournalFiles::open(folder->folder()));
  return std::unique_ptr<WorldSource>(std::make_unique<OfflineSource>(
      std::move(folder), std::move(blobs), std::move(journal), modules));
}

}  // namespace holdfast::cli
