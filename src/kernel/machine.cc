// SPDX-License-Identifier: Apache-2.0
#include "kernel/machine.h"

#include <utility>

#include "base/copy.h"
#include "base/sha256.h"

namespace holdfast::kernel {

void StepOutput::clear() {
  fate_ = Fate::kGoesOn;
  state_.reset();
  parts_.clear();
  annotations_.clear();
  result_.reset();
  events_.clear();
  effects_.clear();
  stops_.clear();
  asked_.clear();
  error_code_.clear();
  error_message_.clear();
  bytes_.clear();
  texts_.clear();
  dropped_ = 0;
  gave_up_ = false;
  has_thrown_ = false;
  holds_ = uses_rules_2_ = is_unhandled_ = false;
  last_ = Last::kNone;
}

// A value ends where the next one begins.
void StepOutput::finish() {
  switch (std::exchange(last_, Last::kNone)) {
    case Last::kNone: return;
    case Last::kState: state_->end = bytes_.size(); return;
    case Last::kAnnotation: annotations_.back().end = bytes_.size(); return;
    case Last::kResult: result_->end = bytes_.size(); return;
    case Last::kEvent: events_.back().value.end = bytes_.size(); return;
    case Last::kEffect: effects_.back().value.end = bytes_.size(); return;
  }
}

void StepOutput::begin_state() {
  finish();
  drop(state_);
  state_ = {bytes_.size(), bytes_.size()};
  last_ = Last::kState;
}

void StepOutput::begin_part() {
  finish();
  part_begins_ = bytes_.size();
}

base::Hash StepOutput::end_part() {
  const Slice bytes{part_begins_, bytes_.size()};
  return parts_.emplace_back(Part{base::sha256(value(bytes)), bytes}).hash;
}

void StepOutput::begin_annotation() {
  finish();
  annotations_.push_back({bytes_.size(), bytes_.size()});
  last_ = Last::kAnnotation;
}

void StepOutput::begin_result() {
  finish();
  fate_ = Fate::kCompleted;
  drop(result_);
  result_ = {bytes_.size(), bytes_.size()};
  last_ = Last::kResult;
}

void StepOutput::begin_event(std::string_view schema) {
  finish();
  events_.push_back({std::string(schema), {bytes_.size(), bytes_.size()}});
  last_ = Last::kEvent;
}

void StepOutput::begin_effect(std::string_view name, std::string_view requested_key,
                              std::string_view issuer_ref) {
  finish();
  effects_.push_back({{bytes_.size(), bytes_.size()},
                      add_text(name),
                      add_text(requested_key),
                      add_text(issuer_ref)});
  last_ = Last::kEffect;
}

void StepOutput::drop_effects() {
  finish();
  for (const Effect& effect : effects_) drop(effect.value);
  effects_.clear();
}

void StepOutput::drop(const std::optional<Slice>& slice) {
  if (slice) dropped_ += slice->end - slice->begin;
}

void StepOutput::threw(std::string what) {
  clear();
  fail({}, std::move(what));
  has_thrown_ = true;
}

void StepOutput::remove() { fate_ = Fate::kDeleted; }

void StepOutput::fail(std::string code, std::string message) {
  fate_ = Fate::kFailed;
  error_code_ = std::move(code);
  error_message_ = std::move(message);
}

StepOutput::Slice StepOutput::add_text(std::string_view text) {
  const std::size_t begin = texts_.size();
  if (text.empty()) return {begin, begin};
  base::copy_bytes(texts_.room(text.size()), text.data(), text.size());
  texts_.advance(text.size());
  return {begin, texts_.size()};
}

std::optional<base::ByteView> StepOutput::optional_value(const std::optional<Slice>& slice) const {
  if (!slice) return std::nullopt;
  return value(*slice);
}

}  // namespace holdfast::kernel
