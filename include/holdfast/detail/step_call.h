// SPDX-License-Identifier: Apache-2.0
// StepCall: one run of a step, without types: what it may see, and what its body did. The seam
// between holdfast/steps.h and the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/retry.h"
#include "holdfast/value.h"

namespace holdfast::detail {

using ByteSpan = std::span<const std::uint8_t>;

// The bytes of a value.
Bytes encoded(const std::function<void(Writer&)>& write);

// The effect of a step.
std::string step_effect(std::string_view workflow, std::string_view step);

struct SchemaValue {
  std::string_view schema;
  ByteSpan value;
};

class StepCall {
 public:
  // What it is made of must outlive it.
  explicit StepCall(Reader params) { good_ = read(params); }

  bool good() const noexcept { return good_; }

  // What there is to see.
  std::string_view schema() const noexcept { return schema_; }
  bool is_list() const noexcept { return is_list_; }
  ByteSpan value() const noexcept { return value_; }
  ByteSpan key() const noexcept { return key_; }
  std::uint64_t failures() const noexcept { return failures_; }
  bool is_judging() const noexcept { return is_judging_; }
  std::vector<SchemaValue> buffer(std::string_view name) const;

  // A wait that is over: an answer, or nothing, if it timed out.
  struct Waited {
    std::string_view id;
    std::optional<SchemaValue> answer;
  };
  const Waited* find_wait(std::string_view id) const;
  std::optional<ByteSpan> stored(std::string_view key) const;  // as the body has left it

  // What a body does.
  void return_nothing();
  void return_event(std::string_view schema, const Bytes& value);
  void return_list(const std::vector<std::pair<std::string_view, Bytes>>& events);
  void send(std::string_view schema, const Bytes& value, std::string_view step);
  void put(std::string_view schema, const Bytes& value);
  void collect(std::string_view buffer, std::string_view schema, ByteSpan value);
  void empty(std::string_view buffer);
  void store(std::string_view key, Bytes value, bool is_transactional);
  void cancel_step(std::string_view step);
  void cancel_run(std::string_view reason);
  struct Wanted {
    std::string field;
    Bytes value;
  };
  void wait(std::string_view id, std::string_view schema, const std::vector<Wanted>& wanted,
            Duration timeout, const std::optional<std::pair<std::string_view, Bytes>>& asks);

  // How it failed; `took` is how long this run took.
  void fail(std::string_view code, std::string_view message);
  bool has_failed() const noexcept { return has_failed_; }
  void judge(const Retry& retry, Duration took);

  void write_receipt(Writer& out) const;

  // A name of its own for each wait of the body, also for one that has the name of another.
  std::string wait_id(const std::string& wanted);

 private:
  bool read(Reader& in);
  bool read_work(Reader in);
  bool read_waits(Reader& in);
  bool read_store(Reader& in);
  void add(const std::function<void(Writer&)>& write);

  bool good_ = false;
  std::string_view step_;
  std::string_view schema_;
  std::uint64_t failures_ = 0;
  ByteSpan key_;
  bool is_list_ = false;
  ByteSpan value_;
  std::uint64_t item_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t now_ns_ = 0;
  bool is_judging_ = false;
  struct Collected {
    std::string_view name;
    std::vector<SchemaValue> events;
  };
  std::vector<Collected> buffers_;
  std::vector<Waited> waits_;
  struct Stored {
    std::string key;
    Bytes value;  // empty: erased
  };
  std::vector<Stored> store_;

  std::map<std::string, std::uint64_t> waits_asked_;  // how often under each name
  Bytes results_;
  std::uint64_t count_ = 0;
  bool has_failed_ = false;
  std::string code_;
  std::string message_;
};

}  // namespace holdfast::detail
