// SPDX-License-Identifier: Apache-2.0
#include "tasks/messages.h"

#include <algorithm>
#include <charconv>

#include "codec/cbor_writer.h"
#include "codec/view.h"

namespace holdfast::tasks {
namespace {

using codec::View;

constexpr std::size_t kMaxGraphIdBytes = 100;

void text_field(codec::Buffer& out, std::string_view name, std::string_view value) {
  codec::write_text(out, name);
  codec::write_text(out, value);
}
void nat_field(codec::Buffer& out, std::string_view name, std::uint64_t value) {
  codec::write_text(out, name);
  codec::write_nat(out, value);
}
void bool_field(codec::Buffer& out, std::string_view name, bool value) {
  codec::write_text(out, name);
  codec::write_bool(out, value);
}

// Fields of an event that the kernel has checked against its schema.
std::uint64_t nat_in(View event, std::string_view name) {
  const auto value = event.find(name);
  return value ? value->nat().value_or(0) : 0;
}
bool bool_in(View event, std::string_view name) {
  const auto value = event.find(name);
  return value && value->boolean().value_or(false);
}
TaskState state_in(View event) {
  const std::uint64_t state = nat_in(event, "state");
  return state <= static_cast<std::uint64_t>(TaskState::kCancelled) ? static_cast<TaskState>(state)
                                                                    : TaskState::kFailed;
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string task_key(std::string_view graph, TaskIndex number) {
  return std::string(graph) + "/" + std::to_string(number);
}

std::optional<TaskName> parse_task_key(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = key.substr(slash + 1);
  TaskName name{key.substr(0, slash)};
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, name.number);
  const bool is_canonical = digits == "0" || (!digits.empty() && digits.front() != '0');
  if (error != std::errc() || stopped != end || !is_canonical) return std::nullopt;
  return name;
}

std::vector<std::pair<base::Bytes, base::Bytes>> task_key_ranges(std::string_view graph) {
  constexpr std::size_t kMostDigits = 10;  // of a 32-bit number
  std::vector<std::pair<base::Bytes, base::Bytes>> ranges;
  for (std::size_t digits = 1; digits <= kMostDigits; ++digits) {
    // A key of that length, without the digits: '/' is the character before '0'.
    base::Bytes first = key_bytes(std::string(graph) + "/" + std::string(digits, '0'));
    first.resize(first.size() - digits);
    base::Bytes end = first;
    ++end.back();
    ranges.emplace_back(std::move(first), std::move(end));
  }
  return ranges;
}

std::optional<std::string> graph_id_problem(std::string_view id) {
  if (id.empty()) return "the id of a graph is empty";
  if (id.size() > kMaxGraphIdBytes)
    return "the id of a graph has at most " + std::to_string(kMaxGraphIdBytes) + " bytes";
  const bool is_good =
      is_letter_or_digit(id.front()) && std::all_of(id.begin(), id.end(), [](char c) {
        return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
      });
  if (is_good) return std::nullopt;
  return "the id of a graph consists of letters, digits and '.-_', and begins with a letter or "
         "digit";
}

base::Bytes key_bytes(std::string_view key) {
  codec::Buffer out;
  codec::write_text(out, key);
  return out.to_bytes();
}

void write_opened(codec::Buffer& out, std::string_view graph, base::ByteView header,
                  base::ByteView part, bool is_sealed) {
  codec::write_map_head(out, 4);
  text_field(out, "key", graph);
  codec::write_text(out, "parts");
  codec::write_list_head(out, part.empty() ? 0 : 1);
  out.append(part);
  codec::write_text(out, "header");
  out.append(header);
  bool_field(out, "sealed", is_sealed);
}

void write_part(codec::Buffer& out, std::string_view graph, base::ByteView part) {
  codec::write_map_head(out, 2);
  text_field(out, "key", graph);
  codec::write_text(out, "part");
  out.append(part);
}

void write_sealed(codec::Buffer& out, std::string_view graph) { write_key_only(out, graph); }

void write_cancel_asked(codec::Buffer& out, std::string_view graph, std::string_view reason,
                        std::string_view by) {
  codec::write_map_head(out, 3);
  text_field(out, "by", by);
  text_field(out, "key", graph);
  text_field(out, "reason", reason);
}

void write_task_ended(codec::Buffer& out, std::string_view graph, const TaskEndedMessage& ended) {
  codec::write_map_head(out, 7);
  text_field(out, "key", graph);
  nat_field(out, "kind", static_cast<std::uint64_t>(ended.kind));
  codec::write_text(out, "epoch");
  if (ended.epoch) {
    codec::write_nat(out, *ended.epoch);
  } else {
    codec::write_null(out);
  }
  codec::write_text(out, "error");
  if (ended.error) {
    codec::write_text(out, *ended.error);
  } else {
    codec::write_null(out);
  }
  nat_field(out, "state", static_cast<std::uint64_t>(ended.state));
  nat_field(out, "number", ended.number);
  bool_field(out, "skipped", ended.is_skipped);
}

TaskEndedMessage read_task_ended(base::ByteView value) {
  const View event = View::of(value);
  TaskEndedMessage ended;
  ended.number = static_cast<TaskIndex>(nat_in(event, "number"));
  ended.kind = static_cast<TaskKind>(
      std::min<std::uint64_t>(nat_in(event, "kind"), static_cast<std::uint64_t>(TaskKind::kGate)));
  ended.state = state_in(event);
  ended.is_skipped = bool_in(event, "skipped");
  if (const auto epoch = event.find("epoch"); epoch && epoch->nat())
    ended.epoch = static_cast<std::uint32_t>(*epoch->nat());
  if (const auto error = event.find("error"); error && error->text())
    ended.error = std::string(*error->text());
  return ended;
}

void write_created(codec::Buffer& out, std::string_view graph, TaskIndex number,
                   std::uint64_t waits, base::ByteView definition, base::ByteView adopted) {
  codec::write_map_head(out, 5);
  text_field(out, "key", task_key(graph, number));
  text_field(out, "graph", graph);
  nat_field(out, "waits", waits);
  codec::write_text(out, "adopted");
  codec::write_list_head(out, adopted.empty() ? 0 : 1);
  out.append(adopted);
  codec::write_text(out, "definition");
  out.append(definition);
}

void write_task_cancel(codec::Buffer& out, std::string_view key, std::string_view reason,
                       std::string_view by, bool with_graph) {
  codec::write_map_head(out, 4);
  text_field(out, "by", by);
  text_field(out, "key", key);
  bool_field(out, "graph", with_graph);
  text_field(out, "reason", reason);
}

void write_dependency_ended(codec::Buffer& out, std::string_view key,
                            const DependencyEnded& ended) {
  codec::write_map_head(out, 5);
  text_field(out, "key", key);
  text_field(out, "name", ended.name);
  bool_field(out, "epoch", ended.is_epoch);
  nat_field(out, "state", static_cast<std::uint64_t>(ended.state));
  nat_field(out, "origin", ended.origin);
}

DependencyEnded read_dependency_ended(base::ByteView value) {
  const View event = View::of(value);
  DependencyEnded ended;
  ended.state = state_in(event);
  ended.is_epoch = bool_in(event, "epoch");
  ended.origin = static_cast<TaskIndex>(nat_in(event, "origin"));
  if (const auto name = event.find("name")) ended.name = name->text().value_or("");
  return ended;
}

void write_key_only(codec::Buffer& out, std::string_view key) {
  codec::write_map_head(out, 1);
  text_field(out, "key", key);
}

}  // namespace holdfast::tasks
