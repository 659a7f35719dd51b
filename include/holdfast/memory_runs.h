// SPDX-License-Identifier: Apache-2.0
// MemoryRuns: runs of one step workflow in memory. Nothing is durable and nothing is written; what
// the runs decide is what an engine decides, by the same code. For work that may be lost, and for
// tests: with a clock of its own, which stands still until it is moved, a month of waiting takes no
// time.
//
//   auto runs = holdfast::MemoryRuns<Approval>::open(std::make_shared<Approval>());
//   (*runs)->send(Request{"r-1"});
//   (*runs)->advance(std::chrono::hours(24 * 30));  // says whether it could
//   EXPECT_EQ((*runs)->find("r-1")->outcome->as<Outcome>(), ...);
//
// What a body sees as its context.key is of this run and no other of these, also of none that had
// the same key and is forgotten. Another process has the same ones again.
//
// For any thread. Without threads of its own everything is run inside the calls: bodies one after
// another, in the order in which they were asked for. With threads, bodies of one run run beside
// each other.
//
// Link holdfast::memory for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/detail/value_bytes.h"
#include "holdfast/step_loop.h"
#include "holdfast/step_recording.h"

namespace holdfast {

struct MemoryOptions {
  std::size_t threads = 0;     // that run bodies, and one more for all else; 0: the caller's
  bool machine_clock = false;  // needs a thread, which waits for timers
  Time begin = {};             // of a clock of its own

  // A run that has been idle for so long leaves memory but for the bytes of its state, and is back
  // with the next event or timer.
  std::optional<Duration> release_after = {};

  std::size_t max_runs = 1'000'000;  // that are not forgotten; the next one is refused
  std::size_t max_mail = 1024;       // events that wait in one run; the next one is refused
  std::size_t max_entries = 65'536;  // of its stream that are kept, the newest; 0: none are made

  bool record = false;  // what went in and out of every run

  // Told of every end, once, on the thread that came to it. The run is forgotten then, also if this
  // throws: the first exception that nobody has seen is thrown by the next settle, send, cancel or
  // advance outside of a body, when that has done what it is for.
  std::function<void(const Bytes& key, const StepOutcome& outcome)> ended = {};

  // What bodies get from their contexts (holdfast/resources.h); in a test, fakes.
  std::shared_ptr<Resources> resources = {};
};

// A run as it is now.
struct MemoryRun {
  bool is_released = false;
  std::optional<StepOutcome> outcome;  // nothing: it has not ended
};

struct MemoryFigures {
  std::uint64_t runs = 0;
  std::uint64_t released = 0;        // of them
  std::uint64_t released_bytes = 0;  // that these take, besides their keys
};

namespace detail {

class MemoryHost {
 public:
  static Result<std::unique_ptr<MemoryHost>> open(StepProgram program, MemoryOptions options);
  ~MemoryHost();
  MemoryHost(const MemoryHost&) = delete;
  MemoryHost& operator=(const MemoryHost&) = delete;

  Result<Done> post(const Bytes& key, std::string_view schema, Bytes value);
  Result<Done> cancel(const Bytes& key, std::string_view reason);
  void settle();
  Result<Done> advance(Duration by);
  Time now() const;
  std::optional<Time> next_timer() const;
  Result<MemoryRun> find(const Bytes& key) const;
  Result<MemoryRun> wait(const Bytes& key, Duration timeout) const;
  std::vector<StepEntry> stream(const Bytes& key) const;
  std::optional<StepRecording> recording(const Bytes& key) const;
  Result<Done> forget(const Bytes& key);
  MemoryFigures figures() const;

 private:
  struct Body;
  explicit MemoryHost(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace detail

template <class W>
class MemoryRuns {
 public:
  using Key = typename detail::Parts<W>::Key;

  // An error: the graph of the steps cannot run.
  static Result<std::unique_ptr<MemoryRuns>> open(std::shared_ptr<W> host,
                                                  MemoryOptions options = {}) {
    auto program = StepProgram::of(std::move(host), options.resources);
    if (!program) return program.error();
    auto made = detail::MemoryHost::open(std::move(*program), std::move(options));
    if (!made) return made.error();
    return std::unique_ptr<MemoryRuns>(new MemoryRuns(std::move(*made)));
  }

  // Returns when nothing is left to do without time passing, in any run; inside a body, or in
  // a callback that is told of an end, at once, as every call that waits does there. kUnavailable:
  // too many events wait, or there are too many runs; nothing has happened. kConflict: the run has
  // ended. kInvalid: a field has a value that its type does not have, a time before 1970 say.
  template <class Event>
  Result<Done> send(const Event& event) {
    auto posted = post(event);
    if (posted) settle();
    return posted;
  }
  // The same, and returns at once: to have many runs under way.
  template <class Event>
  Result<Done> post(const Event& event) {
    using On = typename detail::OnOf<Event, typename W::Events>::type;
    return host_->post(detail::key_in(On(), event).value_or(Bytes()), Event::kSchema,
                       detail::bytes_of_value(event));
  }
  // With threads and a clock of its own, a body with a time limit is waited for no longer than
  // that, by the machine's clock: it may be waiting for the clock to move.
  void settle() { host_->settle(); }

  Result<Done> cancel(const Key& key, std::string_view reason) {
    auto done = host_->cancel(detail::bytes_of_key(key), reason);
    if (done) settle();
    return done;
  }

  // A clock of its own: what is due on the way happens at its time, one after another. kInvalid:
  // there is none, nobody moves the machine's.
  Result<Done> advance(Duration by) { return host_->advance(by); }
  Time now() const { return host_->now(); }
  std::optional<Time> next_timer() const { return host_->next_timer(); }

  // kNotFound: there is no such run.
  Result<MemoryRun> find(const Key& key = {}) const {
    return host_->find(detail::bytes_of_key(key));
  }
  // Until it has ended; by the machine's clock, and for runs with threads. Duration::max(): for as
  // long as it takes.
  Result<MemoryRun> wait(const Key& key, Duration timeout) const {
    return host_->wait(detail::bytes_of_key(key), timeout);
  }
  std::vector<StepEntry> stream(const Key& key = {}) const {
    return host_->stream(detail::bytes_of_key(key));
  }
  std::optional<StepRecording> recording(const Key& key = {}) const {
    return host_->recording(detail::bytes_of_key(key));
  }
  Result<Done> forget(const Key& key) {
    return host_->forget(detail::bytes_of_key(key));
  }  // one that has ended
  MemoryFigures figures() const { return host_->figures(); }

 private:
  explicit MemoryRuns(std::unique_ptr<detail::MemoryHost> host) : host_(std::move(host)) {}

  std::unique_ptr<detail::MemoryHost> host_;
};

}  // namespace holdfast
