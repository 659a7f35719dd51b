// SPDX-License-Identifier: Apache-2.0
// What a turn asks of the outside, and what becomes of the answers.
#include <algorithm>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "defs/system_names.h"
#include "flows/outcomes.h"
#include "flows/task_node.h"
#include "flows/turn.h"
#include "flows/values.h"

namespace holdfast::flows {
namespace {

using codec::View;

constexpr std::uint64_t kMsNs = 1'000'000;
constexpr std::uint64_t kRoundPauseMs = 1'000;
constexpr std::uint64_t kLongestPauseMs = std::uint64_t{24} * 3600 * 1000;

std::uint64_t pause_ms(const Node& node, std::uint64_t failures) {
  std::uint64_t pause = node.ms;
  for (std::uint64_t i = 1; i < failures && pause < kLongestPauseMs; ++i) pause *= 2;
  return std::min(pause, kLongestPauseMs);
}

std::string_view text_of(View map, std::string_view field) {
  const auto found = map.find(field);
  return found ? found->text().value_or("") : "";
}

// The time zone is the database's affair, and so is what follows from it.
std::string schedule_query(const Node& node, std::uint64_t now_ns) {
  return "SELECT holdfast.next_schedule(" + quote_literal(node.text) + ", " +
         quote_literal(node.zone) + ", " + std::to_string(now_ns / kMsNs) + ")";
}

}  // namespace

base::Result<std::string> Turn::filled(FrameId id, std::string_view text, Quoting quoting) const {
  return substitute(
      text, quoting,
      [&](std::string_view name) -> std::optional<std::string_view> {
        if (name == "instance_id") return View::of(input_.context.key()).text();
        for (const auto& [known, value] : program_.variables)
          if (known == name) return value;
        return std::nullopt;
      },
      [&](std::string_view name) { return find_result(id, name); });
}

void Turn::open(FrameId id) {
  const auto found = run_.frames.find(id);
  if (found == run_.frames.end()) return;
  Frame& frame = found->second;
  const Node& node = node_of(frame);
  switch (node.kind) {
    case NodeKind::kSql: {
      const auto query = filled(id, node.text, Quoting::kSql);
      if (!query) return end(id, failed("flow.substitution", query.error().to_string()));
      return open_sql(id, program_.path, *query);
    }
    case NodeKind::kSchedule:
      if (frame.phase == 0) return open_sql(id, "pg_catalog", schedule_query(node, now_ns()));
      return open_timer(id, frame.count * kMsNs);
    case NodeKind::kRetry: return open_timer(id, now_ns() + pause_ms(node, frame.count) * kMsNs);
    case NodeKind::kLoop: return open_timer(id, now_ns() + kRoundPauseMs * kMsNs);
    case NodeKind::kHttp: return open_http(id, node);
    case NodeKind::kTask: return open_task(id, node);
    default: return open_timer(id, now_ns() + node.ms * kMsNs);
  }
}

void Turn::begin_effect(FrameId id, std::string_view effect) {
  ++effects_;
  ++run_.opened;
  output_.begin_effect(effect, {}, std::to_string(id));
}

void Turn::open_timer(FrameId id, std::uint64_t at_ns) {
  begin_effect(id, defs::kTimerSet);
  codec::Buffer& out = output_.bytes();
  codec::write_map_head(out, 2);
  codec::write_text(out, "key");
  codec::write_null(out);
  codec::write_text(out, "deliver_at_ns");
  codec::write_nat(out, at_ns);
}

void Turn::open_sql(FrameId id, std::string_view path, std::string_view query) {
  begin_effect(id, defs::kSqlRun);
  codec::Buffer& out = output_.bytes();
  codec::write_map_head(out, 4);
  codec::write_text(out, "flow");
  out.append(input_.context.key());
  codec::write_text(out, "path");
  codec::write_text(out, path);
  codec::write_text(out, "role");
  codec::write_nat(out, run_.role);
  codec::write_text(out, "query");
  codec::write_text(out, query);
}

void Turn::open_http(FrameId id, const Node& node) {
  const View request = View::of(node.value);
  const auto url = filled(id, text_of(request, "url"), Quoting::kRaw);
  if (!url) return end(id, failed("flow.substitution", url.error().to_string()));
  const auto body = filled(id, text_of(request, "body"), Quoting::kRaw);
  if (!body) return end(id, failed("flow.substitution", body.error().to_string()));
  std::vector<std::pair<std::string_view, std::string>> headers;
  if (const auto given = request.find("headers")) {
    for (const auto [name, value] : given->entries()) {
      auto text = filled(id, value.text().value_or(""), Quoting::kRaw);
      if (!text) return end(id, failed("flow.substitution", text.error().to_string()));
      headers.emplace_back(name.text().value_or(""), std::move(*text));
    }
  }
  begin_effect(id, defs::kHttpRequest);
  codec::Buffer& out = output_.bytes();
  const auto literal = [&](const std::string& text, bool as_bytes) {
    codec::write_map_head(out, 2);
    codec::write_text(out, "$tag");
    codec::write_text(out, "literal");
    codec::write_text(out, "$value");
    if (as_bytes) return codec::write_bytes(out, base::as_bytes(text));
    codec::write_text(out, text);
  };
  codec::write_map_head(out, 6);
  codec::write_text(out, "url");
  codec::write_text(out, *url);
  codec::write_text(out, "body");
  if (body->empty()) {
    codec::write_null(out);
  } else {
    literal(*body, true);
  }
  codec::write_text(out, "method");
  codec::write_text(out, text_of(request, "method"));
  codec::write_text(out, "headers");
  codec::write_map_head(out, headers.size());
  for (const auto& [name, value] : headers) {
    codec::write_text(out, name);
    literal(value, false);
  }
  codec::write_text(out, "timeout_ns");
  if (node.ms == 0) {
    codec::write_null(out);
  } else {
    codec::write_nat(out, node.ms * kMsNs);
  }
  codec::write_text(out, "max_response_bytes");
  codec::write_nat(out, std::uint64_t{256} << 10);
}

void Turn::open_task(FrameId id, const Node& node) {
  const auto params = task_params(
      View::of(node.value), [&](std::string_view text) { return filled(id, text, Quoting::kRaw); },
      View::of(input_.context.key()).text().value_or(""), id);
  if (!params) return end(id, failed("flow.task", params.error().to_string()));
  begin_effect(id, defs::kTaskRun);
  output_.bytes().append(*params);
}

void Turn::take_answer(const kernel::Mail& mail) {
  std::uint64_t number = 0;
  for (const char c : mail.origin.issuer_ref) {
    if (c < '0' || c > '9' || number > UINT32_MAX) return;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  const auto found = run_.frames.find(static_cast<FrameId>(number));
  if (found != run_.frames.end()) answered(found->first, found->second, mail);
}

void Turn::answered(FrameId id, Frame& frame, const kernel::Mail& mail) {
  const Node& node = node_of(frame);
  if (mail.kind != kernel::MailKind::kReceipt || mail.status != kernel::ReceiptStatus::kOk)
    return end(id, failed_with(mail));
  const View value = View::of(mail.value);
  const auto encoded = [&](std::string_view field) {
    const auto found = value.find(field);
    const base::ByteView bytes = found ? found->encoded() : base::ByteView();
    return bytes.empty() ? null_value() : base::Bytes(bytes.begin(), bytes.end());
  };
  switch (node.kind) {
    case NodeKind::kSql:
    case NodeKind::kTask: return end(id, succeeded(encoded("result")));
    case NodeKind::kSleep: return end(id, succeeded_with_null());
    case NodeKind::kSchedule: {
      if (frame.phase != 0) return end(id, succeeded_with_null());
      const base::Bytes result = encoded("result");
      const auto at =
          is_rowset(View::of(result)) ? first_row_column(View::of(result)) : std::nullopt;
      const auto ms = at ? at->nat() : std::nullopt;
      if (!ms || *ms > UINT64_MAX / kMsNs)
        return end(id, failed("flow.schedule", "the schedule has no next time"));
      frame.phase = 1;
      frame.count = *ms;
      run_.unopened.push_back(id);
      return;
    }
    case NodeKind::kSignal: return end(id, succeeded(signal_value(node.name, {}, true)));
    case NodeKind::kRetry: return enter_child(id, 0);
    case NodeKind::kLoop: frame.mark = run_.opened; return enter_child(id, 0);
    case NodeKind::kTimeout:
      kill_below(id);
      return end(id, failed("flow.timeout",
                            "the node took longer than " + std::to_string(node.ms) + " ms"));
    case NodeKind::kHttp: return http_answered(id, mail);
    default: return;
  }
}

// {"status", "headers", "body"}; an answer that says the server has failed fails the node.
void Turn::http_answered(FrameId id, const kernel::Mail& mail) {
  const View value = View::of(mail.value);
  const std::int64_t status = value.find("status")->integer().value_or(0);
  if (status >= 500)
    return end(id, failed("http.server_error", "the server answered " + std::to_string(status)));
  const auto body = value.find("body")->bytes().value_or(base::ByteView());
  codec::Buffer out;
  codec::write_map_head(out, 3);
  codec::write_text(out, "body");
  codec::write_text(out, base::as_text(body));
  codec::write_text(out, "status");
  codec::write_int(out, status);
  codec::write_text(out, "headers");
  out.append(value.find("headers")->encoded());
  end(id, succeeded(out.to_bytes()));
}

}  // namespace holdfast::flows
