// SPDX-License-Identifier: Apache-2.0
#include "worker/messages.h"

#include <algorithm>
#include <array>

#include "codec/normaliser.h"
#include "codec/utf8.h"
#include "codec/view.h"
#include "worker/json_pen.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

constexpr std::size_t kMaxCodeBytes = 128;

// An answer, taken apart member by member. The first thing that is wrong is kept.
class AnswerReader {
 public:
  static base::Result<AnswerReader> of(std::string_view json) {
    codec::Normaliser normaliser;
    static const codec::Schema any = codec::Schema::any();
    const base::ByteView bytes = TRY(normaliser.from_json(any, json));
    AnswerReader reader({bytes.begin(), bytes.end()});
    if (reader.root().kind() != codec::ViewKind::kMap)
      return base::invalid("$", "expected an object");
    return reader;
  }

  codec::View root() const { return codec::View::of(bytes_); }

  std::string text(codec::View map, std::string_view name, bool is_needed = true) {
    const auto found = map.find(name);
    if (found && found->text()) return std::string(*found->text());
    if (found || is_needed) complain(name, "expected text");
    return {};
  }
  std::uint64_t nat(codec::View map, std::string_view name,
                    std::optional<std::uint64_t> otherwise = {}) {
    const auto found = map.find(name);
    if (found && found->nat()) return *found->nat();
    if (found || !otherwise) complain(name, "expected a whole number from 0");
    return otherwise.value_or(0);
  }
  std::vector<codec::View> list(codec::View map, std::string_view name) {
    std::vector<codec::View> all;
    const auto found = map.find(name);
    if (!found) return all;
    if (found->kind() != codec::ViewKind::kList) complain(name, "expected a list");
    for (const codec::View each : found->elements()) all.push_back(each);
    return all;
  }
  // A list of which every element is a map.
  std::vector<codec::View> maps(codec::View map, std::string_view name) {
    std::vector<codec::View> all = list(map, name);
    for (const codec::View each : all)
      if (each.kind() != codec::ViewKind::kMap) complain(name, "expected objects in the list");
    return all;
  }
  std::vector<std::string> texts(codec::View map, std::string_view name) {
    std::vector<std::string> all;
    for (const codec::View each : list(map, name)) {
      if (!each.text()) complain(name, "expected texts in the list");
      all.emplace_back(each.text().value_or(""));
    }
    return all;
  }
  Mode mode(codec::View map) {
    const std::string name = text(map, "mode", false);
    if (name == "draining") return Mode::kDraining;
    return name == "cordoned" ? Mode::kCordoned : Mode::kActive;
  }

  void complain(std::string_view name, const char* message) {
    if (where_.empty()) {
      where_ = name;
      message_ = message;
    }
  }
  base::Result<void> verdict() const {
    if (where_.empty()) return {};
    return base::invalid("$." + where_, message_);
  }

 private:
  explicit AnswerReader(base::Bytes bytes) : bytes_(std::move(bytes)) {}

  base::Bytes bytes_;
  std::string where_;
  std::string message_;
};

base::Bytes bytes_of(codec::View view) {
  const base::ByteView bytes = view.encoded();
  return {bytes.begin(), bytes.end()};
}

Task task_in(AnswerReader& reader, codec::View map) {
  Task task;
  task.dispatch = reader.text(map, "d");
  task.key = reader.text(map, "key");
  task.kind = reader.text(map, "kind");
  task.type = reader.text(map, "type", false);
  task.name = reader.text(map, "name", false);
  task.graph = reader.text(map, "graph", false);
  task.trace = reader.text(map, "trace", false);
  task.recipe = reader.text(map, "recipe", false);
  if (const auto preemptible = map.find("preemptible")) {
    if (!preemptible->boolean()) reader.complain("preemptible", "expected true or false");
    task.is_preemptible = preemptible->boolean().value_or(false);
  }
  task.attempt = reader.nat(map, "attempt", 1);
  task.timeout_ms = reader.nat(map, "timeout_ms", 0);
  const auto input = map.find("input");
  task.input = input ? bytes_of(*input) : base::Bytes{0xf6};
  if (const auto resume = map.find("resume"); resume && !resume->is_null())
    task.resume = bytes_of(*resume);
  for (const codec::View device : reader.list(map, "devices")) {
    if (!device.nat()) reader.complain("devices", "expected whole numbers in the list");
    task.devices.push_back(device.nat().value_or(0));
  }
  return task;
}

