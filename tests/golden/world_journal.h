// SPDX-License-Identifier: Apache-2.0
// A journal of a world with the golden workflows: its records, and how the instances that a record
// touched stood behind it. Everything that a world takes from outside is the same each time, so
// that the same code writes the same journal.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "kernel/record_view.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "native/bundle.h"
#include "native/machines.h"
#include "tests/golden/flows.h"
#include "tests/golden/lines.h"

namespace holdfast::golden {

// A world of today's code.
struct Stage {
  const std::vector<Module> modules = golden::modules();
  const native::Machines machines{modules};
  kernel::testing::MemoryBlobs blobs;
  kernel::World world{machines, blobs};
};

inline std::string hash_text(base::ByteView value) {
  return value.empty() ? "-" : base::sha256(value).to_text();
}

// What `record` touched, as the world has it now.
inline Lines states_behind(kernel::World& world, base::ByteView record) {
  Lines lines;
  const auto view = kernel::read_record(record);
  CHECK(view);
  for (const kernel::InstanceView& touched : view->instances) {
    const auto values = world.read(touched.workflow, touched.key);
    CHECK(values);
    std::string text = kernel::instance_text(touched.workflow, touched.key) + " ";
    if (*values) {
      text += std::string(touched.status) + " state " + hash_text((*values)->state) + " outcome " +
              hash_text((*values)->outcome);
    } else {
      text += "gone";
    }
    lines.push_back({"state", std::move(text)});
  }
  return lines;
}

class WorldJournal {
 public:
  WorldJournal() {
    for (auto handlers :
         {step_handlers(std::make_shared<Trip>()), step_handlers(std::make_shared<Review>())}) {
      for (Handler& handler : handlers) run_.emplace(handler.effect, std::move(handler.run));
    }
    const defs::Catalogue builtin = defs::builtin_catalogue();
    const defs::Bundle bundle = native::load(stage_.modules, &builtin);
    CHECK(bundle.errors.empty());
    const auto closure = defs::closure_of(bundle);
    CHECK(closure);
    tick(kernel::ApplyManifest{*closure});
  }

  template <class Event>
  void send(const Event& event, std::string_view id = {}) {
    const Bytes value = detail::bytes_of_value(event);
    tick(kernel::EventArrived{Event::kSchema, value, id});
    settle();
  }
  void cancel(std::string_view workflow, const std::string& key) {
    const Bytes name = detail::bytes_of_value(key);
    tick(kernel::ControlRequested{kernel::Control::kCancel, workflow, name, "not wanted"});
    settle();
  }
  // Timers go off at their times.
  void advance(std::chrono::nanoseconds by) {
    const std::uint64_t until = now_ns_ + static_cast<std::uint64_t>(by.count());
    while (!timers_.empty() && timers_.begin()->first <= until) {
      now_ns_ = std::max(now_ns_, timers_.begin()->first);
      settle();
    }
    now_ns_ = until;
  }

  const Lines& lines() const { return lines_; }

 private:
  void tick(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = ++now_ns_;
    tick.entropy.fill(static_cast<std::uint8_t>(stage_.world.next_record()));
    tick.input = std::move(input);
    const kernel::Outcome outcome = stage_.world.reduce(tick);
    CHECK(!outcome.failure && !outcome.record.empty());
    lines_.push_back(bytes_line("record", outcome.record));
    for (Line& line : states_behind(stage_.world, outcome.record))
      lines_.push_back(std::move(line));
    for (const kernel::Command& command : outcome.commands) take(command);
  }
  void take(const kernel::Command& command) {
    if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) {
      if (open->effect->executor.kind != "timer") return waiting_.push_back(*open);
      const auto due = codec::View::of(open->params).find("deliver_at_ns");
      timers_.emplace(due->nat().value(), *open);
    } else if (const auto* stop = std::get_if<kernel::StopIntent>(&command)) {
      const auto is_it = [&](const kernel::OpenIntent& one) { return one.intent == stop->intent; };
      std::erase_if(waiting_, is_it);
      std::erase_if(timers_, [&](const auto& timer) { return is_it(timer.second); });
    }
  }
  void settle() {
    while (true) {
      if (stage_.world.has_ready()) {
        tick(kernel::Continue{});
      } else if (!waiting_.empty()) {
        const kernel::OpenIntent intent = std::move(waiting_.front());
        waiting_.pop_front();
        perform(intent);
      } else if (!timers_.empty() && timers_.begin()->first <= now_ns_) {
        const base::Hash timer = timers_.begin()->second.intent;
        timers_.erase(timers_.begin());
        answer(timer, detail::bytes_of_value(Timer::Receipt{now_ns_, std::nullopt}));
      } else {
        return;
      }
    }
  }
  void perform(const kernel::OpenIntent& intent) {
    codec::Buffer out;
    {
      Writer receipt(out);
      const std::atomic<bool> stopped = false;
      const auto error = run_.at(intent.effect->name)(
          Reader(intent.params), Call(intent.intent.to_text(), stopped), receipt);
      CHECK(!error);
    }
    answer(intent.intent, out.to_bytes());
  }
  void answer(const base::Hash& intent, const base::Bytes& payload) {
    tick(kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kOk, payload, {}, {}});
  }

  Stage stage_;
  std::map<std::string, detail::RawHandler, std::less<>> run_;
  std::uint64_t now_ns_ = 1'700'000'000'000'000'000;
  std::deque<kernel::OpenIntent> waiting_;
  std::multimap<std::uint64_t, kernel::OpenIntent> timers_;
  Lines lines_;
};

// One trip that goes all the way, one that is cancelled with its child, one that fails.
inline Lines write_world_journal() {
  WorldJournal journal;
  journal.send(Plan{"t-1", 3, true}, "e-1");
  journal.advance(5s);
  journal.send(Plan{"t-2", 1, true});
  journal.advance(2h);
  journal.send(Answer{"t-1/review", false, "guest"});
  journal.send(Answer{"t-1/review", true, "chief"});
  journal.cancel(Trip::kWorkflow, "t-2");
  journal.send(Plan{"t-3", 13, false});
  journal.advance(96h);
  return journal.lines();
}

}  // namespace holdfast::golden
