// SPDX-License-Identifier: Apache-2.0
// GET /v1/watch: that there are new records, and which is the last. A reader that was away needs
// nothing of what it missed: the next event says how things stand.
#include <chrono>
#include <memory>
#include <utility>

#include "gateway/cursor.h"
#include "gateway/documents.h"
#include "gateway/event_stream.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::chrono::milliseconds kBetweenEvents{250};

class WatchEvents final : public EventSource, public std::enable_shared_from_this<WatchEvents> {
 public:
  explicit WatchEvents(std::string life) : life_(std::move(life)) {}

  void begin(Exchange& exchange) {
    exchange.begin_events(shared_from_this());
    tell(exchange);
  }

  void next(Exchange& exchange) override {
    stop_ = exchange.service().engine.when_durable(
        told_ + 1,
        exchange.later<std::uint64_t>(
            [self = shared_from_this()](Exchange& then, const Result<std::uint64_t>& durable) {
              self->stop_ = nullptr;
              if (!durable) return then.fail_events(durable.error());
              self->tell_later(then);
            }));
  }

  void stop() override {
    if (const auto stop = std::exchange(stop_, nullptr)) stop();
  }

 private:
  // Records that come meanwhile are told together.
  void tell_later(Exchange& exchange) {
    const auto when = last_ + kBetweenEvents;
    if (when <= std::chrono::steady_clock::now()) return tell(exchange);
    exchange.service().timers.add(when,
                                  [self = shared_from_this(), asker = exchange.shared_from_this(),
                                   number = exchange.number()] {
                                    if (asker->number() == number) self->tell(*asker);
                                  });
  }

  void tell(Exchange& exchange) {
    Engine& engine = exchange.service().engine;
    told_ = engine.last_durable();
    last_ = std::chrono::steady_clock::now();
    codec::Buffer value;
    codec::write_map_head(value, 2);
    put_number(value, "record", told_);
    put_number(value, "definitions", engine.definitions_version());
    write_event(exchange.events(), life_, told_, "", value.view());
    exchange.events_are_there();
  }

  const std::string life_;
  std::uint64_t told_ = 0;
  std::chrono::steady_clock::time_point last_{};
  Engine::Stop stop_;
};

}  // namespace

void watch_world(Exchange& exchange) {
  if (!exchange.takes_place_of_stream()) return;
  std::string life = life_prefix(exchange.service().engine.restored_lives());
  std::make_shared<WatchEvents>(std::move(life))->begin(exchange);
}

}  // namespace holdfast::gateway
