// SPDX-License-Identifier: Apache-2.0
#include "cli/trace.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/progress.h"
#include "cli/render.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"
#include "steps/command.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kTracePage = 1000;
constexpr std::uint64_t kRecordsLookedBack = 100;
constexpr std::uint64_t kMostRecordsLookedBack = 10'000;  // those that only tell progress included
constexpr std::uint64_t kMostRecordsSearched = 1'000'000;
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

struct Following {
  std::string all_of;               // an instance of which everything counts; empty: of none
  std::set<std::string> open;       // intents
  std::set<std::string> instances;  // that are part of it
  std::set<std::string> live;       // those of them that have not ended

  bool concerns(codec::View record) const {
    const auto tick = record.find("tick");
    if (!tick) return false;
    if (settles(record)) return true;
    const std::string kind = text_in(*tick, "kind");
    const std::vector<codec::View> touched = list_in(record, "instances");
    if (!all_of.empty() && std::ranges::any_of(touched, [&](codec::View instance) {
          return id_in(instance).text() == all_of;
        }))
      return true;
    if (kind == "receipt" || kind == "progress") return open.contains(text_in(*tick, "intent"));
    // What was left over of a tick, or somebody's word about one of them.
    if (kind != "continue" && kind != "control") return false;
    return std::ranges::any_of(
        touched, [&](codec::View instance) { return instances.contains(id_in(instance).text()); });
  }

  // Also one that runs an instance, which may end by an event of its own.
  bool settles(codec::View record) const {
    return std::ranges::any_of(list_in(record, "instances"), [&](codec::View instance) {
      return std::ranges::any_of(list_in(instance, "settled"), [&](codec::View settled) {
        return open.contains(text_in(settled, "intent"));
      });
    });
  }

  void take(codec::View record) {
    for (const codec::View instance : list_in(record, "instances")) {
      const std::string id = id_in(instance).text();
      instances.insert(id);
      if (is_over(text_in(instance, "status"))) {
        live.erase(id);
      } else {
        live.insert(id);
      }
      for (const codec::View opened : list_in(instance, "opened"))
        open.insert(text_in(opened, "intent"));
    }
    for (const codec::View instance : list_in(record, "instances")) {
      for (const codec::View settled : list_in(instance, "settled"))
        open.erase(text_in(settled, "intent"));
    }
  }

  // Whoever has not ended may have mail that waits for a turn, or for somebody to resume it.
  bool may_go_on() const noexcept { return !open.empty() || !live.empty(); }
};

base::Bytes copy_of(codec::View view) {
  const base::ByteView bytes = view.encoded();
  return {bytes.begin(), bytes.end()};
}

struct Verdict {
  std::string name;
  std::string explanation;
};

// The last records of an instance, the last first, without those that only tell progress.
class LastRecords {
 public:
  static base::Result<LastRecords> read(WorldSource& source, const InstanceId& id) {
    LastRecords last;
    std::uint64_t read = 0;
    for (std::uint64_t from = 0; read < kMostRecordsLookedBack;) {
      last.parts_.push_back(TRY(source.timeline(id, from, kRecordsLookedBack)));
      const codec::View part = last.parts_.back().view();
      const std::vector<codec::View> records = list_in(part, "records");
      from = number_in(part, "next");
      read += records.size();
      const bool is_last = from == 0 || records.empty();
      bool is_needed = false;
      for (const codec::View record : records) {
        const auto tick = record.find("tick");
        if (!tick || text_in(*tick, "kind") == "progress") continue;
        last.all_.push_back(record);
        is_needed = true;
      }
      if (!is_needed) last.parts_.pop_back();
      if (is_last || last.all_.size() >= kRecordsLookedBack) break;
    }
    return last;
  }

  const std::vector<codec::View>& all() const noexcept { return all_; }

 private:
  std::vector<Document> parts_;
  std::vector<codec::View> all_;  // of the parts
};

// The last effect that did not come back well.
struct Trouble {
  enum class Kind : std::uint8_t { kTimeout, kError, kCancelled, kStep };
  Kind kind = Kind::kStep;
  std::uint64_t record = 0;
  std::string said;  // code and message
};

// A receipt of a judge that an earlier program wrote repeats the failure, so the code decides.
std::optional<Trouble> last_trouble_of(const LastRecords& records) {
  for (const codec::View record : records.all()) {
    const auto tick = record.find("tick");
    const auto failure = tick->find("failure");
    if (!failure) continue;
    const std::string status = text_in(*tick, "status");
    const std::string code = text_in(*failure, "code");
    const std::string message = text_in(*failure, "message");
    const bool is_late = status == "timeout" || code == "effect.timeout";
    const Trouble::Kind kind = is_late                 ? Trouble::Kind::kTimeout
                               : status == "error"     ? Trouble::Kind::kError
                               : status == "cancelled" ? Trouble::Kind::kCancelled
                                                       : Trouble::Kind::kStep;
    return Trouble{kind, number_in(record, "record"),
                   code + (message.empty() ? "" : ": " + message)};
  }
  return std::nullopt;
}

