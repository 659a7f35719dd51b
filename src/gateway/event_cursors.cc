// SPDX-License-Identifier: Apache-2.0
// Named cursors over the events of tasks: /v1/cursors (docs/task-events.md). The book of cursors
// reads and writes files, so every call goes to the thread that does.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "cursors/cursor_book.h"
#include "errors/translate.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostEvents = 1000;
constexpr std::uint64_t kMostWaitMs = 60'000;

void refuse_cursor(Exchange& exchange, const Error& error) {
  if (error.code == ErrorCode::kEnded)
    return exchange.refuse({ProblemCode::kStaleCursor, error.message});
  exchange.refuse(error);
}

// `use(book)` on the thread that reads files, then `put(exchange, value)` here.
template <class T, class Use, class Put>
void with_book(Exchange& exchange, Use use, Put put) {
  cursors::CursorBook* const book = exchange.service().cursors;
  if (book == nullptr)
    return exchange.refuse({ProblemCode::kNotImplemented, "this server keeps no cursors"});
  exchange.read_files(
      [book, use]() -> Result<T> {
        auto made = use(*book);
        if (!made) return errors::outside(made.error());
        if constexpr (std::is_same_v<T, Done>) {
          return Done{};
        } else {
          return std::move(*made);
        }
      },
      [put](Exchange& self, const Result<T>& made) {
        if (!made) return refuse_cursor(self, made.error());
        put(self, *made);
      });
}

void put_cursor(codec::Buffer& out, const cursors::CursorInfo& info) {
  codec::write_map_head(out, 7);
  put(out, "name", info.name);
  put(out, "next", info.state.next.to_text());
  put_number(out, "behind", info.behind);
  put_flag(out, "beyond_horizon", info.is_beyond_horizon);
  put_number(out, "tries", info.state.tries);
  put(out, "reason", info.state.reason);
  put_number(out, "quarantined", info.state.quarantine.size());
}

void answer_cursor(Exchange& exchange, const cursors::CursorInfo& info, unsigned status) {
  put_cursor(exchange.document(), info);
  exchange.answer(status);
}

void answer_nothing(Exchange& exchange, const Done&) {
  codec::write_map_head(exchange.document(), 0);
  exchange.answer(200);
}

std::optional<cursors::From> from_in(Exchange& exchange, const Envelope& body) {
  const auto text = text_in(exchange, body, "from");
  if (!text) return std::nullopt;
  if (text->empty() || *text == "oldest") return cursors::From::kOldest;
  if (*text == "now") return cursors::From::kNow;
  refuse_body(exchange, base::invalid("$.from", "expected oldest or now"));
  return std::nullopt;
}

std::optional<cursors::EventId> event_in(Exchange& exchange, const Envelope& body) {
  const auto text = text_in(exchange, body, "id");
  if (!text) return std::nullopt;
  const auto id = cursors::EventId::parse(*text);
  if (!id)
    refuse_body(exchange, base::invalid("$.id", "expected the id of an event: RECORD.INDEX"));
  return id;
}

std::optional<std::uint64_t> number_in_body(Exchange& exchange, const Envelope& body,
                                            std::string_view name, std::uint64_t otherwise,
                                            std::uint64_t most) {
  if (!body.find(name)) return otherwise;
  const auto number = needed_number(exchange, body, name);
  if (!number) return std::nullopt;
  if (*number <= most) return *number;
  refuse_body(exchange, base::invalid("$." + std::string(name),
                                      "expected a number up to " + std::to_string(most)));
  return std::nullopt;
}

// Reads until there is an event, or the time is over.
class CursorRead : public std::enable_shared_from_this<CursorRead> {
 public:
  using Clock = std::chrono::steady_clock;

  CursorRead(std::string name, std::size_t limit, std::chrono::milliseconds wait)
      : name_(std::move(name)), limit_(limit), until_(Clock::now() + wait) {}

  void go_on(Exchange& exchange) {
    with_book<cursors::EventPage>(
        exchange,
        [self = shared_from_this()](cursors::CursorBook& book) {
          return book.read(self->name_, self->limit_);
        },
        [self = shared_from_this()](Exchange& then, const cursors::EventPage& page) {
          self->take(then, page);
        });
  }

 private:
  void take(Exchange& exchange, const cursors::EventPage& page) {
    Service& service = exchange.service();
    if (!page.events.empty() || Clock::now() >= until_ || service.is_stopping)
      return answer(exchange, page);
    const std::uint64_t turn = ++turn_;
    const auto next = [self = shared_from_this(), turn](Exchange& then) {
      if (self->turn_ != turn) return;
      ++self->turn_;
      self->let_go();
      self->go_on(then);
    };
    stop_ = service.engine.when_durable(
        page.next_record,
        exchange.later<std::uint64_t>(
            [next](Exchange& then, const Result<std::uint64_t>&) { next(then); }));
    service.timers.add(until_,
                       [next, asker = exchange.shared_from_this(), number = exchange.number()] {
                         if (asker->number() == number) next(*asker);
                       });
    exchange.if_let_go([self = shared_from_this()] { self->let_go(); });
  }

  void let_go() {
    if (const auto stop = std::exchange(stop_, nullptr)) stop();
  }

