// SPDX-License-Identifier: Apache-2.0
// Programs out of what stands in ticks and blobs: definitions, or a patch of those that run.
#include <utility>

#include "defs/builtin.h"
#include "defs/patch.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

Refused refused(std::string message, const codec::Errors& errors) {
  Refused refusal{base::ErrorCode::kInvalid, std::move(message)};
  for (const base::Error& error : errors) refusal.details.push_back(error.to_string());
  return refusal;
}

// The document as a value, which the normaliser holds. Nothing: `refusal` says why.
std::optional<codec::View> read(codec::Normaliser& normaliser, base::ByteView document,
                                std::string_view what, Refused& refusal) {
  const auto value =
      normaliser.from_cbor(codec::Schema::any(), document, codec::Strictness::kLenient);
  if (value) return codec::View::of(*value);
  refusal = {base::ErrorCode::kInvalid, std::string(what) + ": " + value.error().to_string()};
  return std::nullopt;
}

std::shared_ptr<const Program> build_as(const WorldState& world, const defs::Bundle& bundle,
                                        Program::BuildOptions options, Refused& refusal) {
  if (!bundle.errors.empty()) {
    refusal = refused("the definitions are not good", bundle.errors);
    return nullptr;
  }
  codec::Errors errors;
  auto program = Program::build(bundle, world.machines, world.origin, errors, options);
  if (program == nullptr) refusal = refused("the definitions cannot be run here", errors);
  return program;
}

// What was applied is applied again on replay, whatever code is here.
std::shared_ptr<const Program> build(const WorldState& world, const defs::Bundle& bundle, bool pin,
                                     Refused& refusal) {
  const auto numbers = numbers_to_keep(world);
  const std::vector<Pin> pins = versions_to_keep(world, pin);
  return build_as(world, bundle, {numbers ? &*numbers : nullptr, world.replaying, &pins}, refusal);
}

}  // namespace

std::shared_ptr<const Program> load_program(const WorldState& world, base::ByteView definitions,
                                            bool pin, Refused& refusal) {
  codec::Normaliser normaliser;
  const auto document = read(normaliser, definitions, "the definitions", refusal);
  if (!document) return nullptr;
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  return build(world, defs::load(*document, "$", &builtin), pin, refusal);
}

std::shared_ptr<const Program> load_program_again(const WorldState& world,
                                                  base::ByteView definitions,
                                                  const Numbering* numbering,
                                                  const std::vector<Pin>& pins, Refused& refusal) {
  codec::Normaliser normaliser;
  const auto document = read(normaliser, definitions, "the definitions", refusal);
  if (!document) return nullptr;
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  return build_as(world, defs::load(*document, "$", &builtin), {numbering, true, &pins}, refusal);
}

std::shared_ptr<const Program> load_candidate(const WorldState& world, base::ByteView proposal,
                                              Refused& refusal) {
  codec::Normaliser normaliser;
  const auto document = read(normaliser, proposal, "the proposal", refusal);
  if (!document) return nullptr;
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  if (document->kind() == codec::ViewKind::kList)
    return build(world, defs::load(*document, "$", &builtin), false, refusal);
  if (world.program->closure().empty()) {
    refusal = {base::ErrorCode::kConflict, "there is no manifest to patch"};
    return nullptr;
  }
  const defs::Bundle present = defs::load(codec::View::of(world.program->closure()), "$", &builtin);
  return build(world, defs::apply_patch(present, *document, &builtin), false, refusal);
}

}  // namespace holdfast::kernel
