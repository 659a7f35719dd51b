// SPDX-License-Identifier: Apache-2.0
// Handlers: functions of this program that perform effects, on threads of the engine.
//
//   handle<Charge>([](const Charge::Params& params, const Call& call) -> Performed<Charge> {
//     return Charge::Receipt{pay(params.cents, call.key)};
//   })
//
// A handler runs again after a crash, unless its receipt was durable: `call.key` is the same then,
// and is what tells the other side that it is the same request. What it throws is an error that the
// workflow hears of, handler.exception.
//
// When the time limit of an effect (kTimeout) is over, the workflow hears Status::kTimeout at once,
// and what the handler returns later is ignored. The handler can see it, `call.stopped()`, but
// nobody can make it end: until it does, it has its thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/effect.h"
#include "holdfast/value.h"

namespace holdfast {

class Call {
 public:
  // Takes one canonical item; false: nobody hears it.
  using Publish = std::function<bool(std::span<const std::uint8_t> piece)>;

  Call(std::string the_key, const std::atomic<bool>& stopped, Publish publish = nullptr)
      : key(std::move(the_key)), stopped_(stopped), publish_(std::move(publish)) {}

  const std::string key;  // of the intent, the same each time

  // The outcome is not waited for any more, its time limit is over, or the engine closes: a handler
  // that takes long may end.
  bool stopped() const noexcept { return stopped_; }

  // A piece of output, at once, as progress of the effect (a workflow hears it if it takes
  // sys/EffectStreamFrame@1). Waits while more is on its way than is good. False: nobody hears it
  // any more. Where effects run in memory, without an engine, it is never heard.
  bool publishes() const noexcept { return publish_ != nullptr; }
  bool publish(std::span<const std::uint8_t> piece) const { return publish_ && publish_(piece); }

 private:
  const std::atomic<bool>& stopped_;
  Publish publish_;
};

// What an effect came to: its receipt, or an error that the workflow hears of.
template <class Effect>
using Performed = std::variant<typename Effect::Receipt, EffectError>;

namespace detail {

// How a handler is called without its types: it writes its receipt, or comes to an error.
using RawHandler =
    std::function<std::optional<EffectError>(Reader params, const Call& call, Writer& receipt)>;

}  // namespace detail

struct Handler {
  std::string effect;
  Executor executor;
  detail::RawHandler run;
};

// These handlers, and those of an earlier version for effects that they do not perform: instances
// that began with it still open them.
inline std::vector<Handler> with_earlier(std::vector<Handler> handlers,
                                         std::vector<Handler> earlier) {
  const std::size_t count = handlers.size();
  for (Handler& each : earlier) {
    const auto end = handlers.begin() + static_cast<std::ptrdiff_t>(count);
    const bool is_there = std::any_of(handlers.begin(), end, [&](const Handler& present) {
      return present.effect == each.effect;
    });
    if (!is_there) handlers.push_back(std::move(each));
  }
  return handlers;
}

template <class Effect, class Function>
Handler handle(Function function) {
  return {std::string(Effect::kEffect), Effect::kExecutor,
          [function = std::move(function)](Reader in, const Call& call,
                                           Writer& out) -> std::optional<EffectError> {
            typename Effect::Params params{};
            if (!detail::Form<typename Effect::Params>::read(in, params))
              return EffectError{"handler.params", "they do not fit the struct of the effect"};
            const Performed<Effect> performed = function(std::as_const(params), call);
            if (const auto* error = std::get_if<EffectError>(&performed)) return *error;
            detail::Form<typename Effect::Receipt>::write(
                out, *std::get_if<typename Effect::Receipt>(&performed));
            return std::nullopt;
          }};
}

}  // namespace holdfast
