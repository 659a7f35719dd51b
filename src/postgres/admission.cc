// SPDX-License-Identifier: Apache-2.0
#include "postgres/admission.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "codec/printable.h"
#include "postgres/answers.h"
#include "postgres/flow_events.h"

namespace holdfast::postgres {
namespace {

constexpr std::size_t kMostDetailBytes = 2048;

// Whether the same request would be refused again. All others wait in the inbox.
bool is_final(ErrorCode code) {
  return code == ErrorCode::kInvalid || code == ErrorCode::kTooLarge ||
         code == ErrorCode::kNotFound;
}

}  // namespace

void Admission::admit(const std::vector<Request>& requests) {
  decisions_.clear();
  started_.clear();
  starts_.clear();
  why_left_.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    decisions_.push_back({requests[i].id, Outcome::kLeft, {}});
    if (requests[i].verb == Verb::kStart) starts_.emplace(requests[i].id, i);
  }
  begin(requests);
  signal(requests);
  cancel(requests);
}

std::size_t Admission::left() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count(decisions_, Outcome::kLeft, &Decision::outcome));
}

void Admission::set(std::size_t request, Outcome outcome, std::string detail) {
  decisions_[request].outcome = outcome;
  decisions_[request].detail = codec::printable(detail, kMostDetailBytes);
}

bool Admission::prepare(const Request& request, Prepared& prepared) {
  auto value = values_.event_of(request);
  if (!value) {
    set(prepared.request, Outcome::kRefused, value.error().to_string());
    return false;
  }
  prepared.value = std::move(*value);
  if (request.verb == Verb::kSend) return true;
  auto key = request.verb == Verb::kStart ? values_.key_of_start(request, prepared.value)
                                          : values_.key_of(request.workflow, request.key);
  if (!key) {
    set(prepared.request, Outcome::kRefused, key.error().to_string());
    return false;
  }
  prepared.key = std::move(*key);
  return true;
}

void Admission::judge(std::size_t request, const Error& error) {
  if (is_final(error.code)) return set(request, Outcome::kRefused, error.message);
  set(request, Outcome::kLeft);
  why_left_ = error.message;
}

// Of those that are asked about: what the engine has no instance for is decided `otherwise`, and
// taken out of the list.
void Admission::keep_known(const std::vector<Request>& requests, std::vector<Prepared>& wanted,
                           Outcome otherwise, bool (*is_asked)(const Request&)) {
  std::vector<Engine::RawName> names;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Request& request = requests[wanted[i].request];
    if (!is_asked(request)) continue;
    names.push_back({request.workflow, wanted[i].key});
    asked.push_back(i);
  }
  if (asked.empty()) return;
  Answers<Engine::RawInstances> answers;
  engine_.query_raw(std::move(names), answers.next());
  const auto told = answers.wait();
  std::unordered_set<std::size_t> gone;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::size_t at = asked[i];
    const Error* error = !told[0]         ? &told[0].error()
                         : !(*told[0])[i] ? &(*told[0])[i].error()
                                          : nullptr;
    if (error == nullptr) continue;
    gone.insert(at);
    if (told[0] && error->code == ErrorCode::kNotFound)
      set(wanted[at].request, otherwise,
          otherwise == Outcome::kIgnored ? "the instance is gone" : "");
    else
      judge(wanted[at].request, *error);
  }
  std::vector<Prepared> kept;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!gone.contains(i)) kept.push_back(std::move(wanted[i]));
  wanted = std::move(kept);
}

std::vector<Result<Sent>> Admission::send(const std::vector<Request>& requests,
                                          const std::vector<Prepared>& all) {
  Answers<Sent> answers;
  for (const Prepared& prepared : all) {
    const Request& request = requests[prepared.request];
    const std::string id = prefix_ + request.id;
    const bool is_addressed = request.verb != Verb::kSend;
    engine_.send_raw({.schema = is_flow(request) ? flow_schema(request.verb) : request.event,
                      .value = prepared.value,
                      .id = id,
                      .workflow = is_addressed ? std::string_view(request.workflow) : "",
                      .key = prepared.key,
                      .starts = request.verb == Verb::kStart},
                     answers.next());
  }
  auto sent = answers.wait();
  for (const auto& each : sent)
    if (each) newest_record_ = std::max(newest_record_, each->record);
  return sent;
}

void Admission::begin(const std::vector<Request>& requests) {
  std::vector<Prepared> all;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].verb != Verb::kStart && requests[i].verb != Verb::kSend) continue;
    Prepared prepared{.request = i};
    if (prepare(requests[i], prepared)) all.push_back(std::move(prepared));
  }
  keep_known(requests, all, Outcome::kCancelled,
             [](const Request& request) { return request.is_cancelled; });
  const auto sent = send(requests, all);
  std::vector<Prepared> conflicts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Request& request = requests[all[i].request];
    if (sent[i] && sent[i]->is_unhandled()) {
      set(all[i].request, request.verb == Verb::kStart ? Outcome::kRefused : Outcome::kIgnored,
          sent[i]->why_unhandled);
    } else if (sent[i]) {
      set(all[i].request, Outcome::kAccepted);
      if (request.verb == Verb::kStart)
        started_.push_back({request.id, request.workflow, std::move(all[i].key)});
    } else if (sent[i].error().code == ErrorCode::kConflict && request.verb == Verb::kStart) {
      why_left_ = sent[i].error().message;
      conflicts.push_back(std::move(all[i]));
    } else {
      judge(all[i].request, sent[i].error());
    }
  }
  judge_conflicts(requests, conflicts);
}

