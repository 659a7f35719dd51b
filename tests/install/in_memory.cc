// SPDX-License-Identifier: Apache-2.0
// The workflow without an engine: many runs in memory, and one loop with a journal, which is
// released, goes on in another loop, and is replayed.
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "approval.h"
#include "holdfast/memory_runs.h"
#include "holdfast/step_adapter.h"
#include "holdfast/step_loop.h"
#include "holdfast/step_recording.h"

using namespace std::chrono_literals;

namespace {

int run_in_memory() {
  auto runs = holdfast::MemoryRuns<Approval>::open(std::make_shared<Approval>());
  if (!runs) return failed(runs.error().message);
  if (const auto sent = (*runs)->send(Request{"r-1"}); !sent) return failed(sent.error().message);
  if (const auto moved = (*runs)->advance(1s); !moved) return failed(moved.error().message);
  if (const auto sent = (*runs)->send(Request{"r-2"}); !sent) return failed(sent.error().message);
  if (const auto moved = (*runs)->advance(1s); !moved) return failed(moved.error().message);
  if (const auto sent = (*runs)->send(Decision{"r-1", true}); !sent)
    return failed(sent.error().message);
  if (const auto moved = (*runs)->advance(24h * 31); !moved) return failed(moved.error().message);
  for (const char* key : {"r-1", "r-2"}) {
    const auto run = (*runs)->find(key);
    if (!run || !run->outcome) return failed("a run has not ended");
    const auto outcome = run->outcome->as<Outcome>();
    std::printf("%s: %s\n", key, outcome ? outcome->text.c_str() : "no outcome");
  }
  return 0;
}

// Gives what stands ready, lets time pass where nothing does, and gives up where only somebody
// outside could help.
class Outside : public holdfast::StepAdapter {
 public:
  template <class Event>
  void post(const Event& event) {
    messages_.push_back(
        {.schema = std::string(Event::kSchema), .value = holdfast::detail::bytes_of_value(event)});
  }

  holdfast::Time now() override { return now_; }
  bool receive(holdfast::StepMessage& message) override {
    if (messages_.empty()) return false;
    message = std::move(messages_.front());
    messages_.pop_front();
    return true;
  }
  void publish(const holdfast::StepEntryView&) override { ++entries; }
  holdfast::StepNext wait_for_next(const holdfast::StepWait& wait) override {
    if (wait.is_idle || !wait.until) return holdfast::StepNext::kLater;
    now_ = *wait.until;
    return holdfast::StepNext::kLook;
  }
  holdfast::Result<holdfast::Done> journal(const holdfast::StepInput&) override {
    return holdfast::Done{};
  }

  std::size_t entries = 0;

 private:
  holdfast::Time now_{};
  std::deque<holdfast::StepMessage> messages_;
};

int run_with_a_journal() {
  const auto program = holdfast::StepProgram::of(std::make_shared<Approval>());
  if (!program) return failed(program.error().message);
  std::vector<holdfast::Bytes> log;
  const auto append = [&log](const holdfast::Bytes& record) -> holdfast::Result<holdfast::Done> {
    log.push_back(record);
    return holdfast::Done{};
  };
  Outside outside;
  outside.post(Request{"r-1"});
  holdfast::Recorder recorder(outside);
  {
    holdfast::Journaled journaled(recorder, append);
    holdfast::IdleRelease releasing(journaled, 0s);
    holdfast::StepLoop loop(*program, releasing);
    const auto status = loop.run();
    if (!status) return failed(status.error().message);
    if (*status != holdfast::StepLoop::Status::kReleased) return failed("it is not idle");
  }
  if (log.empty() || outside.entries == 0) return failed("nothing has happened");
  if (const auto replayed = replay(*program, recorder.recording()); !replayed)
    return failed(replayed.error().message);
  holdfast::Journaled journaled(outside, append);
  holdfast::StepLoop loop(*program, journaled);
  if (const auto restored = restore(loop, log); !restored) return failed(restored.error().message);
  outside.post(Decision{"r-1", false});
  const auto status = loop.run();
  if (!status) return failed(status.error().message);
  if (!loop.outcome()) return failed("it has not ended");
  const auto outcome = loop.outcome()->as<Outcome>();
  std::printf("journaled: %s\n", outcome ? outcome->text.c_str() : "no outcome");
  return 0;
}

}  // namespace

int main() {
  if (const int wrong = run_in_memory()) return wrong;
  return run_with_a_journal();
}
