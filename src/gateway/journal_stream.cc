// SPDX-License-Identifier: Apache-2.0
// GET /v1/journal as an event stream: every record as it becomes durable. It has no end.
#include "gateway/journal_stream.h"

#include <chrono>
#include <utility>

#include "gateway/event_stream.h"

namespace holdfast::gateway {
namespace {

// When the thread that reads files has too much to do, a reader that is here already comes again.
constexpr std::chrono::milliseconds kAgain{100};

struct Part {
  JournalPart records;
  std::uint64_t truncated = 0;  // not 0: what was asked for up to this record is gone
};

// Where the journal does not have the beginning any more, from the first that it has.
Result<Part> read_from(Engine& engine, std::uint64_t from) {
  const PartLimits limits{.records = kEventsAtOnce, .bytes = kEventBytesAtOnce};
  auto part = engine.read_journal(from, limits);
  if (part) return Part{std::move(*part)};
  if (part.error().code != ErrorCode::kNotFound) return part.error();
  auto oldest = engine.read_journal(0, limits);
  if (!oldest) return oldest.error();
  const std::uint64_t first = oldest->next - oldest->records.size();
  if (first <= from) return part.error();  // it is beyond the end
  return Part{std::move(*oldest), first - 1};
}

class JournalEvents final : public EventSource, public std::enable_shared_from_this<JournalEvents> {
 public:
  explicit JournalEvents(std::uint64_t from) : next_(from) {}

  void begin(Exchange& exchange) {
    Engine& engine = exchange.service().engine;
    exchange.read_files([&engine, from = next_] { return read_from(engine, from); },
                        [self = shared_from_this()](Exchange& then, const Result<Part>& part) {
                          if (!part) return then.refuse(part.error());
                          then.begin_events(self);
                          self->take(then, part);
                        });
  }

  void next(Exchange& exchange) override {
    if (has_more_) return read(exchange);
    stop_ = exchange.service().engine.when_durable(
        next_,
        exchange.later<std::uint64_t>(
            [self = shared_from_this()](Exchange& then, const Result<std::uint64_t>& durable) {
              self->stop_ = nullptr;
              if (!durable) return then.fail_events(durable.error());
              self->read(then);
            }));
  }

  void stop() override {
    if (const auto stop = std::exchange(stop_, nullptr)) stop();
  }

 private:
  void read(Exchange& exchange) {
    Engine& engine = exchange.service().engine;
    const bool is_taken = exchange.try_read_files(
        [&engine, from = next_] { return read_from(engine, from); },
        [self = shared_from_this()](Exchange& then, const Result<Part>& part) {
          self->take(then, part);
        });
    if (is_taken) return;
    exchange.service().timers.add(std::chrono::steady_clock::now() + kAgain,
                                  [self = shared_from_this(), asker = exchange.shared_from_this(),
                                   number = exchange.number()] {
                                    if (asker->number() == number) self->read(*asker);
                                  });
  }

  void take(Exchange& exchange, const Result<Part>& part) {
    if (!part) return exchange.fail_events(part.error());
    codec::Buffer& out = exchange.events();
    const JournalPart& records = part->records;
    std::size_t bytes = 0;
    for (const Bytes& record : records.records) bytes += record.size();
    if (!exchange.has_room_for(bytes)) return exchange.fail_events(too_much_waits());
    if (part->truncated != 0) write_truncated(out, part->truncated);
    std::uint64_t number = records.next - records.records.size();
    for (const Bytes& record : records.records) write_event(out, number++, "", record);
    next_ = records.next;
    has_more_ = records.next <= records.last;
    exchange.events_are_there();
  }

  std::uint64_t next_;  // the record that the reader wants to have
  bool has_more_ = false;
  Engine::Stop stop_;
};

}  // namespace

void stream_journal(Exchange& exchange, std::uint64_t from) {
  if (exchange.takes_place_of_stream()) std::make_shared<JournalEvents>(from)->begin(exchange);
}

}  // namespace holdfast::gateway
