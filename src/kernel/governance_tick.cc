// SPDX-License-Identifier: Apache-2.0
// Proposals: made, tried, decided, applied, each step a tick of its own, so that the journal says
// who wanted what, what was known of it, and who agreed.
//
//   proposed -> shadowed -> approved -> applied
//   any of the first three -> rejected
#include <algorithm>
#include <array>
#include <utility>

#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

std::string_view name_of(Stage stage) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"proposed", "shadowed", "approved", "rejected",
                                                   "applied"};
  return kNames[static_cast<std::size_t>(stage)];
}

bool is_decided(Stage stage) noexcept {
  return stage == Stage::kRejected || stage == Stage::kApplied;
}

// The oldest that nobody can change any more: it goes when there must be room for one more.
auto oldest_decided(const std::map<std::uint64_t, Proposal>& proposals) {
  return std::find_if(proposals.begin(), proposals.end(),
                      [](const auto& proposal) { return is_decided(proposal.second.stage); });
}

Refused unknown(std::uint64_t proposal) {
  return {base::ErrorCode::kNotFound, "there is no proposal " + std::to_string(proposal)};
}

// What would have to be done before; empty: it is too late for that.
Refused wrong_stage(Stage stage, std::string_view missing = {}) {
  std::string why = "the proposal is " + std::string(name_of(stage));
  if (!missing.empty()) why.append(": ").append(missing);
  return {base::ErrorCode::kConflict, std::move(why)};
}

std::string_view missing_for_application(Stage stage) noexcept {
  if (stage == Stage::kProposed) return "it must be tried and approved before";
  return stage == Stage::kShadowed ? "it must be approved before" : "";
}

}  // namespace

Answer reduce_propose(WorldState& world, const Propose& propose) {
  if (!is_text(propose.description, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the description is too long, or not UTF-8"};
  if (const auto refused = check_by(propose.by)) return *refused;
  Refused refusal;
  const auto candidate = load_candidate(world, propose.document, refusal);
  if (candidate == nullptr) return refusal;
  const bool is_full = world.proposals.size() >= kMaxProposals;
  const auto oldest = oldest_decided(world.proposals);
  if (is_full && oldest == world.proposals.end())
    return Refused{base::ErrorCode::kUnavailable, "too many proposals are undecided"};
  auto definitions = world.blobs.put(candidate->closure());
  if (!definitions) return could_not_keep(world, std::move(definitions).error());
  if (is_full) world.proposals.erase(oldest);
  Proposal proposal;
  proposal.base = world.program->manifest_hash();
  proposal.manifest = candidate->manifest_hash();
  proposal.definitions = *definitions;
  proposal.description = propose.description;
  note(world, "proposal.made", {proposal.manifest.to_text()});
  if (!world.proposals.emplace(world.next_record, std::move(proposal)).second)
    contradiction(world, "a proposal has the number of this record");
  return Accepted{};
}

Answer reduce_shadow(WorldState& world, const ReportShadow& shadow) {
  if (const auto refused = check_by(shadow.by)) return *refused;
  const auto found = world.proposals.find(shadow.proposal);
  if (found == world.proposals.end()) return unknown(shadow.proposal);
  Proposal& proposal = found->second;
  if (proposal.stage != Stage::kProposed && proposal.stage != Stage::kShadowed)
    return wrong_stage(proposal.stage);
  if (shadow.report.size() > kMaxReportBytes)
    return Refused{base::ErrorCode::kTooLarge, "the report is more than 1 MiB"};
  const auto report =
      world.normaliser.from_cbor(codec::Schema::any(), shadow.report, codec::Strictness::kLenient);
  if (!report)
    return Refused{base::ErrorCode::kInvalid, "the report: " + report.error().to_string()};
  proposal.report.assign(report->begin(), report->end());
  proposal.stage = Stage::kShadowed;
  return Accepted{};
}

Answer reduce_decide(WorldState& world, const Decide& decide) {
  if (!is_text(decide.by, kMaxReferenceBytes) || !is_text(decide.reason, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the name or reason is too long, or not UTF-8"};
  const auto found = world.proposals.find(decide.proposal);
  if (found == world.proposals.end()) return unknown(decide.proposal);
  Proposal& proposal = found->second;
  const bool possible =
      decide.approve ? proposal.stage == Stage::kShadowed : !is_decided(proposal.stage);
  if (!possible) {
    const bool is_untried = proposal.stage == Stage::kProposed;
    return wrong_stage(proposal.stage, is_untried ? "it must be tried before" : "");
  }
  proposal.stage = decide.approve ? Stage::kApproved : Stage::kRejected;
  proposal.by = decide.by;
  proposal.reason = decide.reason;
  return Accepted{};
}

Answer reduce_apply_proposal(WorldState& world, const ApplyProposal& apply) {
  if (const auto refused = check_by(apply.by)) return *refused;
  const auto found = world.proposals.find(apply.proposal);
  if (found == world.proposals.end()) return unknown(apply.proposal);
  Proposal& proposal = found->second;
  if (proposal.stage != Stage::kApproved)
    return wrong_stage(proposal.stage, missing_for_application(proposal.stage));
  if (proposal.base != world.program->manifest_hash())
    return Refused{base::ErrorCode::kConflict, "another manifest was applied since it was made"};
  auto definitions = world.blobs.get(proposal.definitions);
  if (!definitions) return could_not_keep(world, std::move(definitions).error());
  Refused refusal;
  auto program = load_program(world, *definitions, false, refusal);
  if (program == nullptr) return refusal;
  Answer answer = replace_program(world, std::move(program), {});
  if (std::holds_alternative<Accepted>(answer)) proposal.stage = Stage::kApplied;
  return answer;
}

std::vector<ProposalView> World::proposals() const {
  std::vector<ProposalView> views;
  for (const auto& [id, proposal] : state_->proposals) {
    views.push_back({id, name_of(proposal.stage), proposal.base, proposal.manifest,
                     proposal.description, proposal.report, proposal.by, proposal.reason});
  }
  return views;
}

base::Result<base::Bytes> World::proposed_definitions(std::uint64_t proposal) const {
  const auto found = state_->proposals.find(proposal);
  if (found == state_->proposals.end())
    return base::Error(base::ErrorCode::kNotFound, unknown(proposal).message);
  return state_->blobs.get(found->second.definitions);
}

}  // namespace holdfast::kernel
