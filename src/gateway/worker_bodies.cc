// SPDX-License-Identifier: Apache-2.0
#include "gateway/worker_bodies.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "dispatch/limits.h"
#include "gateway/documents.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "workers/identity.h"

namespace holdfast::gateway {
namespace {

using base::invalid;
using base::Result;
using codec::View;
using codec::ViewKind;
using workers::NamedDispatch;

constexpr std::uint64_t kMostInteger = std::uint64_t{1} << 53;
constexpr std::size_t kMaxReasonBytes = 32;

// A map and where it stands.
class Members {
 public:
  static Result<Members> of(View value, std::string place,
                            std::initializer_list<std::string_view> known) {
    if (value.kind() != ViewKind::kMap) return invalid(place, "expected a map");
    for (const auto& [key, member] : value.entries()) {
      const std::string_view name = key.text().value_or("");
      if (std::ranges::find(known, name) == known.end())
        return invalid(place, "there is no member " + tasks::quote(name));
    }
    return Members(value, std::move(place));
  }

  std::string at(std::string_view name) const { return place_ + "." + std::string(name); }

  std::optional<View> find(std::string_view name) const {
    const auto value = map_.find(name);
    return value && !value->is_null() ? value : std::nullopt;
  }
  Result<View> needed(std::string_view name) const {
    const auto value = find(name);
    if (!value) return invalid(at(name), "it is missing");
    return *value;
  }

  Result<std::string> text(std::string_view name, std::size_t most) const {
    const View value = TRY(needed(name));
    const auto read = value.text();
    if (!read || read->empty() || read->size() > most)
      return invalid(at(name), "expected a text of 1 to " + std::to_string(most) + " bytes");
    return std::string(*read);
  }
  Result<std::string> name(std::string_view member) const {
    std::string read = TRY(text(member, tasks::kMaxNameBytes));
    if (const auto problem = tasks::label_problem(read)) return invalid(at(member), *problem);
    return read;
  }
  Result<std::uint64_t> number(std::string_view name, std::uint64_t most,
                               std::optional<std::uint64_t> otherwise = {}) const {
    const auto value = find(name);
    if (!value && otherwise) return *otherwise;
    if (!value) return invalid(at(name), "it is missing");
    const auto read = value->nat();
    if (!read || *read > most)
      return invalid(at(name), "expected a whole number from 0 to " + std::to_string(most));
    return *read;
  }
  Result<bool> flag(std::string_view name, std::optional<bool> otherwise = {}) const {
    const auto value = find(name);
    if (!value && otherwise) return *otherwise;
    if (!value) return invalid(at(name), "it is missing");
    const auto read = value->boolean();
    if (!read) return invalid(at(name), "expected true or false");
    return *read;
  }
  // Any value; empty: there is none.
  Result<Bytes> any(std::string_view name, std::size_t most) const {
    const auto value = map_.find(name);
    if (!value) return Bytes();
    const base::ByteView bytes = value->encoded();
    if (bytes.size() > most)
      return base::Error(base::ErrorCode::kTooLarge, at(name),
                         "has " + std::to_string(bytes.size()) + " bytes; at most " +
                             std::to_string(most) + " are allowed");
    return Bytes(bytes.begin(), bytes.end());
  }
  Result<NamedDispatch> dispatch(std::string_view name) const {
    NamedDispatch read;
    read.text = TRY(text(name, workers::kMaxDispatchBytes));
    read.ours = dispatch::Dispatch::parse(read.text);
    return read;
  }

  // `each(element, place)` for the elements of a list that may be missing.
  template <class Each>
  Result<void> list(std::string_view name, std::size_t most, Each each) const {
    const auto value = find(name);
    if (!value) return {};
    if (value->kind() != ViewKind::kList) return invalid(at(name), "expected a list");
    if (value->size() > most)
      return invalid(at(name), "has " + std::to_string(value->size()) + " entries; at most " +
                                   std::to_string(most) + " are allowed");
    std::size_t index = 0;
    for (const View element : value->elements()) {
      TRY(each(element, at(name) + "[" + std::to_string(index) + "]"));
      ++index;
    }
    return {};
  }

