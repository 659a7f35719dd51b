// SPDX-License-Identifier: Apache-2.0
// Ledger: what the journal says, read as a stranger would, and held against what it said before.
// It knows nothing of the reducer: it sees durable records only, and keeps them in its own way.
//
// It holds that: records once durable stay as they were; an intent is opened once and settled once,
// by the instance that opened it; an instance that has ended stays as it ended; each record names
// the one that touched an instance before; time does not go back; an event id is taken once; a
// timer never rings early; nobody is forgotten who has not ended, or was touched since.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "kernel/record_view.h"
#include "sim/report.h"
#include "store/journal.h"

namespace holdfast::sim {

class Ledger {
 public:
  using Name = std::pair<std::string, base::Bytes>;  // workflow and key

  struct Instance {
    std::string status;
    bool paused = false;
    std::uint64_t last_record = 0;
    bool has_ended() const {
      return status == "completed" || status == "failed" || status == "cancelled";
    }
  };
  struct Intent {
    Name origin;
    std::string effect;
    std::uint64_t opened_ns = 0;  // the time of the tick that did
    std::uint64_t due_ns = 0;     // of a timer
    bool is_settled = false;
  };

  // What an instance has put out in one of its lives, by sequence.
  struct Stream {
    std::uint64_t begun = 0;  // the first sequence that it can have
    std::map<std::uint64_t, base::Bytes> entries;
    std::uint64_t ended = 0;  // the sequence of its end
  };

  // Told of every timer that is opened, and when it is settled.
  using TimerWatch = std::function<void(const base::Hash& intent, const Intent& timer)>;
  void watch_timers(TimerWatch watch) { timer_watch_ = std::move(watch); }

  // Told of every instance that a record touched, once; `begins`: it was not there before.
  using InstanceWatch = std::function<void(const kernel::RecordView& record,
                                           const kernel::InstanceView& instance, bool begins)>;
  void watch_instances(InstanceWatch watch) { instance_watch_ = std::move(watch); }

  explicit Ledger(Report& report) : report_(report) {}

  // Reads what has become durable.
  void catch_up(store::Journal& journal);

  // The same journal was opened again. Everything that was durable must be there, unchanged.
  void reopened(store::Journal& journal);

  std::uint64_t records() const noexcept { return hashes_.size(); }
  const Intent* find(const base::Hash& intent) const;
  std::uint64_t open_intents() const noexcept { return open_; }
  const std::map<Name, Instance>& instances() const noexcept { return instances_; }
  // Of all lives, one after the other.
  using Lives = std::vector<Stream>;
  const std::map<Name, Lives>& streams() const noexcept { return streams_; }

  // The record that took the event with this id; 0: none did.
  std::uint64_t record_of(const std::string& event) const;

 private:
  void read(store::Journal& journal, std::uint64_t from);
  void add(const store::Record& record);
  void add(const kernel::RecordView& record, const kernel::InstanceView& instance);
  void add_stream(const kernel::RecordView& record, const kernel::InstanceView& instance,
                  Stream& stream);
  void check_tick(const kernel::RecordView& record);
  void check_forgotten(const kernel::RecordView& record, const kernel::ForgetEnded& forget);
  void violation(std::uint64_t record, const std::string& what);

  Report& report_;
  std::vector<base::Hash> hashes_;  // of all records, from the first
  std::map<Name, Instance> instances_;
  std::map<Name, Lives> streams_;  // of those that ever put something out
  std::map<base::Hash, Intent> intents_;
  std::map<std::string, std::uint64_t> events_;
  TimerWatch timer_watch_;
  InstanceWatch instance_watch_;
  std::uint64_t open_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace holdfast::sim
