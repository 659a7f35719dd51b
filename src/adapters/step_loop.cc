// SPDX-License-Identifier: Apache-2.0
#include "holdfast/step_loop.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "adapters/body_call.h"
#include "adapters/loop_entries.h"
#include "adapters/step_program.h"
#include "steps/live_run.h"

namespace holdfast {
namespace {

using Kind = StepInput::Kind;

std::uint64_t to_ns(Time time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.time_since_epoch().count()));
}

EffectError too_late() { return {"effect.timeout", "it has not ended within its time limit"}; }

}  // namespace

struct StepLoop::Body {
  Body(const StepProgram& the_program, StepAdapter& the_adapter, Bytes the_key, std::string the_id)
      : program(the_program.body()),
        adapter(&the_adapter),
        key(std::move(the_key)),
        id(std::move(the_id)),
        entries(program->graph, the_adapter),
        live(program->graph, entries),
        takes_jobs(the_adapter.takes_jobs()) {}

  // A step that has to be run.
  struct Ready {
    steps::RunStep asked;
    codec::Buffer params;
  };
  // One that runs elsewhere.
  struct Open {
    std::uint64_t run = 0;
    std::optional<std::uint64_t> late_at_ns;
    std::shared_ptr<std::atomic<bool>> stopped;
  };

  Result<Done> take(const StepInput& input) {
    auto journaled = adapter->journal(input);
    if (!journaled) return journaled;
    reduce(input);
    return Done{};
  }

  // One that has come, and stays until it is journaled.
  Result<Done> take_message() {
    StepInput input = message.view(adapter->now());
    if (auto refused = check(input)) {
      has_message = false;
      return *std::move(refused);
    }
    auto taken = take(input);
    has_message = !taken;
    return taken;
  }

  // An event is of the workflow, and its value of its schema.
  std::optional<Error> check(StepInput& input) {
    if (input.kind != Kind::kEvent) return std::nullopt;
    scratch = {};
    const auto value = program->event_of(input.schema, input.value, scratch);
    if (!value) return value.error();
    input.value = *value;
    return std::nullopt;
  }

  void reduce(const StepInput& input) {
    const std::uint64_t now_ns = to_ns(input.at);
    switch (input.kind) {
      case Kind::kEvent: {
        // Of a type that is known: it was checked before it was journaled.
        if (const auto type = program->graph.type_named(input.schema))
          live.take_event(*type, input.value, now_ns);
        break;
      }
      case Kind::kResult:
        close(input.run);
        live.take_results(input.run, input.value, now_ns);
        break;
      case Kind::kLost:
        close(input.run);
        live.take_lost(input.run, input.code, input.message, now_ns);
        break;
      case Kind::kCancel: live.take_cancel(input.message, now_ns); break;
      case Kind::kDue: live.take_due(now_ns); break;
      case Kind::kIdle: live.take_idle(now_ns); break;
    }
    entries.finish();
    gather();
    due_ns = live.next_due_ns();
    if (live.ending()) end();
  }

  void gather() {
    codec::Buffer params = spare();
    while (const auto asked = live.next_run(key, params)) {
      ready.push_back({*asked, std::move(params)});
      params = spare();
    }
    spares.push_back(std::move(params));
    // Whose results nobody waits for.
    std::erase_if(open, [this](const Open& one) {
      const bool is_wanted = live.is_running(one.run);
      if (!is_wanted) *one.stopped = true;
      return !is_wanted;
    });
  }

  codec::Buffer spare() {
    if (spares.empty()) return {};
    codec::Buffer buffer = std::move(spares.back());
    spares.pop_back();
    buffer.clear();
    return buffer;
  }

  // A run of a step is over: one that is replayed has not been begun here.
  void close(std::uint64_t run) {
    std::erase_if(open, [run](const Open& one) { return one.run == run; });
    if (is_replaying)
      std::erase_if(ready, [run](const Ready& one) { return one.asked.run == run; });
  }

  void end() {
    const steps::Ending& ending = *live.ending();
    StepOutcome& made = outcome.emplace();
    if (ending.is_failure) {
      made.error =
          EffectError{std::string(ending.failure.code), std::string(ending.failure.message)};
    } else {
      made.result.assign(ending.result.begin(), ending.result.end());
    }
    end_jobs();
  }