 private:
  Members(View map, std::string place) : map_(map), place_(std::move(place)) {}
  View map_;
  std::string place_;
};

Result<std::vector<NamedDispatch>> read_holding(const Members& body) {
  TRY(body.needed("holding"));
  std::vector<NamedDispatch> holding;
  TRY(body.list("holding", workers::kMaxHolding,
                [&](View value, const std::string& place) -> Result<void> {
                  const auto text = value.text();
                  if (!text || text->empty() || text->size() > workers::kMaxDispatchBytes)
                    return invalid(place, "expected a dispatch");
                  holding.push_back({std::string(*text), dispatch::Dispatch::parse(*text)});
                  return {};
                }));
  return holding;
}

Result<workers::TaskFailure> read_failure(View value, const std::string& place) {
  const Members error = TRY(Members::of(value, place, {"code", "message", "retryable", "details"}));
  workers::TaskFailure failure;
  failure.code = TRY(error.text("code", workers::kMaxErrorCodeBytes));
  failure.message = TRY(error.text("message", workers::kMaxErrorMessageBytes));
  failure.is_retryable = TRY(error.flag("retryable", true));
  failure.details = TRY(error.any("details", workers::kMaxSmallValueBytes));
  return failure;
}

Result<Status> read_status(const Members& report) {
  constexpr std::array<std::string_view, 4> kNames{"ok", "error", "timeout", "cancelled"};
  const std::string name = TRY(report.text("status", kMaxReasonBytes));
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    return invalid(report.at("status"), "expected ok, error, timeout or cancelled");
  return static_cast<Status>(found - kNames.begin());
}

Result<workers::DoneReport> read_done(View value, const std::string& place) {
  const Members report =
      TRY(Members::of(value, place, {"d", "status", "payload", "error", "started_ns", "ended_ns"}));
  workers::DoneReport done;
  done.d = TRY(report.dispatch("d"));
  done.status = TRY(read_status(report));
  const bool is_ok = done.status == Status::kOk;
  const auto error = report.find("error");
  if (is_ok && error) return invalid(report.at("error"), "a result that is ok has a payload");
  if (is_ok) {
    done.payload = TRY(report.any("payload", kMostInteger));
    if (done.payload.empty()) return invalid(report.at("payload"), "it is missing");
  } else {
    if (report.find("payload"))
      return invalid(report.at("payload"), "a result that is not ok has an error");
    done.error = TRY(read_failure(TRY(report.needed("error")), report.at("error")));
  }
  TRY(report.number("started_ns", ~std::uint64_t{0}, 0));
  TRY(report.number("ended_ns", ~std::uint64_t{0}, 0));
  return done;
}

Result<workers::BackReport> read_back(View value, const std::string& place) {
  constexpr std::array<std::string_view, 3> kNames{"drain", "refused", "yield"};
  const Members report = TRY(Members::of(value, place, {"d", "reason", "resume"}));
  workers::BackReport back;
  back.d = TRY(report.dispatch("d"));
  const std::string name = TRY(report.text("reason", kMaxReasonBytes));
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    return invalid(report.at("reason"), "expected drain, refused or yield");
  back.reason = static_cast<workers::BackReason>(found - kNames.begin());
  back.resume = TRY(report.any("resume", workers::kMaxSmallValueBytes));
  if (!back.resume.empty() && back.reason != workers::BackReason::kYield)
    return invalid(report.at("resume"), "only a task that yields has one");
  return back;
}

Result<workers::ProgressReport> read_progress(View value, const std::string& place) {
  const Members report = TRY(Members::of(value, place, {"d", "n", "payload"}));
  workers::ProgressReport progress;
  progress.d = TRY(report.dispatch("d"));
  progress.number = TRY(report.number("n", kMostInteger));
  if (progress.number == 0) return invalid(report.at("n"), "expected a number from 1");
  progress.payload = TRY(report.any("payload", workers::kMaxSmallValueBytes));
  if (progress.payload.empty()) return invalid(report.at("payload"), "it is missing");
  return progress;
}

Result<std::string> read_recipe(View value, const std::string& place) {
  const auto text = value.text();
  if (!text || text->empty() || text->size() > dispatch::kMaxOfferTextBytes)
    return invalid(place, "expected a text of 1 to " +
                              std::to_string(dispatch::kMaxOfferTextBytes) + " bytes");
  return std::string(*text);
}

Result<dispatch::RecipeState> read_recipes(View value, const std::string& place) {
  const Members report =
      TRY(Members::of(value, place, {"serving", "swapping", "can_swap", "problem"}));
  dispatch::RecipeState state;
  TRY(report.needed("serving"));
  TRY(report.list("serving", dispatch::kMaxRecipes,
                  [&](View recipe, const std::string& at) -> Result<void> {
                    state.serving.push_back(TRY(read_recipe(recipe, at)));
                    return {};
                  }));
  std::ranges::sort(state.serving);
  if (const auto swapping = report.find("swapping"))
    state.swapping = TRY(read_recipe(*swapping, report.at("swapping")));
  state.can_swap = TRY(report.flag("can_swap", false));
  if (report.find("problem"))
    state.problem = TRY(report.text("problem", workers::kMaxSwapProblemBytes));
  return state;
}

Result<workers::LogLine> read_line(View value, const std::string& place) {
  std::array<std::optional<View>, 3> parts;
  std::size_t count = 0;
  if (value.kind() == ViewKind::kList && value.size() == parts.size())
    for (const View part : value.elements()) parts[count++] = part;
  const auto time = count == 0 ? std::nullopt : parts[0]->nat();
  const auto stream = count == 0 ? std::nullopt : parts[1]->text();
  const auto text = count == 0 ? std::nullopt : parts[2]->text();
  if (!time || !stream || !text || (*stream != "out" && *stream != "err"))
    return invalid(place, "expected [time_ns, \"out\" or \"err\", text]");
  if (text->size() > workers::kMaxLogLineBytes)
    return invalid(place,
                   "a line has at most " + std::to_string(workers::kMaxLogLineBytes) + " bytes");
  return workers::LogLine{*time, *stream == "err", std::string(*text)};
}

Result<workers::LogReport> read_log(View value, const std::string& place) {
  const Members report = TRY(Members::of(value, place, {"d", "from", "lines"}));
  workers::LogReport log;
  log.d = TRY(report.dispatch("d"));
  log.from = TRY(report.number("from", kMostInteger));
  TRY(report.needed("lines"));
  TRY(report.list("lines", workers::kMaxLogLines,
                  [&](View line, const std::string& at) -> Result<void> {
                    log.lines.push_back(TRY(read_line(line, at)));
                    return {};
                  }));
  return log;
}

// Reads each element of a list with `read`, into `all`.
template <class T, class Read>
Result<void> read_all(const Members& body, std::string_view name, std::size_t most, Read read,
                      std::vector<T>& all) {
  return body.list(name, most, [&](View value, const std::string& place) -> Result<void> {
    all.push_back(TRY(read(value, place)));
    return {};
  });
}

void put_texts(codec::Buffer& out, std::string_view name, const std::vector<std::string>& texts) {
  codec::write_text(out, name);
  codec::write_list_head(out, texts.size());
  for (const std::string& text : texts) codec::write_text(out, text);
}

void put_result(codec::Buffer& out, const workers::ReportResult& result) {
  using Kind = workers::ReportResult::Kind;
  codec::write_map_head(out, result.kind == Kind::kRefused ? 3 : 2);
  put(out, "d", result.d);
  put(out, "result",
      result.kind == Kind::kOk      ? "ok"
      : result.kind == Kind::kStale ? "stale"
                                    : "refused");
  if (result.kind != Kind::kRefused) return;
  codec::write_text(out, "problem");
  codec::write_map_head(out, 2);
  put(out, "code", result.code);
  put(out, "detail", result.detail);
}

void put_work_item(codec::Buffer& out, const workers::WorkItem& item) {
  const auto trace = base::TraceContext::of(item.trace);
  codec::write_map_head(out, 12u + !item.recipe.empty() + item.is_preemptible +
                                 !item.resume.empty() + trace.has_value());
  put(out, "d", item.d);
  put(out, "key", to_text(item.intent));
  put(out, "kind", "task");
  put(out, "type", item.type);
  put(out, "queue", item.queue);
  put(out, "graph", item.graph);
  put_number(out, "task", item.task);
  put(out, "name", item.name);
  put_number(out, "attempt", item.attempt);
  put_number(out, "timeout_ms", item.timeout_ms);
  put_value(out, "input", item.input);
  codec::write_text(out, "devices");
  codec::write_list_head(out, item.devices.size());
  for (const std::uint32_t device : item.devices) codec::write_nat(out, device);
  if (!item.recipe.empty()) put(out, "recipe", item.recipe);
  if (item.is_preemptible) put_flag(out, "preemptible", true);
  if (!item.resume.empty()) put_value(out, "resume", item.resume);
  if (trace) put(out, "trace", trace->to_text());
}

}  // namespace

base::Result<workers::EnrolRequest> read_enrolment(View body) {
  const Members members = TRY(Members::of(body, "$",
                                          {"protocol", "node", "name", "secret", "queues", "types",
                                           "slots", "labels", "resources", "recipes"}));
  const std::uint64_t protocol = TRY(members.number("protocol", kMostInteger));
  if (protocol != workers::kProtocol)
    return invalid("$.protocol", "this server speaks version 1 of the worker protocol");
  workers::EnrolRequest request;
  request.node = TRY(members.name("node"));
  request.name = TRY(members.name("name"));
  request.secret = TRY(members.text("secret", 64));
  if (!workers::is_secret(request.secret))
    return invalid("$.secret", "expected 64 lower-case hexadecimal digits");
  request.offer = TRY(dispatch::read_offer(body));
  return request;
}

base::Result<workers::SessionRequest> read_session(View body) {
  const Members members = TRY(Members::of(body, "$", {"process", "first", "holding"}));
  workers::SessionRequest request;
  request.process = TRY(members.text("process", workers::kMaxProcessBytes));
  request.is_first = TRY(members.flag("first"));
  request.holding = TRY(read_holding(members));
  return request;
}

base::Result<workers::SyncRequest> read_sync(View body) {
  const Members members = TRY(Members::of(body, "$",
                                          {"session", "seq", "done", "back", "progress", "logs",
                                           "holding", "want", "wait_ms", "draining", "recipes"}));
  workers::SyncRequest request;
  request.session = TRY(members.text("session", workers::kMaxProcessBytes));
  request.seq = TRY(members.number("seq", kMostInteger));
  if (request.seq == 0) return invalid("$.seq", "expected a number from 1");
  TRY(read_all(members, "done", workers::kMaxBatch, read_done, request.done));
  TRY(read_all(members, "back", workers::kMaxBatch, read_back, request.back));
  TRY(read_all(members, "progress", workers::kMaxBatch, read_progress, request.progress));
  TRY(read_all(members, "logs", workers::kMaxLogEntries, read_log, request.logs));
  request.holding = TRY(read_holding(members));
  request.want = static_cast<std::uint32_t>(TRY(members.number("want", workers::kMaxBatch, 0)));
  request.wait_ms = TRY(members.number("wait_ms", kMostInteger, 0));
  request.is_draining = TRY(members.flag("draining", false));
  if (const auto recipes = members.find("recipes"))
    request.recipes = TRY(read_recipes(*recipes, members.at("recipes")));
  return request;
}

base::Result<workers::LeaveRequest> read_leave(View body) {
  const Members members = TRY(Members::of(body, "$", {"session"}));
  workers::LeaveRequest request;
  request.session = TRY(members.text("session", workers::kMaxProcessBytes));
  return request;
}

void put_enrolled(codec::Buffer& out, const workers::EnrolAnswer& answer,
                  const workers::Desk& desk) {
  codec::write_map_head(out, 9);
  put_number(out, "protocol", workers::kProtocol);
  put(out, "worker", answer.worker);
  put(out, "mode", answer.mode);
  put_number(out, "ttl_ms", desk.ttl_ms());
  put_number(out, "max_wait_ms", desk.max_wait_ms());
  put_number(out, "max_batch", workers::kMaxBatch);
  put_number(out, "max_result_bytes", desk.max_result_bytes());
  put_number(out, "max_held_logs", workers::LogLimits().lines_of_task);
  put_texts(out, "takes", {"recipes"});
}

void put_session(codec::Buffer& out, const workers::SessionAnswer& answer,
                 const workers::Desk& desk) {
  codec::write_map_head(out, 6);
  put(out, "session", answer.session);
  put_number(out, "seq", 0);
  put_texts(out, "keep", answer.keep);
  put_texts(out, "drop", answer.drop);
  put(out, "mode", answer.mode);
  put_number(out, "ttl_ms", desk.ttl_ms());
}

void put_sync(codec::Buffer& out, const workers::SyncAnswer& answer) {
  codec::write_map_head(out, answer.swap.empty() ? 7 : 8);
  put_number(out, "seq", answer.seq);
  put(out, "mode", answer.mode);
  codec::write_text(out, "results");
  codec::write_list_head(out, answer.results.size());
  for (const workers::ReportResult& result : answer.results) put_result(out, result);
  codec::write_text(out, "work");
  codec::write_list_head(out, answer.work.size());
  for (const workers::WorkItem& item : answer.work) put_work_item(out, item);
  codec::write_text(out, "stop");
  codec::write_list_head(out, answer.stop.size());
  for (const workers::StopItem& item : answer.stop) {
    codec::write_map_head(out, 3);
    put(out, "d", item.d);
    put(out, "reason", item.reason);
    put_number(out, "grace_ms", item.grace_ms);
  }
  put_texts(out, "drop", answer.drop);
  if (!answer.swap.empty()) put(out, "swap", answer.swap);
  codec::write_text(out, "logs_to");
  codec::write_list_head(out, answer.logs_to.size());
  for (const auto& [d, next] : answer.logs_to) {
    codec::write_list_head(out, 2);
    codec::write_text(out, d);
    codec::write_nat(out, next);
  }
}

}  // namespace holdfast::gateway
