// SPDX-License-Identifier: Apache-2.0
// Handlers: functions of this program that perform effects, on threads of the engine.
//
//   handle<Charge>([](const Charge::Params& params, const Call& call) -> Outcome<Charge> {
//     return Charge::Receipt{pay(params.cents, call.key)};
//   })
//
// A handler runs again after a crash, unless its receipt was durable: `call.key` is the same then,
// and is what tells the other side that it is the same request.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "holdfast/effect.h"
#include "holdfast/value.h"

namespace holdfast {

struct Call {
  std::string key;  // of the intent, the same each time
};

// What an effect came to: its receipt, or an error that the workflow hears of.
template <class Effect>
using Performed = std::variant<typename Effect::Receipt, EffectError>;

namespace detail {

// How a handler is called without its types: false if it came to an error, which is then written.
using RawHandler = std::function<bool(Reader params, const Call& call, Writer& out)>;

void write_error(Writer& out, const EffectError& error);

}  // namespace detail

struct Handler {
  std::string effect;
  Executor executor;
  detail::RawHandler run;
};

template <class Effect, class Function>
Handler handle(Function function) {
  return {std::string(Effect::kEffect), Effect::kExecutor,
          [function = std::move(function)](Reader in, const Call& call, Writer& out) {
            typename Effect::Params params{};
            if (!detail::Form<typename Effect::Params>::read(in, params)) {
              detail::write_error(out, {"handler.params", "the parameters cannot be read", false});
              return false;
            }
            const Performed<Effect> performed = function(std::as_const(params), call);
            if (const auto* error = std::get_if<EffectError>(&performed)) {
              detail::write_error(out, *error);
              return false;
            }
            detail::Form<typename Effect::Receipt>::write(
                out, std::get<typename Effect::Receipt>(performed));
            return true;
          }};
}

}  // namespace holdfast
