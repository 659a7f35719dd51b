// SPDX-License-Identifier: Apache-2.0
#include "gateway/wait_reasons.h"

#include <time.h>

#include <cstdio>

#include "gateway/documents.h"

namespace holdfast::gateway {
namespace {

using Kind = WaitReason::Kind;

void put_reason(codec::Buffer& out, const WaitReason& reason) {
  switch (reason.kind) {
    case Kind::kReceipt:
      codec::write_map_head(out, reason.due_ns ? 7 : 6);
      put(out, "kind", "receipt");
      put(out, "effect", reason.effect);
      put(out, "executor", reason.executor);
      put(out, "intent", to_text(reason.intent));
      put_number(out, "opened_at", reason.opened_at);
      put_number(out, "since_ns", reason.since_ns);
      if (reason.due_ns) put_number(out, "due_ns", *reason.due_ns);
      return;
    case Kind::kTurn:
    case Kind::kPaused:
      codec::write_map_head(out, 2);
      put(out, "kind", reason.kind == Kind::kTurn ? "turn" : "paused");
      return put_number(out, "mail", reason.mail);
    case Kind::kEvent:
      codec::write_map_head(out, 2);
      put(out, "kind", "event");
      codec::write_text(out, "schemas");
      codec::write_list_head(out, reason.schemas.size());
      for (const std::string& schema : reason.schemas) codec::write_text(out, schema);
      return;
    case Kind::kNothing: break;
  }
  codec::write_map_head(out, 1);
  put(out, "kind", "nothing");
}

std::string waiting_mail(std::uint64_t mail) {
  if (mail == 0) return "";
  return mail == 1 ? ", and 1 message waits for it"
                   : ", and " + std::to_string(mail) + " messages wait for it";
}

std::string clause_of(const WaitReason& reason) {
  switch (reason.kind) {
    case Kind::kReceipt:
      if (reason.due_ns) return "It waits for a timer that is due at " + time_text(*reason.due_ns);
      return "It waits for the receipt of " + reason.effect + " (" + reason.executor +
             "), opened by record " + std::to_string(reason.opened_at) + " at " +
             time_text(reason.since_ns);
    case Kind::kTurn: return "Its turn has not come yet" + waiting_mail(reason.mail);
    case Kind::kPaused: return "Somebody has paused it" + waiting_mail(reason.mail);
    case Kind::kEvent: {
      std::string events;
      for (const std::string& schema : reason.schemas)
        events += (events.empty() ? "" : " or ") + schema;
      return "It waits for an event: " + events;
    }
    case Kind::kNothing: break;
  }
  return "It waits for nothing: no event is routed to it, and nothing is under way";
}

// What people want to hear first: not the deadline, but what it is for.
const WaitReason& first_of(const std::vector<WaitReason>& reasons) {
  for (const WaitReason& reason : reasons)
    if (!reason.due_ns) return reason;
  return reasons.front();
}

}  // namespace

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<time_t>(time_ns / 1'000'000'000);
  tm parts{};
  char text[64];
  if (::gmtime_r(&seconds, &parts) == nullptr ||
      ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return std::to_string(time_ns) + " ns";
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%03uZ",
                static_cast<unsigned>(time_ns / 1'000'000 % 1000));
  return std::string(text) + fraction;
}

std::string sentence_of(const std::vector<WaitReason>& reasons) {
  if (reasons.empty()) return "It has ended.";
  const std::string more = reasons.size() == 1
                               ? "."
                               : "; and for " + std::to_string(reasons.size() - 1) +
                                     " more reason" + (reasons.size() == 2 ? "." : "s.");
  return clause_of(first_of(reasons)) + more;
}

void put_why(codec::Buffer& out, const std::vector<WaitReason>& reasons) {
  codec::write_map_head(out, 2);
  put(out, "sentence", sentence_of(reasons));
  codec::write_text(out, "reasons");
  codec::write_list_head(out, reasons.size());
  for (const WaitReason& reason : reasons) put_reason(out, reason);
}

}  // namespace holdfast::gateway
