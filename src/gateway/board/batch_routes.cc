// SPDX-License-Identifier: Apache-2.0
// /v1/batches.
#include <memory>
#include <utility>

#include "codec/view.h"
#include "gateway/board/batches.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/sift_place.h"

namespace holdfast::gateway {
namespace {

constexpr std::size_t kMostIds = 10'000;
constexpr std::size_t kMostReason = 4096;
constexpr std::size_t kBatchExamples = 10;
constexpr std::size_t kCountedAtOnce = 1000;
constexpr std::uint64_t kMostCounted = 20'000;  // where only a look at each tells

std::string_view name_of(Control action) noexcept {
  switch (action) {
    case Control::kCancel: return "cancel";
    case Control::kPause: return "pause";
    case Control::kResume: break;
  }
  return "resume";
}

std::string_view name_of(Batch::Status status) noexcept {
  switch (status) {
    case Batch::Status::kRunning: return "running";
    case Batch::Status::kFinished: return "finished";
    case Batch::Status::kAborted: return "aborted";
    case Batch::Status::kFailed: break;
  }
  return "failed";
}

void put_batch(codec::Buffer& out, const Batch& batch, bool is_dry_run) {
  codec::write_map_head(out, 15);
  put(out, "batch", batch.id);
  put(out, "action", name_of(batch.action));
  put(out, "status", is_dry_run ? "finished" : name_of(batch.status));
  put_flag(out, "dry_run", is_dry_run);
  put(out, "reason", batch.reason);
  put(out, "by", batch.by);
  put_number(out, "begun_ns", batch.begun_ns);
  put_number_or_null(out, "ended_ns", batch.ended_ns);
  put_number(out, "expected", batch.expected);
  put_flag(out, "exact", batch.is_exact);
  put_number(out, "done", batch.done);
  put_number(out, "unchanged", batch.unchanged);
  put_number(out, "failed", batch.failed);
  codec::write_text(out, "examples");
  codec::write_list_head(out, batch.examples.size());
  for (const Engine::RawName& name : batch.examples) {
    codec::write_map_head(out, 2);
    put(out, "workflow", name.workflow);
    put_value(out, "key", name.key);
  }
  codec::write_text(out, "errors");
  codec::write_list_head(out, batch.errors.size());
  for (const Batch::Refused& refused : batch.errors) {
    codec::write_map_head(out, 3);
    put(out, "workflow", refused.name.workflow);
    put_value(out, "key", refused.name.key);
    put(out, "error", refused.error);
  }
}

struct Asked {
  Batch batch;
  bool is_dry_run = false;
  std::shared_ptr<SiftPlace> place;
};

void refuse_member(Exchange& exchange, const std::string& place, const std::string& what) {
  refuse_body(exchange, base::invalid(place, what));
}

// False: it is answered already.
bool take_filter(Exchange& exchange, codec::View value, Batch& batch) {
  if (value.kind() != codec::ViewKind::kMap)
    return refuse_member(exchange, "$.filter", "expected a map"), false;
  batch.has_filter = true;
  for (const auto& [name, member] : value.entries()) {
    const std::string_view field = name.text().value_or("");
    const std::string place = "$.filter." + std::string(field);
    const auto text = member.text();
    if (field == "paused") {
      batch.filter.paused = member.boolean();
      if (!batch.filter.paused)
        return refuse_member(exchange, place, "expected true or false"), false;
    } else if (field == "since") {
      const auto since = member.nat();
      if (!since) return refuse_member(exchange, place, "expected a number from 0"), false;
      batch.filter.since_ns = *since;
    } else if (field == "workflow" || field == "status" || field == "words" || field == "key") {
      if (!text) return refuse_member(exchange, place, "expected a text"), false;
      if (field == "status" && *text != "waiting" && *text != "running")
        return refuse_member(exchange, place, "expected waiting or running"), false;
      (field == "workflow" ? batch.filter.workflow
       : field == "status" ? batch.filter.status
       : field == "key"    ? batch.filter.key
                           : batch.filter.words) = *text;
    } else {
      return refuse_member(exchange, place, "there is no such member"), false;
    }
  }
  // What has ended cannot be controlled.
  if (batch.filter.status.empty()) batch.filter.status = "waiting";
  return true;
}

bool take_ids(Exchange& exchange, codec::View value, Batch& batch) {
  if (value.kind() != codec::ViewKind::kList)
    return refuse_member(exchange, "$.ids", "expected a list"), false;
  if (value.size() > kMostIds)
    return refuse_member(exchange, "$.ids", "at most " + std::to_string(kMostIds)), false;
  std::size_t index = 0;
  for (const codec::View each : value.elements()) {
    const std::string place = "$.ids[" + std::to_string(index++) + "]";
    const auto workflow = each.find("workflow");
    const auto key = each.find("key");
    if (!workflow || !workflow->text() || !key || each.size() != 2)
      return refuse_member(exchange, place, "expected workflow and key"), false;
    const base::ByteView bytes = key->encoded();
    batch.names.push_back({std::string(*workflow->text()),
                           key->is_null() ? Bytes() : Bytes(bytes.begin(), bytes.end())});
  }
  batch.expected = batch.names.size();
  for (const Engine::RawName& name : batch.names) {
    if (batch.examples.size() == kBatchExamples) break;
    batch.examples.push_back(name);
  }
  return true;
}

std::optional<Control> action_in(Exchange& exchange, const Envelope& body) {
  const auto text = body.needed_text("action");
  if (!text) return refuse_body(exchange, text.error()), std::nullopt;
  for (const Control action : {Control::kCancel, Control::kPause, Control::kResume})
    if (name_of(action) == *text) return action;
  refuse_member(exchange, "$.action", "expected cancel, pause or resume");
  return std::nullopt;
}

// A member that may be missing: null then. Nothing: it is answered already.
std::optional<Bytes> any_in(Exchange& exchange, const Envelope& body, std::string_view name) {
  if (!body.find(name)) return Bytes();
  return needed_any(exchange, body, name);
}

std::optional<Asked> read_asked(Exchange& exchange) {
  const auto body = read_body(exchange, {"action", "filter", "ids", "reason", "dry_run"});
  if (!body) return std::nullopt;
  Asked asked;
  const auto action = action_in(exchange, *body);
  if (!action) return std::nullopt;
  asked.batch.action = *action;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return std::nullopt;
  if (reason->size() > kMostReason)
    return refuse_member(exchange, "$.reason", "at most 4096 bytes"), std::nullopt;
  asked.batch.reason = *reason;
  asked.batch.by = exchange.asked_by();
  const auto dry_run = any_in(exchange, *body, "dry_run");
  const auto filter = any_in(exchange, *body, "filter");
  const auto ids = any_in(exchange, *body, "ids");
  if (!dry_run || !filter || !ids) return std::nullopt;
  if (!dry_run->empty()) {
    const auto flag = codec::View::of(*dry_run).boolean();
    if (!flag) return refuse_member(exchange, "$.dry_run", "expected true or false"), std::nullopt;
    asked.is_dry_run = *flag;
  }
  if (filter->empty() == ids->empty())
    return refuse_member(exchange, "$", "expected either filter or ids"), std::nullopt;
  const bool is_taken = ids->empty() ? take_filter(exchange, codec::View::of(*filter), asked.batch)
                                     : take_ids(exchange, codec::View::of(*ids), asked.batch);
  if (!is_taken) return std::nullopt;
  return asked;
}

void finish_asked(Exchange& exchange, Asked& asked) {
  if (asked.place) asked.place->give_back();
  if (asked.is_dry_run) {
    put_batch(exchange.document(), asked.batch, true);
    return exchange.answer(200);
  }
  const auto begun = exchange.service().batches.begin(std::move(asked.batch));
  if (!begun) return exchange.refuse({ProblemCode::kFull, "too many batches are running"});
  put_batch(exchange.document(), *begun, false);
  exchange.answer(202);
}

// The counters know how many have a workflow and a status; all else is counted by looking.
bool is_counted(const ListOptions& filter) {
  return !filter.paused && filter.since_ns == 0 && filter.words.empty() && filter.key.empty();
}

void count_more(Exchange& exchange, const std::shared_ptr<Asked>& asked, std::uint64_t after) {
  ListOptions options = asked->batch.filter;
  const bool is_exact = is_counted(options);
  options.after = after;
  options.counts = is_exact;
  options.limit = is_exact ? kBatchExamples : kCountedAtOnce;
  exchange.service().engine.list_raw(
      std::move(options),
      exchange.later<InstanceList>([asked, is_exact](Exchange& self, Result<InstanceList> list) {
        if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
        Batch& batch = asked->batch;
        for (const ListedInstance& row : list->instances) {
          if (batch.examples.size() == kBatchExamples) break;
          batch.examples.push_back({row.workflow, row.key});
        }
        if (!is_exact) batch.expected += list->instances.size();
        for (const InstanceCount& each : list->counts) {
          const bool fits = batch.filter.workflow.empty() || batch.filter.workflow == each.workflow;
          if (fits && each.status == batch.filter.status) batch.expected += each.count;
        }
        if (is_exact || list->next == 0) return finish_asked(self, *asked);
        if (batch.expected < kMostCounted) return count_more(self, asked, list->next);
        batch.is_exact = false;
        finish_asked(self, *asked);
      }));
}

}  // namespace

void post_batch(Exchange& exchange) {
  auto read = read_asked(exchange);
  if (!read) return;
  const auto asked = std::make_shared<Asked>(std::move(*read));
  if (!asked->batch.has_filter) return finish_asked(exchange, *asked);
  asked->place = SiftPlace::take(exchange);
  if (asked->place) count_more(exchange, asked, 0);
}

void list_batches(Exchange& exchange) {
  const auto& all = exchange.service().batches.all();
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 1);
  codec::write_text(out, "batches");
  codec::write_list_head(out, all.size());
  for (const auto& batch : all) put_batch(out, *batch, false);
  exchange.answer(200);
}

void get_batch(Exchange& exchange) {
  const auto batch = exchange.service().batches.find(exchange.path_value(0));
  if (!batch) return exchange.refuse({ProblemCode::kNotFound, "there is no such batch"});
  put_batch(exchange.document(), *batch, false);
  exchange.answer(200);
}

void abort_batch(Exchange& exchange) {
  if (!read_body(exchange, {})) return;
  Batches& batches = exchange.service().batches;
  const auto batch = batches.find(exchange.path_value(0));
  if (!batch) return exchange.refuse({ProblemCode::kNotFound, "there is no such batch"});
  if (!batches.abort(batch->id))
    return exchange.refuse({ProblemCode::kConflict, "the batch has ended"});
  put_batch(exchange.document(), *batch, false);
  exchange.answer(200);
}

}  // namespace holdfast::gateway