// By the last effect that did not come back well: what followed it may be the undoing of the rest.
Verdict verdict_of_failure(codec::View instance, const std::optional<Trouble>& trouble) {
  const auto error = instance.find("error");
  std::string said = error ? text_in(*error, "code") : "";
  const std::string message = error ? text_in(*error, "message") : "";
  if (!message.empty()) said += ": " + message;
  if (error && text_in(*error, "code") == steps::kRunTimedOut)
    return {"timeout", "the run took longer than its time limit; " + said};
  const std::string number = trouble ? "record " + std::to_string(trouble->record) : "";
  const std::string came = trouble && trouble->said != said ? ": " + trouble->said : "";
  if (trouble && trouble->kind == Trouble::Kind::kTimeout)
    return {"timeout", number + " says that an effect took too long" + came + "; " + said};
  if (trouble && trouble->kind == Trouble::Kind::kError)
    return {"executor error", number + " brought an error" + came + "; " + said};
  return {"fault", "its own step has failed it; " + said};
}

// One sentence about it, in the words that a verdict has. Empty: there was no trouble.
std::string sentence_of(const std::optional<Trouble>& trouble) {
  if (!trouble) return {};
  const char* word = "failed step";
  switch (trouble->kind) {
    case Trouble::Kind::kTimeout: word = "timeout"; break;
    case Trouble::Kind::kError: word = "executor error"; break;
    case Trouble::Kind::kCancelled: word = "cancelled effect"; break;
    case Trouble::Kind::kStep: break;
  }
  return word + (" in record " + std::to_string(trouble->record) + ": " + trouble->said);
}

Verdict verdict_of_waiting(codec::View why) {
  const std::string sentence = text_in(why, "sentence");
  bool receipt = false;
  bool event = false;
  bool retry = false;
  for (const codec::View reason : list_in(why, "reasons")) {
    const std::string kind = text_in(reason, "kind");
    if (kind == "paused") return {"paused", sentence};
    if (kind == "turn") return {"running", sentence};
    if (kind == "room") return {"waiting for room", sentence};
    receipt = receipt || kind == "receipt";
    event = event || kind == "event" || kind == "wait";
    retry = retry || kind == "retry";
  }
  if (receipt) return {"waiting for a receipt", sentence};
  if (event) return {"waiting for an event", sentence};
  if (retry) return {"waiting to try again", sentence};
  return {"unknown", sentence};
}

}  // namespace

base::Result<Document> trace(WorldSource& source, const TraceStart& start,
                             std::uint64_t most_records) {
  Following following;
  following.all_of = start.instance;
  std::vector<base::Bytes> kept;
  std::size_t kept_bytes = 0;
  std::uint64_t next = start.record;
  std::uint64_t looked_at = 0;
  std::uint64_t last = start.record;
  Progress progress("records looked through", 0);
  const auto has_room = [&] { return looked_at < most_records && kept_bytes < kMostKeptBytes; };
  const bool has_start = start.record != 0;
  while (has_start && (kept.empty() || following.may_go_on()) && next <= last && has_room()) {
    const Document part =
        TRY(source.journal(next, std::min<std::uint64_t>(kTracePage, most_records - looked_at)));
    last = number_in(part.view(), "last");
    const std::vector<codec::View> records = list_in(part.view(), "records");
    if (records.empty()) break;
    progress.at(looked_at);
    for (const codec::View record : records) {
      const std::uint64_t number = number_in(record, "record");
      next = number + 1;
      ++looked_at;
      if (number != start.record && !following.concerns(record)) continue;
      kept.push_back(copy_of(record));
      kept_bytes += kept.back().size();
      following.take(record);
      if (kept_bytes >= kMostKeptBytes || !following.may_go_on()) break;
    }
  }
  if (kept.empty() && has_start) {
    return base::Error(base::ErrorCode::kNotFound, "record " + std::to_string(start.record),
                       "the journal does not have it");
  }
  codec::Buffer out;
  codec::write_map_head(out, 6);
  gateway::put_number_or_null(out, "start", start.record);
  codec::write_text(out, "records");
  codec::write_list_head(out, kept.size());
  for (const base::Bytes& record : kept) out.append(record);
  codec::write_text(out, "open");
  codec::write_list_head(out, following.open.size());
  for (const std::string& intent : following.open) codec::write_text(out, intent);
  gateway::put_number_or_null(out, "looked_up_to", has_start ? next - 1 : 0);
  gateway::put_flag(out, "complete", !has_start || !following.may_go_on() || next > last);
  gateway::put_flag(out, "trimmed", start.is_trimmed);
  return Document::ours(out);
}

