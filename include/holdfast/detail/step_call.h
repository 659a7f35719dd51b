// SPDX-License-Identifier: Apache-2.0
// StepCall: one run of a step, without types: what it may see, and what its body did. The seam
// between holdfast/steps.h and the engine.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/retry.h"
#include "holdfast/step.h"

namespace holdfast::detail {

using ByteSpan = std::span<const std::uint8_t>;

// The effect of a step.
std::string step_effect(std::string_view workflow, std::string_view step);

struct SchemaValue {
  std::string_view schema;
  ByteSpan value;
};

// How a child ended.
struct ChildEnd {
  enum class Fate : std::uint8_t { kCompleted, kFailed, kCancelled };
  Fate fate = Fate::kCompleted;
  ByteSpan result;  // kCompleted; else code and message
  std::string_view code;
  std::string_view message;
};

// What a body may send, and to whom: of the types of the workflow.
struct StepRoutes {
  struct Step {
    std::string name;
    std::vector<std::string> takes;  // schemas
  };
  std::vector<Step> steps;
  std::string stop;                // the schema of what ends a run
  std::vector<std::string> types;  // all schemas of the workflow
};

class StepCall {
 public:
  // What it is made of must outlive it. Without routes nothing that is sent is held against them.
  explicit StepCall(Reader params, const StepRoutes* routes = nullptr);
  ~StepCall();
  StepCall(const StepCall&) = delete;
  StepCall& operator=(const StepCall&) = delete;

  bool good() const noexcept { return good_; }

  // What there is to see.
  std::string_view schema() const noexcept { return schema_; }
  bool is_list() const noexcept { return is_list_; }
  ByteSpan value() const noexcept { return value_; }
  ByteSpan key() const noexcept { return key_; }
  std::uint64_t failures() const noexcept { return failures_; }
  const std::optional<std::pair<std::string, std::string>>& last_error() const noexcept {
    return last_error_;  // code and message
  }
  bool is_judging() const noexcept { return is_judging_; }
  std::vector<SchemaValue> buffer(std::string_view name) const;  // as the body has left it

  // A wait that is over: an answer, or nothing, if it timed out.
  struct Waited {
    std::string_view id;
    std::optional<SchemaValue> answer;
    std::optional<ChildEnd> child;  // of a wait for a child
  };
  const Waited* find_wait(std::string_view id) const;

  // What is wrong with what has come under the name of a wait: the body waits for something else
  // than when it began to, an event of a schema or (none) the end of a child, so it did not do the
  // same up to here. Empty: nothing is. One that timed out does not tell what it was for.
  static std::string misfit(const Waited& waited, std::optional<std::string_view> schema);
  std::optional<ByteSpan> stored(std::string_view key) const;  // as the body has left it

  // Why an event cannot be sent to that step, or to all; why it cannot be waited for. Empty: it
  // can.
  std::string wrong_send(std::string_view schema, std::string_view step) const;
  std::string wrong_wait(std::string_view schema) const;
  // Why an event cannot be put into the stream. Empty: it can.
  std::string wrong_put(std::string_view schema) const;
  // Why a value cannot be read by others, such as a text that is not UTF-8. Empty: it can.
  static std::string wrong_value(std::string_view schema, ByteSpan value);

  // What a body does. One that goes on after it has begun to wait has caught what ends it: it
  // fails.
  void return_nothing();
  void return_event(std::string_view schema, const Bytes& value);
  void return_list(const std::vector<std::pair<std::string_view, Bytes>>& events);
  void send(std::string_view schema, const Bytes& value, std::string_view step);
  void put(std::string_view schema, const Bytes& value);
  void collect(std::string_view buffer, std::string_view schema, ByteSpan value);
  void empty(std::string_view buffer);
  void saw(std::string_view buffer);  // decided by it, and leaves it as it is
  void store(std::string_view key, Bytes value, bool is_transactional);
  void cancel_step(std::string_view step);
  void cancel_run(std::string_view reason);
  struct Wanted {
    std::string field;
    Bytes value;
  };
  void wait(std::string_view id, std::string_view schema, const std::vector<Wanted>& wanted,
            Duration timeout, const std::optional<std::pair<std::string_view, Bytes>>& asks);
  // Runs an instance of another workflow, and waits for its end.
  void run_child(std::string_view id, std::string_view workflow, const Bytes& key,
                 std::string_view schema, const Bytes& start, Duration timeout);

  // How it failed; `took` is how long this run took.
  void fail(std::string_view code, std::string_view message);
  bool has_failed() const noexcept { return has_failed_; }
  using RetryPolicy = std::function<std::optional<Duration>(const StepFailure&)>;
  void judge(const RetryPolicy& policy, Duration took);
  // It is not tried again, and its own error stays.
  void policy_threw(std::string_view what);

  void write_receipt(Writer& out) const;

  // A name of its own for each wait of the body, also for one that has the name of another.
  std::string wait_id(const std::string& wanted);

 private:
  bool read(Reader& in);
  bool read_work(Reader in);
  bool read_waits(Reader& in);
  bool read_store(Reader& in);
  bool read_last_error(Reader& in);
  struct Collected;
  Collected& collected(std::string_view name);
  void add(const std::function<void(Writer&)>& write);
  bool begin_wait(std::string_view id);
  bool is_caught();

  bool good_ = false;
  const StepRoutes* routes_ = nullptr;
  std::string_view step_;
  std::string_view schema_;
  std::uint64_t failures_ = 0;
  std::optional<std::pair<std::string, std::string>> last_error_;
  ByteSpan key_;
  bool is_list_ = false;
  ByteSpan value_;
  std::uint64_t item_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t now_ns_ = 0;
  bool is_judging_ = false;
  struct Collected {
    std::string name;
    std::vector<SchemaValue> events;
  };
  std::vector<Collected> buffers_;
  std::deque<Bytes> own_;  // what the buffers borrow besides the params
  std::vector<Waited> waits_;
  struct Stored {
    std::string key;
    Bytes value;  // empty: erased
  };
  std::vector<Stored> store_;

  std::map<std::string, std::uint64_t> waits_asked_;  // how often under each name
  std::unique_ptr<codec::Buffer> results_;
  std::uint64_t count_ = 0;
  bool is_waiting_ = false;
  std::string waits_for_;  // the name of that wait
  bool has_failed_ = false;
  std::string code_;
  std::string message_;
};

}  // namespace holdfast::detail
