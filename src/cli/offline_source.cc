// SPDX-License-Identifier: Apache-2.0
// A world in its folder, only looked at: what is asked is answered by replaying its records in
// memory, from the nearest snapshot.
#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "cli/existing_world.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/world_source.h"
#include "codec/cbor_writer.h"
#include "engine/past_moment.h"
#include "engine/translate.h"
#include "errors/translate.h"
#include "gateway/definitions.h"
#include "gateway/documents.h"
#include "gateway/field_match.h"
#include "gateway/past_state.h"
#include "gateway/step_documents.h"
#include "gateway/timeline_states.h"
#include "gateway/wait_reasons.h"
#include "kernel/record_view.h"
#include "native/machines.h"
#include "node/list_order.h"
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

bool begins_with(base::ByteView key, std::string_view prefix) {
  const auto text = key.empty() ? std::nullopt : codec::View::of(key).text();
  return text && text->starts_with(prefix);
}

struct ListedRow {
  std::string workflow;
  base::Bytes key;
  std::string_view status;
  bool paused = false;
  std::uint64_t record = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t place = 0;
};

// Nothing: from the beginning.
base::Result<std::optional<std::uint64_t>> place_in(const std::string& after) {
  if (after.empty()) return std::optional<std::uint64_t>();
  std::uint64_t place = 0;
  const char* const end = after.data() + after.size();
  const auto read = std::from_chars(after.data(), end, place);
  if (read.ec != std::errc() || read.ptr != end)
    return base::invalid("after", "'" + after + "' is no place in a list");
  return std::optional(place);
}

// In the order in which a server's answer has its members. One that is larger than what others may
// send stays in ours.
Document in_order(const codec::Buffer& out) {
  auto made = Document::of_cbor(out.view());
  return made ? std::move(*made) : Document::ours(out);
}

class OfflineSource : public WorldSource {
 public:
  OfflineSource(std::unique_ptr<ExistingWorld> world, std::unique_ptr<store::BlobsLook> blobs,
                store::JournalFiles journal, const std::vector<Module>& modules)
      : folder_(std::move(world)),
        blobs_(std::move(blobs)),
        journal_(std::move(journal)),
        machines_(modules) {}

  base::Result<Document> instances(const ListQuery& query) override {
    std::vector<ListedRow> rows = TRY(matching(query));
    std::ranges::sort(rows, std::greater(), &ListedRow::place);
    const bool is_cut = rows.size() > query.limit;
    if (is_cut) rows.resize(query.limit);
    codec::Buffer out;
    codec::write_map_head(out, 2);
    codec::write_text(out, "instances");
    codec::write_list_head(out, rows.size());
    for (const ListedRow& row : rows) {
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
      codec::write_nat(out, rows.back().place);
    } else {
      codec::write_null(out);
    }
    return Document::ours(out);
  }

  base::Result<Document> instance(const InstanceId& id) override {
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto found = engine::read(world, name);
    if (!found) return errors::inside(found.error());
    codec::Buffer out;
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    gateway::put_instance(out, name.workflow, name.key, *found,
                          definitions.graph_of(name.workflow));
    return in_order(out);
  }

  base::Result<Document> state(const InstanceId& id, std::uint64_t at) override {
    if (at != 0) return past_state(id, at);
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto found = engine::read(world, name);
    if (!found) return errors::inside(found.error());
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    codec::Buffer out;
    gateway::put_state_of(out, *found, 0, definitions.graph_of(id.workflow));
    return in_order(out);
  }

  base::Result<Document> timeline(const InstanceId& id, std::uint64_t from,
                                  std::uint64_t limit) override {
    const kernel::InstanceName name = TRY(name_of(*TRY(present()), id));
    const TimelinePart part = TRY(walked(name, from, limit));
    return timeline_document(part, part.records);
  }