  void end_jobs() {
    for (const Open& one : open) *one.stopped = true;
    open.clear();
    ready.clear();
    next_ready = 0;
  }

  std::string key_of(const steps::RunStep& asked) const {
    std::string made;
    made.reserve(id.size() + 21);
    made += id;
    made += '/';
    made += std::to_string(asked.run);
    return made;
  }

  // Nothing of one that was cancelled meanwhile.
  Result<Done> perform_here() {
    Ready job = std::move(ready[next_ready++]);
    if (next_ready == ready.size()) {
      ready.clear();
      next_ready = 0;
    }
    if (!live.is_running(job.asked.run)) {
      spares.push_back(std::move(job.params));
      return Done{};
    }
    static const std::atomic<bool> kNotStopped = false;
    receipt.clear();
    const auto error =
        adapters::perform(program->bodies[job.asked.step], Call(key_of(job.asked), kNotStopped),
                          job.params.view(), receipt);
    spares.push_back(std::move(job.params));
    StepInput input;
    input.kind = error ? Kind::kLost : Kind::kResult;
    input.run = job.asked.run;
    input.at = adapter->now();
    if (error) {
      input.code = error->code;
      input.message = error->message;
    } else {
      input.value = adapters::results_of(receipt.view());
    }
    auto taken = take(input);
    if (!taken) keep(input);
    return taken;
  }

  // What could not be journaled is there when we come again.
  void keep(const StepInput& input) {
    message = {input.kind,
               input.run,
               std::string(input.schema),
               Bytes(input.value.begin(), input.value.end()),
               std::string(input.code),
               std::string(input.message)};
    has_message = true;
  }

  void hand_over_all(std::uint64_t now_ns) {
    for (; next_ready < ready.size(); ++next_ready) {
      Ready& job = ready[next_ready];
      if (!live.is_running(job.asked.run)) continue;
      Open& one = open.emplace_back();
      one.run = job.asked.run;
      one.stopped = std::make_shared<std::atomic<bool>>(false);
      StepJob handed;
      handed.stopped = one.stopped;
      if (const auto timeout_ns = program->timeouts_ns[job.asked.step]) {
        one.late_at_ns = now_ns > UINT64_MAX - *timeout_ns ? UINT64_MAX : now_ns + *timeout_ns;
        handed.limit = Duration(static_cast<std::int64_t>(
            std::min(*timeout_ns, static_cast<std::uint64_t>(Duration::max().count()))));
      }
      handed.run = [program = program, step = job.asked.step, run = one.run,
                    body_key = key_of(job.asked), stopped = one.stopped,
                    params = job.params.to_bytes()] {
        codec::Buffer out;
        const auto error =
            adapters::perform(program->bodies[step], Call(body_key, *stopped), params, out);
        if (error) return StepMessage{Kind::kLost, run, {}, {}, error->code, error->message};
        const base::ByteView results = adapters::results_of(out.view());
        return StepMessage{Kind::kResult, run, {}, Bytes(results.begin(), results.end()), {}, {}};
      };
      adapter->hand_over(std::move(handed));
    }
    ready.clear();
    next_ready = 0;
  }

  const Open* late(std::uint64_t now_ns) const {
    for (const Open& one : open) {
      if (one.late_at_ns && *one.late_at_ns <= now_ns) return &one;
    }
    return nullptr;
  }

  StepWait wait() const {
    std::optional<std::uint64_t> until = due_ns;
    for (const Open& one : open) {
      if (one.late_at_ns && (!until || *one.late_at_ns < *until)) until = one.late_at_ns;
    }
    StepWait wait;
    if (until) wait.until = detail::time_of(*until);
    wait.is_idle = live.has_begun() && live.is_idle();
    return wait;
  }