base::Result<TraceStart> first_record_of(WorldSource& source, const InstanceId& id) {
  TraceStart start{0, id.text()};
  for (std::uint64_t from = 0;;) {
    const Document part = TRY(source.timeline(id, from, kTracePage));
    const std::vector<codec::View> records = list_in(part.view(), "records");
    if (!records.empty()) start.record = number_in(records.back(), "record");
    start.is_trimmed = flag_in(part.view(), "trimmed");
    from = number_in(part.view(), "next");
    if (start.is_trimmed) return start;
    if (from != 0) continue;
    if (start.record != 0) return start;
    return base::Error(base::ErrorCode::kNotFound, id.text(), "it has no records");
  }
}

base::Result<std::string> reason_of_end(WorldSource& source, const InstanceId& id) {
  const LastRecords records = TRY(LastRecords::read(source, id));
  for (const codec::View record : records.all()) {
    const auto tick = record.find("tick");
    if (text_in(*tick, "control") != "cancel") continue;
    const std::string reason = text_in(*tick, "reason");
    const std::string by = text_in(*tick, "by");
    return "cancelled" + (by.empty() ? "" : " by " + by) + (reason.empty() ? "" : ": " + reason);
  }
  return std::string();
}

base::Result<std::uint64_t> record_of_event(WorldSource& source, std::string_view event_id) {
  const Document ends = TRY(source.journal(0, 1));
  const std::uint64_t first = number_in(ends.view(), "first");
  std::uint64_t before = number_in(ends.view(), "last") + 1;  // those from here on were looked at
  std::uint64_t looked_at = 0;
  Progress progress("records looked through", 0);
  while (before > first) {
    progress.at(looked_at);
    const std::uint64_t begin = before - std::min(before - first, kTracePage);
    std::uint64_t found = 0;
    for (std::uint64_t next = begin; next < before;) {
      const Document part = TRY(source.journal(next, before - next));
      const std::vector<codec::View> records = list_in(part.view(), "records");
      if (records.empty()) break;
      for (const codec::View record : records) {
        const auto tick = record.find("tick");
        if (tick && text_in(*tick, "kind") == "event" && text_in(*tick, "id") == event_id)
          found = number_in(record, "record");
      }
      next = number_in(records.back(), "record") + 1;
    }
    if (found != 0) return found;
    looked_at += before - begin;
    before = begin;
    if (looked_at >= kMostRecordsSearched && before > first) {
      return base::Error(base::ErrorCode::kTooLarge, std::string(event_id),
                         "is not in the last " + std::to_string(looked_at) +
                             " records, and more are not looked through: say the number of the "
                             "record");
    }
  }
  return base::Error(base::ErrorCode::kNotFound, std::string(event_id),
                     "no event of the journal has this id");
}

base::Result<std::string> last_trouble(WorldSource& source, const InstanceId& id) {
  return sentence_of(last_trouble_of(TRY(LastRecords::read(source, id))));
}

base::Result<Document> diagnose(WorldSource& source, const InstanceId& id) {
  const Document instance = TRY(source.instance(id));
  const std::string status = text_in(instance.view(), "status");
  const auto last = last_trouble_of(TRY(LastRecords::read(source, id)));
  // Of one that has failed the verdict says it.
  const std::string trouble = status == "failed" ? std::string() : sentence_of(last);
  Verdict verdict;
  if (status == "completed") {
    verdict = {"completed", "it has ended with a result"};
  } else if (status == "cancelled") {
    std::string reason = TRY(reason_of_end(source, id));
    verdict = {"cancelled", reason.empty() ? "cancelled; the records looked at do not say by whom"
                                           : std::move(reason)};
  } else if (status == "failed") {
    verdict = verdict_of_failure(instance.view(), last);
  } else {
    const Document why = TRY(source.why(id));
    verdict = verdict_of_waiting(why.view());
  }
  codec::Buffer out;
  codec::write_map_head(out, trouble.empty() ? 6 : 7);
  gateway::put(out, "workflow", id.workflow);
  gateway::put(out, "key", id.key);
  gateway::put(out, "status", status);
  gateway::put(out, "verdict", verdict.name);
  gateway::put(out, "explanation", verdict.explanation);
  if (!trouble.empty()) gateway::put(out, "trouble", trouble);
  gateway::put_number(out, "record", number_in(instance.view(), "record"));
  return Document::ours(out);
}

}  // namespace holdfast::cli
