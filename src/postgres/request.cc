// SPDX-License-Identifier: Apache-2.0
#include "postgres/request.h"

namespace holdfast::postgres {
namespace {

Verb verb_of(std::string_view text) {
  if (text == "send") return Verb::kSend;
  if (text == "signal") return Verb::kSignal;
  if (text == "cancel") return Verb::kCancel;
  return Verb::kStart;
}

}  // namespace

std::vector<Request> requests_of(const Rows& rows) {
  std::vector<Request> requests;
  requests.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    Request& request = requests.emplace_back();
    request.id = rows.string(row, 0);
    request.seq = rows.string(row, 1);
    request.due = rows.string(row, 2);
    request.verb = verb_of(rows.text(row, 3));
    request.workflow = rows.string(row, 4);
    if (!rows.is_null(row, 5)) request.key = rows.string(row, 5);
    request.event = rows.string(row, 6);
    request.body = rows.string(row, 7);
    request.target = rows.string(row, 8);
    request.reason = rows.string(row, 9);
    request.submitter = rows.string(row, 10);
    request.is_cancelled = rows.is_true(row, 11);
    request.target_state = rows.string(row, 12);
    if (rows.columns() > 14)
      request.submitter_oid = static_cast<std::uint32_t>(rows.number(row, 14));
  }
  return requests;
}

const char* name_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kAccepted: return "accepted";
    case Outcome::kRefused: return "refused";
    case Outcome::kCancelled: return "cancelled";
    case Outcome::kIgnored: return "ignored";
    case Outcome::kLeft: break;
  }
  return "";
}

}  // namespace holdfast::postgres