  base::Result<Document> timeline_with_states(const InstanceId& id, std::uint64_t from,
                                              std::uint64_t limit) override {
    const kernel::InstanceName name = TRY(name_of(*TRY(present()), id));
    const TimelinePart part = TRY(walked(name, from, limit));
    gateway::TimelineStates states(name.workflow, name.key);
    const auto source = TRY(node::PastSource::of(journal_, blobs_.get()));
    const auto earliest = source.first_moment();
    std::unique_ptr<node::PastWorld> past;
    for (const std::uint64_t record : states.wanted(part.records)) {
      if (!earliest || record < *earliest) continue;  // nothing leads there any more
      if (past) {
        TRY(past->go_on(journal_, record));
      } else {
        past = TRY(world_at(record));
      }
      engine::WorldMoment moment(past->world(), record);
      if (const auto looked = states.look(moment); !looked) return errors::inside(looked.error());
    }
    return timeline_document(part, states.filled(part.records));
  }

  base::Result<Document> why(const InstanceId& id) override {
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto reasons = engine::reasons_of(world, name);
    if (!reasons) return errors::inside(reasons.error());
    const auto instance = engine::read(world, name);
    if (!instance) return errors::inside(instance.error());
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    std::vector<steps::Reason> waits;
    if (const steps::Graph* graph = definitions.graph_of(name.workflow))
      waits = steps::reasons_of(*graph, instance->state, gateway::kMostStepReasons);
    codec::Buffer out;
    const auto version = engine::kept_version_of(world, name);
    if (!version) return errors::inside(version.error());
    gateway::put_why(out, *instance, *reasons, waits, nullptr, *version);
    return in_order(out);
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

  base::Result<Document> workflows() override {
    kernel::World& world = *TRY(present());
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    codec::Buffer out;
    gateway::put_workflows(out, definitions);
    return Document::ours(out);
  }

  base::Result<Document> graph(const GraphOf& of) override {
    codec::Buffer out;
    if (of.key) {
      gateway::put_run(out, TRY(run_of({of.workflow, *of.key})));
    } else {
      gateway::put_graph(out, of.workflow, TRY(graph_of(of.workflow)));
    }
    return Document::ours(out);
  }

  base::Result<std::string> picture(const GraphOf& of, const std::string& format) override {
    const auto known = steps::drawing_format(format);
    if (!known) return base::invalid(format, "there is no such format");
    if (of.key) return gateway::draw_run(TRY(run_of({of.workflow, *of.key})), *known);
    return gateway::draw_graph(of.workflow, TRY(graph_of(of.workflow)), *known);
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

  base::Result<TimelinePart> walked(const kernel::InstanceName& name, std::uint64_t from,
                                    std::uint64_t limit) {
    const kernel::Cell* cell = TRY(TRY(present())->find(name.workflow, name.key));
    if (cell == nullptr) return no_such({name.workflow, word_of(name.key)});
    const auto walk =
        TRY(node::timeline(records(), name.workflow, name.key, from == 0 ? cell->last_record : from,
                           {.records = limit, .bytes = kMostPartBytes}));
    TimelinePart part;
    for (const node::TimelineEntry& entry : walk.entries) {
      codec::Buffer document;
      node::write_document(document, entry.view);
      part.records.push_back(document.to_bytes());
    }
    part.next = walk.end == node::TimelineEnd::kBegun ? 0 : walk.next;
    part.is_trimmed = walk.end == node::TimelineEnd::kTrimmed;
    return part;
  }

  static Document timeline_document(const TimelinePart& part, const std::vector<Bytes>& records) {
    codec::Buffer out;
    codec::write_map_head(out, 3);
    gateway::put_records(out, records);
    gateway::put_number_or_null(out, "next", part.next);
    put_flag(out, "trimmed", part.is_trimmed);
    return in_order(out);
  }

  // As a server has it: with the definitions of that moment.
  base::Result<Document> past_state(const InstanceId& id, std::uint64_t at) {
    const auto past = TRY(world_at(at));
    engine::WorldMoment moment(past->world(), at);
    gateway::PastReader reader(id.workflow, id.key);
    const auto found = reader.read(moment);
    if (!found) return errors::inside(found.error());
    codec::Buffer out;
    gateway::put_state_of(out, found->instance, at, found->graph);
    return in_order(out);
  }

  static base::Error no_such(const InstanceId& id) {
    return {base::ErrorCode::kNotFound, "there is no " + id.text()};
  }

  base::Result<steps::Graph> graph_of(const std::string& workflow) {
    auto definitions = TRY(gateway::Definitions::load(TRY(present())->program().closure()));
    return steps::Graph(*TRY(gateway::find_graph(definitions, workflow)));
  }

  base::Result<gateway::RunOfSteps> run_of(const InstanceId& id) {
    steps::Graph graph = TRY(graph_of(id.workflow));
    kernel::World& world = *TRY(present());
    const kernel::InstanceName name = TRY(name_of(world, id));
    const auto instance = engine::read(world, name);
    if (!instance) return errors::inside(instance.error());
    gateway::RunRecords documents;
    for (store::RecordNumber from = instance->last_record; from != 0;) {
      const auto walk =
          TRY(node::timeline(records(), name.workflow, name.key, from, {.records = 1000}));
      for (const node::TimelineEntry& entry : walk.entries) {
        codec::Buffer document;
        node::write_document(document, entry.view);
        documents.add(document.to_bytes());
      }
      const bool has_more = walk.end == node::TimelineEnd::kMore && !walk.entries.empty();
      from = has_more && !documents.is_full() ? walk.next : 0;
    }
    steps::Execution execution = documents.execution(graph, name.workflow, name.key, *instance);
    return gateway::RunOfSteps{name.workflow, name.key, std::move(graph), std::move(execution)};
  }

  node::RecordSource records() {
    node::RecordSource source;
    source.read = [this](store::RecordNumber number) { return node::record_in(journal_, number); };
    source.first = journal_.first();
    return source;
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

  base::Result<std::vector<ListedRow>> matching(const ListQuery& query) {
    kernel::World& world = *TRY(present());
    const auto after = TRY(place_in(query.after));
    const node::ListOrder order = TRY(order_of_lists());
    std::vector<ListedRow> rows;
    std::optional<gateway::FieldMatch> match;
    if (!query.where.empty()) match = TRY(gateway::FieldMatch::parse(query.where));
    // Those that nobody knows the place of come last, so theirs are the lowest.
    std::uint64_t unknown = 0;
    std::vector<ListedRow> known;
    TRY(world.visit_instances([&](std::string_view workflow, const kernel::Cell& cell) {
      const auto place = order.place_of(workflow, cell.key);
      if (!place) ++unknown;
      const std::string_view status = kernel::name_of(cell.status());
      if (!query.workflow.empty() && workflow != query.workflow) return true;
      if (!query.status.empty() && status != query.status) return true;
      if (cell.last_active_ns < query.since_ns) return true;
      if (!query.key.empty() && !begins_with(cell.key, query.key)) return true;
      (place ? known : rows)
          .push_back({std::string(workflow), cell.key, status, cell.paused, cell.last_record,
                      cell.last_active_ns, place.value_or(unknown)});
      return true;
    }));
    for (ListedRow& row : known) {
      row.place += unknown;
      rows.push_back(std::move(row));
    }
    if (after) std::erase_if(rows, [&](const ListedRow& row) { return row.place >= *after; });
    if (match) TRY(keep_matching(world, *match, rows));
    return rows;
  }

  base::Result<node::ListOrder> order_of_lists() {
    Progress progress("reading", journal_.last());
    auto order = TRY(node::ListOrder::read(journal_, store::WorldPlace::of(folder_->folder()),
                                           [&](store::RecordNumber at) { progress.at(at); }));
    if (!order.passed_over().empty())
      remark("the order is that of the records, as the index of instances cannot be used: " +
             order.passed_over());
    return order;
  }

  // Their values may be in blobs, which are not read while all instances are visited.
  static base::Result<void> keep_matching(kernel::World& world, const gateway::FieldMatch& match,
                                          std::vector<ListedRow>& rows) {
    auto definitions = TRY(gateway::Definitions::load(world.program().closure()));
    std::vector<ListedRow> kept;
    for (ListedRow& row : rows) {
      const auto found = engine::read(world, {row.workflow, row.key});
      if (!found) return errors::inside(found.error());
      codec::Buffer document;
      gateway::put_instance(document, row.workflow, row.key, *found,
                            definitions.graph_of(row.workflow));
      if (match.holds(codec::View::of(document.view()))) kept.push_back(std::move(row));
    }
    rows = std::move(kept);
    return {};
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
