// SPDX-License-Identifier: Apache-2.0
// Admission: gives requests to the engine and decides what is written back about them. A decision
// is made only of what is durable in the engine, and the same requests may be admitted any number
// of times: events carry an id made of the installation and the request, and the engine takes an
// event once.
//
//   1. Starts and sends, in their order. A start that is cancelled already is not begun, unless the
//      engine has it from before a crash.
//   2. Signals, in their order, for instances that the engine has.
//   3. Cancels.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/engine.h"
#include "postgres/request.h"
#include "postgres/values.h"

namespace holdfast::postgres {

// An instance that was started by a request.
struct Started {
  std::string id;
  std::string workflow;
  Bytes key;
};

class Admission {
 public:
  Admission(Engine& engine, Values& values, const std::string& source)
      : engine_(engine), values_(values), prefix_("pg/" + source + "/") {}

  // Decides about them in this order. There may be one decision more than there are requests for
  // each cancel: that of a start which is not due yet.
  void admit(const std::vector<Request>& requests);

  const std::vector<Decision>& decisions() const noexcept { return decisions_; }
  const std::vector<Started>& started() const noexcept { return started_; }
  std::size_t left() const noexcept;
  // The newest record of the engine that has an event of the requests so far.
  std::uint64_t newest_record() const noexcept { return newest_record_; }
  // What the ids of all events begin with, but for the last "/".
  std::string source() const { return prefix_.substr(0, prefix_.size() - 1); }
  const std::string& why_left() const noexcept { return why_left_; }

 private:
  struct Prepared {
    std::size_t request = 0;
    Bytes value = {};
    Bytes key = {};
  };

  void begin(const std::vector<Request>& requests);
  void signal(const std::vector<Request>& requests);
  void cancel(const std::vector<Request>& requests);
  void cancel_flows(const std::vector<Request>& requests, std::vector<Prepared> all);
  void cancel_before_start(const std::vector<Request>& requests, std::vector<Prepared>& waiting);

  bool prepare(const Request& request, Prepared& prepared);
  void keep_known(const std::vector<Request>& requests, std::vector<Prepared>& wanted,
                  Outcome otherwise, bool (*is_asked)(const Request&));
  std::vector<Result<Sent>> send(const std::vector<Request>& requests,
                                 const std::vector<Prepared>& all);
  void judge(std::size_t request, const Error& error);
  void judge_conflicts(const std::vector<Request>& requests, const std::vector<Prepared>& all);
  Outcome state_of_target(const Request& request) const;
  void set(std::size_t request, Outcome outcome, std::string detail = {});

  Engine& engine_;
  Values& values_;
  const std::string prefix_;
  std::vector<Decision> decisions_;
  std::vector<Started> started_;
  std::unordered_map<std::string, std::size_t> starts_;  // of this batch, by id
  std::string why_left_;
  std::uint64_t newest_record_ = 0;
};

}  // namespace holdfast::postgres
