// SPDX-License-Identifier: Apache-2.0
// Other definitions for the world: /v1/manifest and /v1/proposals.
#include <charconv>
#include <utility>

#include "codec/view.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/proposal_path.h"

namespace holdfast::gateway {
namespace {

void answer_checked(Exchange& exchange, const Result<Applied>& checked) {
  if (!checked) return exchange.refuse(checked.error());
  put_applied(exchange.document(), *checked);
  exchange.answer(200);
}

void answer_applied(Exchange& exchange, const Result<Applied>& applied) {
  if (!applied) return exchange.refuse(applied.error());
  if (applied->blocking_count == 0) return answer_checked(exchange, applied);
  Problem problem{ProblemCode::kConflict, describe(*applied)};
  codec::Buffer blocking;
  put_blocking(blocking, *applied);
  problem.blocking = blocking.to_bytes();
  exchange.refuse(problem);
}

void answer_record(Exchange& exchange, const Result<std::uint64_t>& record) {
  if (!record) return exchange.refuse(record.error());
  codec::write_map_head(exchange.document(), 1);
  put_number(exchange.document(), "record", *record);
  exchange.answer(200);
}

void put_proposal(codec::Buffer& out, const ProposalInfo& proposal) {
  codec::write_map_head(out, 8);
  put_number(out, "proposal", proposal.id);
  put(out, "stage", proposal.stage);
  put(out, "base", to_text(proposal.base));
  put(out, "manifest", to_text(proposal.manifest));
  put(out, "description", proposal.description);
  codec::write_text(out, "report");
  if (proposal.report.empty()) {
    codec::write_null(out);
  } else {
    out.append(codec::View::of(proposal.report).encoded());
  }
  put(out, "by", proposal.by);
  put(out, "reason", proposal.reason);
}

void rehearse_manifest(Exchange& exchange, Bytes definitions, RehearseOptions options) {
  Engine& engine = exchange.service().engine;
  exchange.look_back(
      [&engine, definitions = std::move(definitions),
       options = std::move(options)](std::function<bool()> stopped) -> Result<Rehearsed> {
        RehearseOptions limited = options;
        limited.stopped = std::move(stopped);
        return engine.rehearse_raw(definitions, limited);
      },
      [](Exchange& self, const Result<Rehearsed>& rehearsed) {
        if (!rehearsed) return self.refuse(rehearsed.error());
        put_rehearsed(self.document(), *rehearsed);
        self.answer(200);
      });
}

// Who decides: the name of the token, or what somebody says who needs none.
std::optional<std::string> decider(Exchange& exchange, const Envelope& body) {
  auto said = text_in(exchange, body, "by");
  if (!said) return std::nullopt;
  const std::string name = exchange.caller().name;
  if (name.empty()) return said->empty() ? "somebody on this machine" : std::move(*said);
  if (said->empty() || *said == name) return name;
  refuse_body(exchange, base::invalid("$.by", "the token says who it is"));
  return std::nullopt;
}

void decide(Exchange& exchange, bool approve) {
  const auto proposal = proposal_in_path(exchange);
  if (!proposal) return;
  const auto body = read_body(exchange, {"reason", "by"});
  if (!body) return;
  auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  auto by = decider(exchange, *body);
  if (!by) return;
  exchange.service().engine.decide_raw({.proposal = *proposal,
                                        .approve = approve,
                                        .by = std::move(*by),
                                        .reason = std::move(*reason)},
                                       exchange.later<std::uint64_t>(answer_record));
}

}  // namespace

std::optional<std::uint64_t> proposal_in_path(Exchange& exchange) {
  const std::string& text = exchange.path_value(0);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return number;
  exchange.refuse({ProblemCode::kNotFound, "a proposal is named by a number"});
  return std::nullopt;
}

void post_manifest(Exchange& exchange) {
  const auto check = exchange.number_in_query("check", 0, 1);
  if (!check) return;
  const auto strict = exchange.number_in_query("strict", 0, 1);
  if (!strict) return;
  const auto pin = exchange.number_in_query("pin", 0, 1);
  if (!pin) return;
  const auto rehearse = exchange.number_in_query("rehearse", 0, 1);
  if (!rehearse) return;
  const auto migrate = exchange.number_in_query("migrate", 0, 1);
  if (!migrate) return;
  if (*migrate == 1 && *rehearse == 0)
    return exchange.refuse({ProblemCode::kBadTarget, "migrate is for rehearse=1"});
  const auto body = read_body(exchange, {"definitions"});
  if (!body) return;
  auto definitions = needed_any(exchange, *body, "definitions");
  if (!definitions) return;
  Engine& engine = exchange.service().engine;
  if (*rehearse == 1) {
    return rehearse_manifest(exchange, std::move(*definitions),
                             {.strict = *strict == 1, .pin = *pin == 1, .migrate = *migrate == 1});
  }
  if (*check == 1) {
    return engine.apply_raw(std::move(*definitions), {ApplyMode::kCheck, *strict == 1, *pin == 1},
                            exchange.later<Applied>(answer_checked));
  }
  engine.apply_raw(std::move(*definitions), {ApplyMode::kApply, *strict == 1, *pin == 1},
                   exchange.later<Applied>(answer_applied), exchange.asked_by());
}

void get_proposals(Exchange& exchange) {
  using Proposals = std::vector<ProposalInfo>;
  exchange.service().engine.proposals_raw(
      exchange.later<Proposals>([](Exchange& self, const Result<Proposals>& proposals) {
        if (!proposals) return self.refuse(proposals.error());
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 1);
        codec::write_text(out, "proposals");
        codec::write_list_head(out, proposals->size());
        for (const ProposalInfo& proposal : *proposals) put_proposal(out, proposal);
        self.answer(200);
      }));
}

void post_proposal(Exchange& exchange) {
  const auto body = read_body(exchange, {"definitions", "patch", "description"});
  if (!body) return;
  const auto description = text_in(exchange, *body, "description");
  if (!description) return;
  const bool is_patch = body->find("patch").has_value();
  if (is_patch && body->find("definitions"))
    return refuse_body(exchange, base::invalid("$.patch", "there are definitions, too"));
  auto document = needed_any(exchange, *body, is_patch ? "patch" : "definitions");
  if (!document) return;
  exchange.service().engine.propose_raw(
      std::move(*document), *description,
      exchange.later<std::uint64_t>([](Exchange& self, const Result<std::uint64_t>& record) {
        if (!record) return self.refuse(record.error());
        codec::write_map_head(self.document(), 1);
        put_number(self.document(), "proposal", *record);
        self.answer(201);
      }),
      exchange.asked_by());
}

void approve_proposal(Exchange& exchange) { decide(exchange, true); }
void reject_proposal(Exchange& exchange) { decide(exchange, false); }

void apply_proposal(Exchange& exchange) {
  const auto proposal = proposal_in_path(exchange);
  if (!proposal) return;
  if (!read_body(exchange, {})) return;
  exchange.service().engine.apply_proposal_raw(*proposal, exchange.later<Applied>(answer_applied),
                                               exchange.asked_by());
}

}  // namespace holdfast::gateway
