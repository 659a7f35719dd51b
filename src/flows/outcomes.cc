// SPDX-License-Identifier: Apache-2.0
#include "flows/outcomes.h"

#include "codec/cbor_writer.h"

namespace holdfast::flows {
namespace {

using codec::View;

// At the end of a character.
std::string cut_message(std::string_view text) {
  if (text.size() <= kMaxMessageBytes) return std::string(text);
  std::size_t end = kMaxMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

// A value stands some levels deep in the state, and all of it may have 64.
constexpr std::size_t kMaxValueDepth = 40;

bool is_deeper_than(View value, std::size_t levels) {
  if (value.kind() != codec::ViewKind::kList && value.kind() != codec::ViewKind::kMap) return false;
  if (levels == 0) return true;
  for (const View each : value.elements())
    if (is_deeper_than(each, levels - 1)) return true;
  for (const auto [key, each] : value.entries())
    if (is_deeper_than(each, levels - 1)) return true;
  return false;
}

}  // namespace

Outcome succeeded(base::Bytes value) {
  if (is_deeper_than(View::of(value), kMaxValueDepth))
    return failed("flow.too_deep",
                  "a value is nested more than " + std::to_string(kMaxValueDepth) + " levels deep");
  return {Outcome::Kind::kOk, std::move(value), {}, {}};
}
Outcome succeeded_with_null() { return succeeded(null_value()); }
Outcome failed(std::string code, std::string_view message) {
  return {Outcome::Kind::kFailed, {}, std::move(code), cut_message(message)};
}

Outcome failed_with(const kernel::Mail& mail) {
  if (mail.kind == kernel::MailKind::kRejected) return failed(std::string(mail.fault()), mail.note);
  const View value = View::of(mail.value);
  const auto code = value.find("code");
  const auto message = value.find("message");
  return failed(std::string(code ? code->text().value_or("") : "flow.effect_failed"),
                message ? message->text().value_or("") : "");
}

base::Bytes null_value() { return {codec::kNullByte}; }

base::Bytes empty_list() {
  codec::Buffer out;
  codec::write_list_head(out, 0);
  return out.to_bytes();
}

// Fields of maps stand in canonical order: shorter names first.
base::Bytes signal_value(std::string_view name, base::ByteView data, bool timed_out) {
  codec::Buffer out;
  codec::write_map_head(out, 3);
  codec::write_text(out, "data");
  if (data.empty()) {
    codec::write_null(out);
  } else {
    out.append(data);
  }
  codec::write_text(out, "name");
  codec::write_text(out, name);
  codec::write_text(out, "timed_out");
  codec::write_bool(out, timed_out);
  return out.to_bytes();
}

base::Bytes error_value(const Outcome& failed) {
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "code");
  codec::write_text(out, failed.code);
  codec::write_text(out, "message");
  codec::write_text(out, failed.message);
  return out.to_bytes();
}

void write_result(kernel::StepOutput& output, Run& run, base::ByteView value) {
  run.program.clear();
  run.part = {};
  run.signals.clear();
  output.begin_state();
  write_run(output.bytes(), run);
  output.begin_result();
  output.bytes().append(value);
}

bool opens_effects(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::kSql:
    case NodeKind::kSleep:
    case NodeKind::kSchedule:
    case NodeKind::kSignal:
    case NodeKind::kHttp:
    case NodeKind::kTask:
    case NodeKind::kRetry:
    case NodeKind::kTimeout:
    case NodeKind::kLoop: return true;
    default: return false;
  }
}

}  // namespace holdfast::flows