  static void answer(Exchange& exchange, const cursors::EventPage& page) {
    codec::Buffer& out = exchange.document();
    codec::write_map_head(out, 1);
    codec::write_text(out, "events");
    codec::write_list_head(out, page.events.size());
    for (const cursors::TaskEvent& event : page.events) out.append(event.document);
    exchange.answer(200);
  }

  const std::string name_;
  const std::size_t limit_;
  const Clock::time_point until_;
  std::uint64_t turn_ = 0;
  Engine::Stop stop_;
};

}  // namespace

void list_cursors(Exchange& exchange) {
  with_book<std::vector<cursors::CursorInfo>>(
      exchange, [](cursors::CursorBook& book) { return book.list(); },
      [](Exchange& self, const std::vector<cursors::CursorInfo>& all) {
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 1);
        codec::write_text(out, "cursors");
        codec::write_list_head(out, all.size());
        for (const cursors::CursorInfo& info : all) put_cursor(out, info);
        self.answer(200);
      });
}

void create_cursor(Exchange& exchange) {
  const auto body = read_body(exchange, {"name", "from"});
  if (!body) return;
  const auto name = text_in(exchange, *body, "name");
  if (!name) return;
  const auto from = from_in(exchange, *body);
  if (!from) return;
  with_book<cursors::CursorInfo>(
      exchange,
      [name = *name, from = *from](cursors::CursorBook& book) { return book.create(name, from); },
      [](Exchange& self, const cursors::CursorInfo& info) { answer_cursor(self, info, 201); });
}

void get_cursor(Exchange& exchange) {
  with_book<cursors::CursorInfo>(
      exchange,
      [name = exchange.path_value(0)](cursors::CursorBook& book) { return book.info(name); },
      [](Exchange& self, const cursors::CursorInfo& info) { answer_cursor(self, info, 200); });
}

void remove_cursor(Exchange& exchange) {
  if (!read_body(exchange, {})) return;
  with_book<Done>(
      exchange,
      [name = exchange.path_value(0)](cursors::CursorBook& book) { return book.remove(name); },
      answer_nothing);
}

void read_cursor(Exchange& exchange) {
  const auto body = read_body(exchange, {"limit", "wait_ms"});
  if (!body) return;
  const auto limit = number_in_body(exchange, *body, "limit", 100, kMostEvents);
  if (!limit) return;
  const auto wait_ms = number_in_body(exchange, *body, "wait_ms", 0, kMostWaitMs);
  if (!wait_ms) return;
  std::make_shared<CursorRead>(exchange.path_value(0), std::max<std::uint64_t>(*limit, 1),
                               std::chrono::milliseconds(*wait_ms))
      ->go_on(exchange);
}

void acknowledge_event(Exchange& exchange) {
  const auto body = read_body(exchange, {"id"});
  if (!body) return;
  const auto id = event_in(exchange, *body);
  if (!id) return;
  with_book<Done>(
      exchange,
      [name = exchange.path_value(0), id = *id](cursors::CursorBook& book) {
        return book.acknowledge(name, id);
      },
      answer_nothing);
}

void reject_event(Exchange& exchange) {
  const auto body = read_body(exchange, {"id", "reason"});
  if (!body) return;
  const auto id = event_in(exchange, *body);
  if (!id) return;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  with_book<cursors::Rejected>(
      exchange,
      [name = exchange.path_value(0), id = *id, reason = *reason,
       now = static_cast<std::uint64_t>(now_ns)](cursors::CursorBook& book) {
        return book.reject(name, id, reason, now);
      },
      [](Exchange& self, const cursors::Rejected& rejected) {
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 2);
        put_number(out, "tries", rejected.tries);
        put_flag(out, "quarantined", rejected.is_quarantined);
        self.answer(200);
      });
}

void list_quarantine(Exchange& exchange) {
  with_book<cursors::CursorInfo>(
      exchange,
      [name = exchange.path_value(0)](cursors::CursorBook& book) { return book.info(name); },
      [](Exchange& self, const cursors::CursorInfo& info) {
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 1);
        codec::write_text(out, "quarantine");
        codec::write_list_head(out, info.state.quarantine.size());
        for (const cursors::Quarantined& each : info.state.quarantine) {
          codec::write_map_head(out, 5);
          put(out, "id", each.id.to_text());
          put(out, "reason", each.reason);
          put_number(out, "time_ns", each.time_ns);
          put_flag(out, "replayed", each.is_replayed);
          codec::write_text(out, "event");
          out.append(each.document);
        }
        self.answer(200);
      });
}

void replay_event(Exchange& exchange) {
  const auto body = read_body(exchange, {"id"});
  if (!body) return;
  const auto id = event_in(exchange, *body);
  if (!id) return;
  with_book<Done>(
      exchange,
      [name = exchange.path_value(0), id = *id](cursors::CursorBook& book) {
        return book.replay(name, id);
      },
      answer_nothing);
}

void reset_cursor(Exchange& exchange) {
  const auto body = read_body(exchange, {"from"});
  if (!body) return;
  const auto from = from_in(exchange, *body);
  if (!from) return;
  with_book<cursors::CursorInfo>(
      exchange,
      [name = exchange.path_value(0), from = *from](cursors::CursorBook& book) {
        return book.reset(name, from);
      },
      [](Exchange& self, const cursors::CursorInfo& info) { answer_cursor(self, info, 200); });
}

}  // namespace holdfast::gateway