StopReason reason_in(std::string_view name) {
  if (name == "timeout") return StopReason::kTimeout;
  return name == "preempt" ? StopReason::kPreempt : StopReason::kCancelled;
}

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kOk: return "ok";
    case Status::kError: return "error";
    case Status::kCancelled: return "cancelled";
    case Status::kTimeout: return "timeout";
  }
  return "";
}

}  // namespace

std::string plain_text(std::string_view text, std::size_t most) {
  if (!codec::is_utf8(text)) {
    std::string out;
    for (const char c : text.substr(0, most)) {
      if (out.size() + 2 > most) break;
      codec::append_utf8(out, static_cast<unsigned char>(c));
    }
    return out;
  }
  if (text.size() <= most) return std::string(text);
  // Not inside a character.
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

base::Result<base::Bytes> value_of_json(std::string_view json) {
  codec::Normaliser normaliser;
  static const codec::Schema any = codec::Schema::any();
  const base::ByteView bytes = TRY(normaliser.part_from_json(any, json));
  return base::Bytes(bytes.begin(), bytes.end());
}

std::string enrol_body(const Offer& offer, std::string_view secret) {
  JsonPen pen;
  pen.open('{').key("protocol").nat(1);
  pen.key("node").text(offer.node).key("name").text(offer.name).key("secret").text(secret);
  pen.key("queues").texts(offer.queues).key("types").texts(offer.types);
  pen.key("slots").nat(offer.slots);
  pen.key("labels").open('{');
  for (const auto& [name, value] : offer.labels) pen.key(name).text(value);
  pen.close('}').key("resources").open('{');
  pen.key("cpu_milli").nat(offer.resources.cpu_milli);
  pen.key("memory_bytes").nat(offer.resources.memory_bytes);
  pen.key("gpus").open('[');
  for (const Device& device : offer.resources.devices) {
    pen.open('{').key("index").nat(device.index).key("type").text(device.type);
    pen.key("memory_bytes").nat(device.memory_bytes).close('}');
  }
  pen.close(']').close('}').key("recipes").texts(offer.recipes).close('}');
  return pen.take();
}

base::Result<Enrolled> read_enrolled(std::string_view json) {
  auto reader = TRY(AnswerReader::of(json));
  const codec::View root = reader.root();
  Enrolled enrolled;
  enrolled.worker = reader.text(root, "worker");
  enrolled.ttl_ms = reader.nat(root, "ttl_ms");
  enrolled.max_wait_ms = reader.nat(root, "max_wait_ms");
  enrolled.max_batch = reader.nat(root, "max_batch");
  enrolled.max_result_bytes = reader.nat(root, "max_result_bytes");
  const std::vector<std::string> takes = reader.texts(root, "takes");
  enrolled.takes_recipes = std::ranges::find(takes, "recipes") != takes.end();
  TRY(reader.verdict());
  if (enrolled.worker.empty() || enrolled.ttl_ms == 0 || enrolled.max_batch == 0)
    return base::invalid("$", "worker, ttl_ms and max_batch must not be empty or 0");
  return enrolled;
}

std::string session_body(std::string_view process, bool first,
                         const std::vector<std::string>& holding) {
  JsonPen pen;
  pen.open('{').key("process").text(process).key("first").flag(first);
  pen.key("holding").texts(holding).close('}');
  return pen.take();
}

base::Result<SessionBegun> read_session(std::string_view json) {
  auto reader = TRY(AnswerReader::of(json));
  SessionBegun begun;
  begun.session = reader.text(reader.root(), "session");
  begun.drop = reader.texts(reader.root(), "drop");
  begun.mode = reader.mode(reader.root());
  TRY(reader.verdict());
  return begun;
}

base::Result<SyncAnswer> read_sync(std::string_view json) {
  auto reader = TRY(AnswerReader::of(json));
  const codec::View root = reader.root();
  SyncAnswer answer;
  answer.seq = reader.nat(root, "seq");
  answer.mode = reader.mode(root);
  for (const codec::View each : reader.maps(root, "results")) {
    ReportResult result;
    result.dispatch = reader.text(each, "d");
    const std::string verdict = reader.text(each, "result");
    if (verdict == "stale") result.verdict = Verdict::kStale;
    if (verdict == "refused") result.verdict = Verdict::kRefused;
    if (const auto problem = each.find("problem"))
      result.detail = reader.text(*problem, "detail", false);
    answer.results.push_back(std::move(result));
  }
  for (const codec::View each : reader.maps(root, "work"))
    answer.work.push_back(task_in(reader, each));
  for (const codec::View each : reader.maps(root, "stop")) {
    answer.stop.push_back({reader.text(each, "d"), reason_in(reader.text(each, "reason", false)),
                           reader.nat(each, "grace_ms", kStopGrace.count())});
  }
  answer.drop = reader.texts(root, "drop");
  answer.swap = reader.text(root, "swap", false);
  for (const codec::View each : reader.list(root, "logs_to")) {
    std::vector<codec::View> pair;
    for (const codec::View part : each.elements()) pair.push_back(part);
    if (pair.size() != 2 || !pair[0].text() || !pair[1].nat()) {
      reader.complain("logs_to", "expected pairs of a dispatch and a number");
      continue;
    }
    answer.logs_to.emplace_back(*pair[0].text(), *pair[1].nat());
  }
  TRY(reader.verdict());
  return answer;
}

Refusal read_refusal(std::string_view json) {
  auto reader = AnswerReader::of(json);
  if (!reader) return {};
  return {reader->text(reader->root(), "code", false),
          reader->text(reader->root(), "detail", false)};
}

std::string done_entry(std::string_view dispatch, const Ended& ended, const Times& times) {
  JsonPen pen;
  pen.open('{').key("d").text(dispatch).key("status").text(name_of(ended.status));
  if (ended.status == Status::kOk) {
    pen.key("payload").value(ended.payload);
  } else {
    pen.key("error").open('{').key("code").text(plain_text(ended.error.code, kMaxCodeBytes));
    pen.key("message").text(plain_text(ended.error.message, kMaxErrorTextBytes));
    pen.key("retryable").flag(ended.error.retryable).close('}');
  }
  if (times.started_ns != 0) pen.key("started_ns").nat(times.started_ns);
  if (times.ended_ns != 0) pen.key("ended_ns").nat(times.ended_ns);
  pen.close('}');
  return pen.take();
}

std::string back_entry(std::string_view dispatch, std::string_view reason, base::ByteView resume) {
  JsonPen pen;
  pen.open('{').key("d").text(dispatch).key("reason").text(reason);
  if (!resume.empty()) pen.key("resume").value(resume);
  pen.close('}');
  return pen.take();
}

base::Bytes held_entry(EntryList list, std::string_view json) {
  base::Bytes held;
  held.reserve(json.size() + 1);
  held.push_back(static_cast<std::uint8_t>(list));
  held.insert(held.end(), json.begin(), json.end());
  return held;
}

EntryList list_of(base::ByteView held) {
  return !held.empty() && held[0] == static_cast<std::uint8_t>(EntryList::kBack) ? EntryList::kBack
                                                                                 : EntryList::kDone;
}

std::string_view json_of(base::ByteView held) {
  return held.empty() ? std::string_view() : base::as_text(held.subspan(1));
}

std::string sync_body(const SyncBody& body) {
  JsonPen pen;
  pen.open('{').key("session").text(body.session).key("seq").nat(body.seq);
  const auto entries = [&](std::string_view name, const std::vector<std::string_view>& all) {
    if (all.empty()) return;
    pen.key(name).open('[');
    for (const std::string_view each : all) pen.json(each);
    pen.close(']');
  };
  entries("done", body.done);
  entries("back", body.back);
  if (!body.progress.empty()) {
    pen.key("progress").open('[');
    for (const Progress& each : body.progress) {
      pen.open('{').key("d").text(each.dispatch).key("n").nat(each.number);
      pen.key("payload").json(each.json).close('}');
    }
    pen.close(']');
  }
  if (!body.logs.empty()) {
    pen.key("logs").open('[');
    for (const LogPart& part : body.logs) {
      pen.open('{').key("d").text(part.dispatch).key("from").nat(part.from).key("lines").open('[');
      for (const LogLine& line : part.lines)
        pen.open('[')
            .nat(line.time_ns)
            .text(line.is_error ? "err" : "out")
            .text(line.text)
            .close(']');
      pen.close(']').close('}');
    }
    pen.close(']');
  }
  pen.key("holding").texts(body.holding).key("want").nat(body.want);
  pen.key("wait_ms").nat(body.wait_ms);
  if (body.is_draining) pen.key("draining").flag(true);
  if (body.recipes) {
    pen.key("recipes").open('{').key("serving").texts(body.recipes->serving);
    if (!body.recipes->swapping.empty()) pen.key("swapping").text(body.recipes->swapping);
    if (body.recipes->can_swap) pen.key("can_swap").flag(true);
    if (!body.recipes->problem.empty()) pen.key("problem").text(body.recipes->problem);
    pen.close('}');
  }
  pen.close('}');
  return pen.take();
}

std::string leave_body(std::string_view session) {
  JsonPen pen;
  pen.open('{').key("session").text(session).close('}');
  return pen.take();
}

}  // namespace holdfast::work
