// SPDX-License-Identifier: Apache-2.0
#include "cli/recorded_stream.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cli/render.h"
#include "codec/json_writer.h"
#include "defs/system_names.h"
#include "node/stream_entries.h"
#include "steps/readable.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kStreamPage = 1000;
constexpr std::size_t kMostRecords = 1'000'000;
constexpr std::size_t kMostStreamBytes = std::size_t{256} << 20;

struct Entry {
  std::uint64_t sequence = 0;
  std::string name;
  std::string data;
};

// Of what is in one record, in order. The same as node::put_out says of the record itself.
class RecordEntries {
 public:
  RecordEntries(std::string instance, bool is_of_steps, steps::EntryKinds kinds)
      : instance_(std::move(instance)), is_of_steps_(is_of_steps), kinds_(std::move(kinds)) {}

  std::vector<Entry> of(codec::View record) const {
    std::vector<Entry> entries;
    const std::uint64_t number = number_in(record, "record");
    std::uint64_t place = 0;
    for (const codec::View each : list_in(record, "instances")) {
      if (id_in(each).text() != instance_) continue;
      entries.clear();  // what is before this in the record was put out by an earlier life
      for (const codec::View annotation : list_in(each, "annotations")) {
        const std::uint64_t sequence = node::sequence_of(number, place++);
        if (auto text = text_of(annotation)) entries.push_back({sequence, "", std::move(*text)});
      }
      if (ends(record, each)) entries.push_back({node::sequence_of(number, place++), "end", ""});
    }
    return entries;
  }

 private:
  static bool ends(codec::View record, codec::View instance) {
    const auto tick = record.find("tick");
    const std::string kind = tick ? text_in(*tick, "kind") : "";
    const std::string status = text_in(instance, "status");
    if (status == "deleted") return kind != "forget";
    if (!is_over(status)) return false;
    const auto outcome = instance.find("outcome");
    return number_in(instance, "steps") != 0 || (outcome && !outcome->is_null()) ||
           (kind == "control" && text_in(*tick, "control") == "cancel");
  }

  // Nothing: it is of a kind that is not wanted.
  std::optional<std::string> text_of(codec::View annotation) const {
    if (!is_of_steps_) {
      if (!steps::is_shown(annotation.encoded(), kinds_)) return std::nullopt;
      return codec::to_json(annotation);
    }
    codec::Buffer readable;
    if (!steps::write_readable_entry(readable, annotation.encoded(), kinds_)) return std::nullopt;
    return codec::to_json(codec::View::of(readable.view()));
  }

  const std::string instance_;
  const bool is_of_steps_;
  const steps::EntryKinds kinds_;
};

base::Result<bool> is_of_steps(WorldSource& source, const std::string& workflow) {
  const Document document = TRY(source.workflows());
  for (const codec::View each : list_in(document.view(), "workflows")) {
    if (text_in(each, "workflow") != workflow) continue;
    const std::string stream = text_in(each, "stream");
    return stream == defs::kStepEntry || stream == defs::kStepEntry1;
  }
  return false;
}

}  // namespace

base::Result<void> recorded_stream(WorldSource& source, const InstanceId& id,
                                   const RecordedPart& part_wanted,
                                   const std::function<bool(const StreamEvent&)>& tell) {
  const bool of_steps = TRY(is_of_steps(source, id.workflow));
  if (of_steps) {
    if (auto why = steps::refuse_kinds(part_wanted.kinds))
      return base::invalid("--kinds", std::move(*why));
  }
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t after = part_wanted.is_now ? kAll : part_wanted.after;
  const std::string status = text_in(TRY(source.instance(id)).view(), "status");
  const RecordEntries read(id.text(), of_steps, part_wanted.kinds);
  std::vector<Entry> entries;  // from the last to the first
  std::size_t looked_at = 0;
  std::size_t bytes = 0;
  std::uint64_t truncated = 0;
  for (std::uint64_t from = 0;;) {
    const Document part = TRY(source.timeline(id, from, kStreamPage));
    std::uint64_t oldest = 0;
    for (const codec::View record : list_in(part.view(), "records")) {
      if (number_in(record, "record") == oldest) continue;  // there is one for each life in it
      oldest = number_in(record, "record");
      std::vector<Entry> found = read.of(record);
      std::ranges::reverse(found);
      for (Entry& entry : found) {
        bytes += entry.data.size();
        entries.push_back(std::move(entry));
      }
      ++looked_at;
    }
    if (flag_in(part.view(), "trimmed")) {
      const std::uint64_t gone = number_in(part.view(), "next");
      if (gone != 0) truncated = node::sequence_of(gone + 1, 0) - 1;
      break;
    }
    from = number_in(part.view(), "next");
    if (from == 0 || (oldest != 0 && oldest <= node::record_of(after))) break;
    if (looked_at >= kMostRecords || bytes >= kMostStreamBytes) {
      return base::Error(base::ErrorCode::kTooLarge, id.text(),
                         "has too many records to look through: say a later --after");
    }
  }
  if (truncated > after) {
    const std::string up_to = std::to_string(truncated);
    if (!tell({up_to, "truncated", "{\"up_to\":" + up_to + "}"})) return {};
  }
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->sequence <= after || entry->name == "end") continue;
    if (!tell({std::to_string(entry->sequence), "", std::move(entry->data)})) return {};
  }
  if (!is_over(status)) return {};
  // It is said to everybody who asks; also where its record is gone.
  const bool has_end = !entries.empty() && entries.front().name == "end";
  const std::uint64_t end =
      has_end ? entries.front().sequence : std::max(part_wanted.after, truncated);
  tell({std::to_string(end), "end", "{\"status\":\"" + status + "\"}"});
  return {};
}

}  // namespace holdfast::cli
