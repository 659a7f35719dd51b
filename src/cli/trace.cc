// SPDX-License-Identifier: Apache-2.0
#include "cli/trace.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/render.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kPage = 1000;
constexpr std::uint64_t kRecordsLookedBack = 100;
constexpr std::uint64_t kMostRecordsSearched = 1'000'000;

struct Following {
  std::set<std::string> open;       // intents
  std::set<std::string> instances;  // that are part of it

  bool concerns(codec::View record) const {
    const auto tick = record.find("tick");
    if (!tick) return false;
    const std::string kind = text_in(*tick, "kind");
    if (kind == "receipt" || kind == "progress") return open.contains(text_in(*tick, "intent"));
    // What was left over of a tick, or somebody's word about one of them.
    if (kind != "continue" && kind != "control") return false;
    return std::ranges::any_of(list_in(record, "instances"), [&](codec::View instance) {
      return instances.contains(id_in(instance).text());
    });
  }

  void take(codec::View record) {
    for (const codec::View instance : list_in(record, "instances")) {
      instances.insert(id_in(instance).text());
      for (const codec::View opened : list_in(instance, "opened"))
        open.insert(text_in(opened, "intent"));
    }
    for (const codec::View instance : list_in(record, "instances")) {
      for (const codec::View settled : list_in(instance, "settled"))
        open.erase(text_in(settled, "intent"));
    }
  }
};

base::Bytes copy_of(codec::View view) {
  const base::ByteView bytes = view.encoded();
  return {bytes.begin(), bytes.end()};
}

struct Verdict {
  std::string name;
  std::string explanation;
};

// By the last effect that did not come back well: what followed it may be the undoing of the rest.
Verdict verdict_of_failure(codec::View instance, codec::View timeline) {
  const auto error = instance.find("error");
  std::string said = error ? text_in(*error, "code") : "";
  const std::string message = error ? text_in(*error, "message") : "";
  if (!message.empty()) said += ": " + message;
  for (const codec::View record : list_in(timeline, "records")) {
    const auto tick = record.find("tick");
    if (!tick || text_in(*tick, "kind") != "receipt") continue;
    const std::string status = text_in(*tick, "status");
    const std::string number = "record " + std::to_string(number_in(record, "record"));
    if (status == "timeout")
      return {"timeout", number + " says that an effect took too long; " + said};
    if (status == "error") return {"executor error", number + " brought an error; " + said};
  }
  return {"fault", "its own step has failed it; " + said};
}

Verdict verdict_of_waiting(codec::View why) {
  const std::string sentence = text_in(why, "sentence");
  bool receipt = false;
  bool event = false;
  for (const codec::View reason : list_in(why, "reasons")) {
    const std::string kind = text_in(reason, "kind");
    if (kind == "paused") return {"paused", sentence};
    if (kind == "turn") return {"running", sentence};
    receipt = receipt || kind == "receipt";
    event = event || kind == "event";
  }
  if (receipt) return {"waiting for a receipt", sentence};
  if (event) return {"waiting for an event", sentence};
  return {"unknown", sentence};
}

}  // namespace

base::Result<Document> trace(WorldSource& source, std::uint64_t start, std::uint64_t most_records) {
  Following following;
  std::vector<base::Bytes> kept;
  std::uint64_t next = start;
  std::uint64_t looked_at = 0;
  std::uint64_t last = start;
  while (looked_at < most_records && (kept.empty() || !following.open.empty()) && next <= last) {
    const Document part = TRY(source.journal(next, kPage));
    last = number_in(part.view(), "last");
    const std::vector<codec::View> records = list_in(part.view(), "records");
    if (records.empty()) break;
    for (const codec::View record : records) {
      const bool is_first = number_in(record, "record") == start;
      ++looked_at;
      if (!is_first && !following.concerns(record)) continue;
      kept.push_back(copy_of(record));
      following.take(record);
    }
    next = number_in(part.view(), "next");
  }
  if (kept.empty()) {
    return base::Error(base::ErrorCode::kNotFound, "record " + std::to_string(start),
                       "the journal does not have it");
  }
  codec::Buffer out;
  codec::write_map_head(out, 4);
  gateway::put_number(out, "start", start);
  codec::write_text(out, "records");
  codec::write_list_head(out, kept.size());
  for (const base::Bytes& record : kept) out.append(record);
  codec::write_text(out, "open");
  codec::write_list_head(out, following.open.size());
  for (const std::string& intent : following.open) codec::write_text(out, intent);
  gateway::put_flag(out, "complete", following.open.empty() || next > last);
  return Document::ours(out);
}

base::Result<std::uint64_t> first_record_of(WorldSource& source, const InstanceId& id) {
  std::uint64_t from = 0;
  for (;;) {
    const Document part = TRY(source.timeline(id, from, kPage));
    if (flag_in(part.view(), "trimmed")) {
      return base::Error(base::ErrorCode::kNotFound, id.text(),
                         "the journal does not have its first records any more");
    }
    const std::vector<codec::View> records = list_in(part.view(), "records");
    const auto next = part.view().find("next");
    if (next && !next->is_null()) {
      from = next->nat().value_or(0);
      continue;
    }
    if (records.empty())
      return base::Error(base::ErrorCode::kNotFound, id.text(), "it has no records");
    return number_in(records.back(), "record");
  }
}

base::Result<std::uint64_t> record_of_event(WorldSource& source, std::string_view event_id) {
  std::uint64_t from = 0;
  std::uint64_t looked_at = 0;
  std::uint64_t found = 0;
  for (;;) {
    const Document part = TRY(source.journal(from, kPage));
    const std::vector<codec::View> records = list_in(part.view(), "records");
    for (const codec::View record : records) {
      const auto tick = record.find("tick");
      if (tick && text_in(*tick, "kind") == "event" && text_in(*tick, "id") == event_id)
        found = number_in(record, "record");
    }
    looked_at += records.size();
    from = number_in(part.view(), "next");
    if (records.empty() || from > number_in(part.view(), "last")) break;
    if (looked_at > kMostRecordsSearched) {
      return base::Error(base::ErrorCode::kTooLarge, std::string(event_id),
                         "the journal is too long to look through: say the number of the record");
    }
  }
  if (found != 0) return found;
  return base::Error(base::ErrorCode::kNotFound, std::string(event_id),
                     "no event of the journal has this id");
}

base::Result<Document> diagnose(WorldSource& source, const InstanceId& id) {
  const Document instance = TRY(source.instance(id));
  const std::string status = text_in(instance.view(), "status");
  Verdict verdict;
  if (status == "completed") {
    verdict = {"completed", "it has ended with a result"};
  } else if (status == "cancelled") {
    verdict = {"cancelled", "somebody has ended it"};
  } else if (status == "failed") {
    const Document timeline = TRY(source.timeline(id, 0, kRecordsLookedBack));
    verdict = verdict_of_failure(instance.view(), timeline.view());
  } else {
    const Document why = TRY(source.why(id));
    verdict = verdict_of_waiting(why.view());
  }
  codec::Buffer out;
  codec::write_map_head(out, 6);
  gateway::put(out, "workflow", id.workflow);
  gateway::put(out, "key", id.key);
  gateway::put(out, "status", status);
  gateway::put(out, "verdict", verdict.name);
  gateway::put(out, "explanation", verdict.explanation);
  gateway::put_number(out, "record", number_in(instance.view(), "record"));
  return Document::ours(out);
}

}  // namespace holdfast::cli
