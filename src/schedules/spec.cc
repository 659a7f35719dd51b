// SPDX-License-Identifier: Apache-2.0
#include "schedules/spec.h"

#include <array>
#include <utility>

#include "base/base64.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/time_text.h"
#include "codec/well_formed.h"
#include "kernel/list_reader.h"

namespace holdfast::schedules {
namespace {

using codec::View;

constexpr std::uint64_t kSpecVersion = 1;
constexpr std::size_t kMostKeyText = 400;
constexpr std::size_t kMostValueBytes = 64 * 1024;
constexpr std::array<std::string_view, 4> kOverlapNames{"skip", "queue", "allow", "cancel"};
constexpr std::array<std::string_view, 3> kCatchUpNames{"none", "latest", "all"};

template <class Enum, std::size_t Size>
std::optional<Enum> choice_named(const std::array<std::string_view, Size>& names,
                                 std::string_view name) {
  for (std::size_t i = 0; i < Size; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

constexpr int kMostDepth = 64;  // of a value (codec/limits.h)

void fill_item(View value, const Placeholders& with, int depth, codec::Buffer& out) {
  const codec::ViewKind kind = value.kind();
  if (kind == codec::ViewKind::kText) return codec::write_text(out, fill_text(*value.text(), with));
  if (kind == codec::ViewKind::kList && depth < kMostDepth) {
    codec::write_list_head(out, value.size());
    for (const View each : value.elements()) fill_item(each, with, depth + 1, out);
  } else if (kind == codec::ViewKind::kMap && depth < kMostDepth) {
    codec::write_map_head(out, value.size());
    for (const auto& [key, item] : value.entries()) {
      out.append(key.encoded());
      fill_item(item, with, depth + 1, out);
    }
  } else {
    out.append(value.encoded());
  }
}

// The schema of the whole spec knows no bytes, and the value may have some: it stands as base64.
std::string value_text(base::ByteView value) {
  std::string text;
  base::base64_encode_append(value, text);
  return text;
}

// Nothing: it is not one CBOR item.
std::optional<base::Bytes> value_in_text(std::string_view text) {
  base::Bytes tagged{0xD9, 0xD9, 0xF7};
  if (!base::base64_decode_append(text, tagged) || !codec::is_well_formed(tagged))
    return std::nullopt;
  return base::Bytes(tagged.begin() + 3, tagged.end());
}

}  // namespace

std::string_view name_of(Overlap overlap) noexcept {
  return kOverlapNames[static_cast<std::size_t>(overlap)];
}
std::string_view name_of(CatchUp catch_up) noexcept {
  return kCatchUpNames[static_cast<std::size_t>(catch_up)];
}
std::optional<Overlap> overlap_named(std::string_view name) noexcept {
  return choice_named<Overlap>(kOverlapNames, name);
}
std::optional<CatchUp> catch_up_named(std::string_view name) noexcept {
  return choice_named<CatchUp>(kCatchUpNames, name);
}

void write_spec(codec::Buffer& out, const Spec& spec) {
  codec::write_list_head(out, 10);
  codec::write_nat(out, kSpecVersion);
  write_rule(out, spec.rule);
  codec::write_text(out, spec.workflow);
  codec::write_text(out, spec.event);
  codec::write_text(out, value_text(spec.value));
  codec::write_text(out, spec.key);
  codec::write_nat(out, static_cast<std::uint64_t>(spec.overlap));
  codec::write_nat(out, static_cast<std::uint64_t>(spec.catch_up));
  codec::write_nat(out, spec.window_ns);
  codec::write_nat(out, spec.jitter_ns);
}

std::optional<Spec> read_spec(View value) {
  kernel::ListReader list(value);
  list.require(list.nat() == kSpecVersion);
  auto rule = read_rule(list.next());
  if (!rule) return std::nullopt;
  Spec spec;
  spec.rule = std::move(*rule);
  spec.workflow = list.text();
  spec.event = list.text();
  auto event_value = value_in_text(list.text());
  if (!event_value) return std::nullopt;
  spec.value = std::move(*event_value);
  spec.key = list.text();
  spec.overlap = list.choice(Overlap::kCancel);
  spec.catch_up = list.choice(CatchUp::kAll);
  spec.window_ns = list.nat();
  spec.jitter_ns = list.nat();
  if (!list.done() || !check(spec)) return std::nullopt;
  return spec;
}

base::Result<void> check(const Spec& spec) {
  TRY(check(spec.rule));
  if (spec.workflow.empty()) return base::invalid("workflow", "a schedule needs a workflow");
  if (spec.event.empty()) return base::invalid("event", "a schedule needs an event");
  if (spec.value.empty()) return base::invalid("value", "a schedule needs a value");
  if (spec.value.size() > kMostValueBytes)
    return base::Error(base::ErrorCode::kTooLarge, "value", "it is larger than 64 KiB");
  if (spec.key.empty() || spec.key.size() > kMostKeyText)
    return base::invalid("key", "it has 1 to 400 characters");
  const bool repeats = spec.rule.at_ns == 0;
  if (repeats && spec.key.find("{due}") == std::string::npos)
    return base::invalid("key", "it needs {due}: each due time starts an instance of its own");
  if (spec.window_ns > kLongestNs)
    return base::invalid("catch_up_window", "it is at most 100 years");
  if (spec.jitter_ns > 24ULL * 3600 * kSecondNs)
    return base::invalid("jitter", "it is at most a day");
  return {};
}

std::optional<std::string> name_problem(std::string_view name) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  bool is_good = !name.empty() && name.size() <= 100 && is_letter_or_digit(name.front());
  for (const char c : name) is_good &= is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
  if (is_good) return std::nullopt;
  return "the name of a schedule has 1 to 100 letters, digits and '.-_', and begins with a letter "
         "or digit";
}

std::string due_text(std::uint64_t due_ns) {
  std::string text = codec::time_text(due_ns);  // to the millisecond
  text.resize(text.size() - 5);                 // ".000Z"
  if (const std::uint64_t fraction = due_ns % kSecondNs; fraction != 0) {
    const std::string digits = std::to_string(fraction);
    text += '.' + std::string(9 - digits.size(), '0') + digits;
  }
  return text + 'Z';
}

std::string fill_text(std::string_view text, const Placeholders& with) {
  std::string filled;
  while (!text.empty()) {
    if (text.starts_with("{schedule}")) {
      filled += with.schedule;
      text.remove_prefix(10);
    } else if (text.starts_with("{due}")) {
      filled += with.due;
      text.remove_prefix(5);
    } else if (text.starts_with("{key}") && !with.key.empty()) {
      filled += with.key;
      text.remove_prefix(5);
    } else {
      filled += text.front();
      text.remove_prefix(1);
    }
  }
  return filled;
}

void fill_value(View value, const Placeholders& with, codec::Buffer& out) {
  fill_item(value, with, 0, out);
}

Start start_of(const Spec& spec, std::string_view schedule, std::uint64_t due_ns) {
  Placeholders with{schedule, due_text(due_ns), {}};
  Start start;
  start.key = fill_text(spec.key, with);
  with.key = start.key;
  codec::Buffer value;
  fill_value(View::of(spec.value), with, value);
  start.value = value.to_bytes();
  return start;
}

std::uint64_t delay_of(const Spec& spec, std::string_view schedule, std::uint64_t due_ns) {
  if (spec.jitter_ns == 0) return 0;
  const std::string text = std::string(schedule) + ' ' + std::to_string(due_ns);
  const base::Hash hash = base::sha256(base::as_bytes(text));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | hash.bytes[i];
  return number % (spec.jitter_ns + 1);
}

}  // namespace holdfast::schedules
