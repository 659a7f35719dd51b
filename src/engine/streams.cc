// SPDX-License-Identifier: Apache-2.0
// Reading streams. A question to the world tells how the instance stands, history has the entries,
// and whoever follows is asked again when the instance has put something out: nobody polls.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "node/read_stream.h"
#include "node/stream_entries.h"

namespace holdfast {
namespace {

using engine::StreamReading;

std::size_t page_bytes(const PartLimits& limits) {
  return std::min(limits.bytes, node::kMaxStreamPageBytes);
}

StreamEnd::Kind kind_of(std::string_view status) {
  if (status == "completed") return StreamEnd::Kind::kCompleted;
  if (status == "failed") return StreamEnd::Kind::kFailed;
  return status == "cancelled" ? StreamEnd::Kind::kCancelled : StreamEnd::Kind::kRemoved;
}

RawStreamPage outside(node::StreamPage page, std::uint64_t after) {
  RawStreamPage raw;
  raw.truncated = page.truncated;
  raw.last = std::max(after, page.truncated);
  for (store::StreamEntry& entry : page.entries) {
    raw.last = entry.sequence;
    raw.entries.push_back({entry.sequence, std::move(entry.value)});
  }
  if (page.end) {
    raw.end = StreamEnd{page.end->sequence, kind_of(page.end->status)};
    raw.last = std::max(raw.last, page.end->sequence);
  }
  return raw;
}

// There is nothing behind what the reader has, and never will be.
RawStreamPage forgotten(std::uint64_t after) {
  RawStreamPage page;
  page.last = after;
  page.end = StreamEnd{after, StreamEnd::Kind::kForgotten};
  return page;
}

// One who reads, or follows, until there is an answer. It goes from thread to thread, and only one
// has it at a time.
class StreamReader : public std::enable_shared_from_this<StreamReader> {
 public:
  StreamReader(node::Node& node, node::History& history, node::StreamQuery query,
               std::uint64_t number, StreamReading how, Engine::Then<RawStreamPage> then)
      : node_(node),
        history_(history),
        query_(std::move(query)),
        number_(number),
        how_(how),
        ticket_(std::move(then)) {}

  void begin() {
    const auto asked =
        node_.look([self = shared_from_this()](node::Core& core) { core.ask(self->question()); });
    if (!asked) ticket_.tell(engine::outside(asked.error()));
  }

  // From any thread.
  void stop() {
    is_stopped_ = true;
    static_cast<void>(node_
                          .look([number = number_](node::Core& core) { core.ask_no_more(number); },
                                node::Loop::LookKind::kTakesBack)
                          .has_value());
  }

 private:
  // How the instance stands; told when that is durable.
  node::Question question() {
    return [self = shared_from_this()](kernel::World& world) -> std::function<void()> {
      const auto cell = world.find(self->query_.instance.workflow, self->query_.instance.key);
      if (!cell) {
        self->ticket_.tell(engine::outside(cell.error()));
        return nullptr;
      }
      node::StreamQuery& query = self->query_;
      query.last_record = *cell == nullptr ? 0 : (*cell)->last_record;
      query.ended_as = *cell != nullptr && (*cell)->terminal() ? name_of((*cell)->status()) : "";
      query.durable = world.next_record() - 1;
      return [self] { self->read(); };
    };
  }

  void read() {
    auto told = [self = shared_from_this()](base::Result<node::StreamPage> page) {
      self->went(std::move(page));
    };
    const auto asked = history_.ask(query_, std::move(told));
    if (!asked) ticket_.tell(engine::outside(asked.error()));
  }

  void went(base::Result<node::StreamPage> page) {
    const bool is_absent = !page && page.error().code() == base::ErrorCode::kNotFound;
    if (how_ == StreamReading::kGoesOn && is_absent) return ticket_.tell(forgotten(query_.after));
    const bool is_nothing = page ? !page->says_something() : is_absent;
    if (how_ != StreamReading::kOnce && is_nothing) return is_stopped_ ? tell_stopped() : wait();
    if (page) return ticket_.tell(outside(std::move(*page), query_.after));
    ticket_.tell(engine::outside(page.error()));
  }

  // It has been let in before, so there is always room for it.
  void wait() {
    const auto asked = node_.look(
        [self = shared_from_this()](node::Core& core) {
          if (self->is_stopped_) return self->tell_stopped();
          const bool waits = core.ask_when_said(self->number_, self->query_.instance,
                                                self->query_.last_record, self->question());
          if (!waits) self->ticket_.tell(Error{ErrorCode::kUnavailable, "too many follow streams"});
        },
        node::Loop::LookKind::kTakesBack);
    if (!asked) ticket_.tell(engine::outside(asked.error()));
  }

  void tell_stopped() { ticket_.tell(Error{ErrorCode::kEnded, "the reader has gone away"}); }

  node::Node& node_;
  node::History& history_;
  node::StreamQuery query_;
  const std::uint64_t number_;
  const StreamReading how_;
  std::atomic<bool> is_stopped_ = false;
  engine::Ticket<RawStreamPage> ticket_;
};

}  // namespace

Engine::Stop Engine::Body::read_stream(node::StreamQuery query, StreamReading how,
                                       Then<RawStreamPage> then) {
  if (query.limit == 0 || query.limit > node::kMaxStreamPage) {
    then(Error{ErrorCode::kInvalid, "limit: must be from 1 to 1000"});
    return [] {};
  }
  if (!history) {
    then(Error{ErrorCode::kConflict, "the engine was opened without history"});
    return [] {};
  }
  const auto reader = std::make_shared<StreamReader>(*node, *history, std::move(query),
                                                     next_question++, how, std::move(then));
  reader->begin();
  return [held = std::weak_ptr<StreamReader>(reader)] {
    if (const auto reading = held.lock()) reading->stop();
  };
}

std::uint64_t Engine::sequence_now() const { return node::sequence_of(last_durable() + 1, 0) - 1; }

void Engine::stream_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                        std::size_t limit, Then<RawStreamPage> then) {
  body_->read_stream({{std::string(workflow), std::move(key)}, after, limit}, StreamReading::kOnce,
                     std::move(then));
}

Engine::Stop Engine::follow_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                                std::size_t limit, Then<RawStreamPage> then) {
  return body_->read_stream({{std::string(workflow), std::move(key)}, after, limit},
                            StreamReading::kFollows, std::move(then));
}

void Engine::stream_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                        PartLimits limits, Then<RawStreamPage> then) {
  body_->read_stream(
      {{std::string(workflow), std::move(key)}, after, limits.records, page_bytes(limits)},
      StreamReading::kOnce, std::move(then));
}

Engine::Stop Engine::go_on_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                               PartLimits limits, Then<RawStreamPage> then) {
  return body_->read_stream(
      {{std::string(workflow), std::move(key)}, after, limits.records, page_bytes(limits)},
      StreamReading::kGoesOn, std::move(then));
}

Result<RawStreamPage> Engine::follow_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                                         std::size_t limit, Timeout timeout) {
  const auto answer = std::make_shared<std::promise<Result<RawStreamPage>>>();
  auto told = answer->get_future();
  const Stop stop =
      follow_raw(workflow, std::move(key), after, limit,
                 [answer](Result<RawStreamPage> page) { answer->set_value(std::move(page)); });
  if (told.wait_for(timeout) == std::future_status::ready) return told.get();
  stop();
  return Error{ErrorCode::kTimedOut, "nothing was put out in time"};
}

}  // namespace holdfast