// The key is taken; or the code of the workflow does not fit, and the start waits for one that
// does.
void Admission::judge_conflicts(const std::vector<Request>& requests,
                                const std::vector<Prepared>& all) {
  if (all.empty()) return;
  std::vector<Engine::RawName> names;
  for (const Prepared& each : all) names.push_back({requests[each.request].workflow, each.key});
  Answers<Engine::RawInstances> answers;
  engine_.query_raw(std::move(names), answers.next());
  const auto told = answers.wait();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Request& request = requests[all[i].request];
    const bool is_there = told[0] && (*told[0])[i];
    if (is_there && is_flow(request)) {
      // Its key is the id of the request, so it is this start, from before its id was forgotten.
      set(all[i].request, Outcome::kAccepted);
      started_.push_back({request.id, request.workflow, all[i].key});
    } else if (is_there) {
      set(all[i].request, Outcome::kRefused,
          request.workflow + (request.key ? "/" + *request.key : "") + " exists already");
    }
  }
}

// What became of the start of a signal or cancel: kAccepted, the engine has it; kLeft, it is still
// to come; kCancelled, it never ran.
Outcome Admission::state_of_target(const Request& request) const {
  if (request.target_state == "running") return Outcome::kAccepted;
  if (request.target_state != "pending") return Outcome::kIgnored;
  const auto start = starts_.find(request.target);
  return start == starts_.end() ? Outcome::kLeft : decisions_[start->second].outcome;
}

void Admission::signal(const std::vector<Request>& requests) {
  std::vector<Prepared> all;
  std::unordered_set<std::string> cancelled;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (request.verb == Verb::kCancel) cancelled.insert(request.target);
    if (request.verb != Verb::kSignal) continue;
    const Outcome target = state_of_target(request);
    if (target == Outcome::kLeft) continue;
    if (target != Outcome::kAccepted || cancelled.contains(request.target)) {
      set(i, Outcome::kIgnored, "the instance has ended, or never ran");
      continue;
    }
    Prepared prepared{.request = i};
    if (prepare(request, prepared)) all.push_back(std::move(prepared));
  }
  if (all.empty()) return;
  // An event for an instance that does not exist could begin one.
  keep_known(requests, all, Outcome::kIgnored, [](const Request&) { return true; });
  const auto sent = send(requests, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!sent[i]) {
      judge(all[i].request, sent[i].error());
    } else if (sent[i]->is_unhandled()) {
      set(all[i].request, Outcome::kIgnored, sent[i]->why_unhandled);
    } else {
      set(all[i].request, Outcome::kAccepted);
    }
  }
}

// One that the engine has under this key may be the same start, from before a crash: then the start
// is admitted again first.
void Admission::cancel_before_start(const std::vector<Request>& requests,
                                    std::vector<Prepared>& waiting) {
  keep_known(requests, waiting, Outcome::kAccepted, [](const Request&) { return true; });
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (request.verb == Verb::kCancel && request.target_state == "pending" &&
        !starts_.contains(request.target) && decisions_[i].outcome == Outcome::kAccepted)
      decisions_.push_back({request.target, Outcome::kCancelled, {}});
  }
}

// Their end is for their own code, which an event tells.
void Admission::cancel_flows(const std::vector<Request>& requests, std::vector<Prepared> all) {
  std::vector<Prepared> prepared;
  for (Prepared& each : all)
    if (prepare(requests[each.request], each)) prepared.push_back(std::move(each));
  if (prepared.empty()) return;
  keep_known(requests, prepared, Outcome::kIgnored, [](const Request&) { return true; });
  const auto sent = send(requests, prepared);
  for (std::size_t i = 0; i < prepared.size(); ++i) {
    if (!sent[i]) {
      judge(prepared[i].request, sent[i].error());
    } else if (sent[i]->is_unhandled()) {
      set(prepared[i].request, Outcome::kIgnored, sent[i]->why_unhandled);
    } else {
      set(prepared[i].request, Outcome::kAccepted);
    }
  }
}

void Admission::cancel(const std::vector<Request>& requests) {
  std::vector<std::size_t> asked;
  std::vector<Prepared> waiting;  // for a start that is not due yet
  std::vector<Prepared> flows;
  Answers<Done> answers;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (request.verb != Verb::kCancel) continue;
    auto key = values_.key_of(request.workflow, request.key);
    if (!key) {
      set(i, Outcome::kRefused, key.error().to_string());
      continue;
    }
    switch (state_of_target(request)) {
      case Outcome::kAccepted:
        if (is_flow(request)) {
          flows.push_back({.request = i, .value = {}, .key = std::move(*key)});
          break;
        }
        asked.push_back(i);
        engine_.control_raw(Control::kCancel, request.workflow, std::move(*key), request.reason,
                            answers.next(), request.submitter);
        break;
      case Outcome::kCancelled: set(i, Outcome::kAccepted); break;
      case Outcome::kLeft:
        if (!starts_.contains(request.target))
          waiting.push_back({.request = i, .value = {}, .key = std::move(*key)});
        break;
      default: set(i, Outcome::kIgnored, "the instance has ended, or never ran");
    }
  }
  cancel_before_start(requests, waiting);
  cancel_flows(requests, std::move(flows));
  if (asked.empty()) return;
  const auto done = answers.wait();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (done[i]) {
      set(asked[i], Outcome::kAccepted);
    } else if (done[i].error().code == ErrorCode::kConflict ||
               done[i].error().code == ErrorCode::kNotFound) {
      set(asked[i], Outcome::kIgnored, done[i].error().message);
    } else {
      judge(asked[i], done[i].error());
    }
  }
}

}  // namespace holdfast::postgres
