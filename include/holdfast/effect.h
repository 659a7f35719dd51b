// SPDX-License-Identifier: Apache-2.0
// Effects: what a workflow may ask the world outside to do, and what it hears of it.
//
//   struct Charge {
//     static constexpr std::string_view kEffect = "shop/charge@1";
//     static constexpr holdfast::Executor kExecutor = holdfast::worker("payments");
//     struct Params { std::uint64_t cents = 0; };
//     struct Receipt { std::string reference; };
//   };
//
// An optional `static constexpr holdfast::Duration kTimeout` bounds how long it may take, from the
// moment that it is opened, restarts included.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/detail/record.h"
#include "holdfast/types.h"

namespace holdfast {

// Who performs an effect.
struct Executor {
  std::string_view kind;
  std::string_view queue;
};

constexpr Executor worker(std::string_view queue) { return {"worker", queue}; }
constexpr Executor built_in(std::string_view kind) { return {kind, {}}; }

enum class Status : std::uint8_t { kOk, kError, kTimeout, kCancelled };

struct EffectError {
  std::string code;
  std::string message;
  bool retryable = false;
};

// What all answers say of the effect they answer.
struct Origin {
  Hash intent;             // the identity of the effect, which executors see too
  std::string_view ref;    // what the workflow called it when it opened it
  std::uint64_t record{};  // the record that opened it
};

// The end of an effect.
template <class Effect>
struct Received {
  Origin origin;
  Status status = Status::kOk;
  typename Effect::Receipt receipt{};  // if it is ok
  EffectError error;                   // if it is not

  bool ok() const noexcept { return status == Status::kOk; }
};

// An end whose receipt did not fit. A workflow that has no step for it fails instead.
template <class Effect>
struct Rejected {
  Origin origin;
  Status status = Status::kOk;
  std::string_view why;
  std::string_view code;  // receipt.invalid_payload, receipt.too_large
};

class Step;

// A sign of life of an effect that is not done. Only workflows that have a step for it hear of it.
template <class Effect>
struct Progress {
  Origin origin;
  std::uint64_t sequence = 0;  // from 1
  std::string_view kind;
  Step* step = nullptr;

  // What was sent along, if it is a T.
  template <class T>
  std::optional<T> as() const;
};

// Built in: wakes the workflow at a time.
struct Timer {
  static constexpr std::string_view kEffect = "sys/timer.set@1";
  static constexpr Executor kExecutor = built_in("timer");
  struct Params {
    static constexpr std::string_view kSchema = "sys/TimerSetParams@1";
    std::uint64_t deliver_at_ns = 0;
    std::optional<std::string> key;
  };
  struct Receipt {
    static constexpr std::string_view kSchema = "sys/TimerSetReceipt@1";
    std::uint64_t delivered_at_ns = 0;
    std::optional<std::string> key;
  };
};

// Built in: runs an instance of another workflow, and says how it ended. Opened with Context::run.
// One that failed answers with its own code, one that was cancelled with workflow.cancelled and
// Status::kCancelled; what could not be started with a code that begins with "workflow.".
struct RunWorkflow {
  static constexpr std::string_view kEffect = "sys/workflow.run@1";
  static constexpr Executor kExecutor = built_in("workflow");
  struct Params {
    static constexpr std::string_view kSchema = "sys/WorkflowRunParams@1";
    std::string workflow;
    std::optional<Bytes> key;  // canonical; nothing: the workflow has none
    std::string event;
    Bytes value;
  };
  struct Receipt {
    static constexpr std::string_view kSchema = "sys/WorkflowRunReceipt@1";
    Bytes result;

    // What it completed with, if it is a T.
    template <class T>
    std::optional<T> as() const;
  };
};

namespace detail {

template <class T>
concept IsEffect = requires {
  { T::kEffect } -> std::convertible_to<std::string_view>;
  { T::kExecutor } -> std::convertible_to<Executor>;
  typename T::Params;
  typename T::Receipt;
};

}  // namespace detail

}  // namespace holdfast
