// SPDX-License-Identifier: Apache-2.0
#include "gateway/cursor.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

namespace holdfast::gateway {
namespace {

constexpr std::size_t kLifeDigits = 8;
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62;
constexpr unsigned kPlaceBits = 16;  // a sequence is `record << 16 | place`

template <class Number>
bool read_number(std::string_view text, int base, Number& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, base);
  return read.ec == std::errc() && read.ptr == end;
}

std::string life_text(std::uint32_t life) {
  char text[kLifeDigits + 1];
  std::snprintf(text, sizeof text, "%08x", life);
  return text;
}

}  // namespace

std::string life_prefix(const std::vector<RestoredLife>& lives) {
  return lives.empty() ? "" : life_text(lives.back().life) + ".";
}

std::optional<StreamCursor> parse_cursor(std::string_view text) {
  StreamCursor cursor;
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    if (dot != kLifeDigits || !read_number(text.substr(0, dot), 16, cursor.life) ||
        cursor.life == 0)
      return std::nullopt;
    text.remove_prefix(dot + 1);
  }
  if (!read_number(text, 10, cursor.number) || cursor.number > kMostNumber) return std::nullopt;
  return cursor;
}

std::optional<std::string> refuse_cursor(const StreamCursor& cursor, CursorOf of,
                                         const std::vector<RestoredLife>& lives,
                                         std::uint64_t last_record) {
  const std::uint64_t record =
      of == CursorOf::kRecord ? cursor.number : cursor.number >> kPlaceBits;
  auto later = lives.begin();
  if (cursor.life != 0) {
    later = std::ranges::find(lives, cursor.life, &RestoredLife::life);
    if (later == lives.end())
      return "the cursor is of another life of the world, which was restored from a backup since";
    ++later;
  }
  std::uint64_t shared = std::numeric_limits<std::uint64_t>::max();
  for (; later != lives.end(); ++later) shared = std::min(shared, later->after_record);
  if (record > shared) {
    return "the world was restored from a backup that ends with record " + std::to_string(shared) +
           ", and the cursor is of record " + std::to_string(record) +
           " before that: it stands for something else now";
  }
  if (record > last_record) {
    return "the world ends with record " + std::to_string(last_record) +
           ", and the cursor is of record " + std::to_string(record);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> cursor_in(Exchange& exchange, std::string_view parameter,
                                       CursorOf of) {
  // A reader that comes again has it from us; what stands in its target is where it began.
  const std::string_view given = exchange.request().field(Field::kLastEventId);
  const std::string_view text = given.empty() ? exchange.text_in_query(parameter) : given;
  if (text.empty()) return 0;
  const auto cursor = parse_cursor(text);
  if (!cursor) {
    exchange.refuse({ProblemCode::kBadTarget, given.empty()
                                                  ? std::string(parameter) + " is no id of an event"
                                                  : "Last-Event-ID is none of ours"});
    return std::nullopt;
  }
  const Engine& engine = exchange.service().engine;
  if (auto why = refuse_cursor(*cursor, of, engine.restored_lives(), engine.last_durable())) {
    exchange.refuse({ProblemCode::kStaleCursor, std::move(*why)});
    return std::nullopt;
  }
  return cursor->number;
}

}  // namespace holdfast::gateway