  Result<Status> run(std::uint64_t bodies) {
    const auto simple = [](Kind kind, Time at) {
      StepInput input;
      input.kind = kind;
      input.at = at;
      return input;
    };
    while (!outcome) {
      if (has_message || adapter->receive(message)) {
        has_message = true;
        auto taken = take_message();
        if (!taken) return taken.error();
        continue;
      }
      const bool has_bodies = next_ready < ready.size();
      // Idle, with bodies to run: of steps that were cancelled.
      const bool is_idle = live.wants_idle();
      if (due_ns || !open.empty() || is_idle) {
        const Time now = adapter->now();
        const std::uint64_t now_ns = to_ns(now);
        std::optional<StepInput> input;
        EffectError error;
        if (const Open* one = late(now_ns)) {
          input = simple(Kind::kLost, now);
          input->run = one->run;
          error = too_late();
          *one->stopped = true;
          input->code = error.code;
          input->message = error.message;
        } else if (due_ns && *due_ns <= now_ns) {
          input = simple(Kind::kDue, now);
        } else if (is_idle) {
          input = simple(Kind::kIdle, now);
        }
        if (input) {
          auto taken = take(*input);
          if (!taken) return taken.error();
          continue;
        }
      }
      if (has_bodies && takes_jobs) {
        hand_over_all(to_ns(adapter->now()));
        continue;
      }
      if (has_bodies) {
        if (bodies == 0) return Status::kWaiting;
        --bodies;
        auto performed = perform_here();
        if (!performed) return performed.error();
        continue;
      }
      switch (adapter->wait_for_next(wait())) {
        case StepNext::kLook: break;
        case StepNext::kLater: return live.has_begun() ? Status::kWaiting : Status::kNew;
        case StepNext::kRelease: return Status::kReleased;
      }
    }
    return Status::kEnded;
  }

  const std::shared_ptr<const StepProgram::Body> program;
  StepAdapter* adapter;
  Bytes key;
  std::string id;
  adapters::LoopEntries entries;
  steps::LiveRun live;
  bool takes_jobs;
  bool is_replaying = false;
  std::optional<StepOutcome> outcome;
  std::optional<std::uint64_t> due_ns;
  StepMessage message;
  bool has_message = false;  // it has come, and is not journaled
  std::vector<Ready> ready;  // from next_ready on, in the order that they were asked for
  std::size_t next_ready = 0;
  std::vector<Open> open;
  std::vector<codec::Buffer> spares;
  codec::Buffer receipt;
  steps::Arena scratch;
};

StepLoop::StepLoop(const StepProgram& program, StepAdapter& adapter, Bytes key, std::string id)
    : body_(std::make_unique<Body>(program, adapter, std::move(key), std::move(id))) {}
StepLoop::~StepLoop() { body_->end_jobs(); }

void StepLoop::begin_anew(StepAdapter& adapter, Bytes key, std::string id) {
  Body& body = *body_;
  body.end_jobs();
  body.adapter = &adapter;
  body.key = std::move(key);
  body.id = std::move(id);
  body.entries.turn_to(adapter);
  body.live.clear();
  body.takes_jobs = adapter.takes_jobs();
  body.outcome.reset();
  body.due_ns.reset();
  body.has_message = false;
}

Result<StepLoop::Status> StepLoop::run(std::uint64_t bodies) { return body_->run(bodies); }

bool StepLoop::has_more() const noexcept { return body_->next_ready < body_->ready.size(); }

const std::optional<StepOutcome>& StepLoop::outcome() const noexcept { return body_->outcome; }

std::optional<Time> StepLoop::next_due() const { return body_->wait().until; }

Bytes StepLoop::write() const {
  codec::Buffer out;
  body_->live.write(out);
  return out.to_bytes();
}

Result<Done> StepLoop::read(const Bytes& bytes) {
  if (!body_->live.read(bytes, to_ns(body_->adapter->now())))
    return Error{ErrorCode::kCorrupt, body_->program->workflow + ": the bytes are not a run of it"};
  body_->end_jobs();
  body_->outcome.reset();
  body_->entries.finish();
  body_->gather();
  body_->due_ns = body_->live.next_due_ns();
  if (body_->live.ending()) body_->end();
  return Done{};
}

Result<Done> StepLoop::replay(const StepInput& input, bool is_last) {
  StepInput checked = input;
  if (auto refused = body_->check(checked)) return *std::move(refused);
  body_->is_replaying = true;
  body_->entries.is_muted = !is_last;
  body_->reduce(checked);
  body_->entries.is_muted = false;
  body_->is_replaying = false;
  return Done{};
}

}  // namespace holdfast
