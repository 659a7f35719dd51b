// SPDX-License-Identifier: Apache-2.0
// What is about the whole world: its journal, its definitions, the limits of the server.
#include "codec/limits.h"
#include "codec/view.h"
#include "gateway/cursor.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/journal_stream.h"

namespace holdfast::gateway {

void get_journal(Exchange& exchange) {
  const auto from = exchange.number_in_query("from", 0, std::uint64_t{1} << 62);
  if (!from) return;
  const auto limit = exchange.limit_in_query(100, kMostRecordsPerAnswer);
  if (!limit) return;
  if (exchange.wants_events()) {
    if (exchange.request().field(Field::kLastEventId).empty())
      return stream_journal(exchange, *from);
    const auto seen = cursor_in(exchange, "", CursorOf::kRecord);
    if (seen) stream_journal(exchange, *seen + 1);
    return;
  }
  Engine& engine = exchange.service().engine;
  exchange.read_files([&engine, from = *from,
                       limit = *limit] { return engine.read_journal(from, {.records = limit}); },
                      [](Exchange& self, const Result<JournalPart>& part) {
                        if (!part) return self.refuse(part.error());
                        codec::Buffer& out = self.document();
                        codec::write_map_head(out, 4);
                        put_records(out, part->records);
                        put_number(out, "next", part->next);
                        put_number(out, "first", part->first);
                        put_number(out, "last", part->last);
                        self.answer(200);
                      });
}

void take_snapshot(Exchange& exchange) {
  exchange.service().engine.take_snapshot(
      exchange.later<std::uint64_t>([](Exchange& self, const Result<std::uint64_t>& next_record) {
        if (!next_record) return self.refuse(next_record.error());
        codec::write_map_head(self.document(), 1);
        put_number(self.document(), "next_record", *next_record);
        self.answer(200);
      }));
}

void get_manifest(Exchange& exchange) {
  const Definitions& definitions = exchange.service().definitions;
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 1);
  codec::write_text(out, "definitions");
  if (definitions.closure().empty()) {
    codec::write_list_head(out, 0);
  } else {
    out.append(codec::View::of(definitions.closure()).encoded());
  }
  exchange.answer(200);
}

void get_limits(Exchange& exchange) {
  const Limits& limits = exchange.service().limits;
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 6);
  put_number(out, "value_bytes", codec::kMaxValueBytes);
  put_number(out, "body_bytes", limits.body_bytes);
  put_number(out, "header_bytes", limits.header_bytes);
  put_number(out, "connections", limits.connections);
  put_number(out, "wait_ms", static_cast<std::uint64_t>(limits.wait_time.count()));
  put_number(out, "records_per_answer", kMostRecordsPerAnswer);
  exchange.answer(200);
}

}  // namespace holdfast::gateway
