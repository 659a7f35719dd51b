// SPDX-License-Identifier: Apache-2.0
// Cursors: the ids of the events of a stream, after which a reader goes on. In a world that was
// never restored an id is a number, "4711". In one that was, it begins with the life of the world:
// "5f3a90c1.4711". Numbers of an earlier life stand for the same records up to the restored backup,
// and for other ones after it; a cursor of those is refused (`stale_cursor`), because whatever
// would be sent would not follow what its reader has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/exchange.h"

namespace holdfast::gateway {

// What stands in front of the numbers of this world: "", or "5f3a90c1.".
std::string life_prefix(const std::vector<RestoredLife>& lives);

// What the number of a cursor is of.
enum class CursorOf : std::uint8_t { kRecord, kSequence };

struct StreamCursor {
  std::uint32_t life = 0;
  std::uint64_t number = 0;
};
std::optional<StreamCursor> parse_cursor(std::string_view text);

// Why a reader cannot go on after it in a world with these lives that ends with this record;
// nothing: it can.
std::optional<std::string> refuse_cursor(const StreamCursor& cursor, CursorOf of,
                                         const std::vector<RestoredLife>& lives,
                                         std::uint64_t last_record);

// Of the header field Last-Event-ID, or of the query; 0: neither says anything. Nothing: it is
// answered already.
std::optional<std::uint64_t> cursor_in(Exchange& exchange, std::string_view parameter, CursorOf of);

}  // namespace holdfast::gateway
