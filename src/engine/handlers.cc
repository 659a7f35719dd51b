// SPDX-License-Identifier: Apache-2.0
#include "engine/handlers.h"

#include <optional>
#include <utility>

#include "codec/buffer.h"
#include "defs/system_names.h"

namespace holdfast::engine {
namespace {

executors::Function function_of(detail::RawHandler run) {
  return [run = std::move(run)](const kernel::OpenIntent& intent,
                                const executors::StopFlag& stopped, executors::Progress& progress) {
    codec::Buffer out;
    std::optional<EffectError> error;
    const Call::Publish publish = [&](std::span<const std::uint8_t> piece) {
      return progress.put(piece);
    };
    {
      Writer receipt(out);
      error = run(Reader(intent.params), Call(intent.intent.to_text(), stopped, publish), receipt);
    }
    if (!error) return executors::succeeded(out);
    return executors::failed(
        error->code, error->message,
        error->retryable ? executors::Retry::kMayHelp : executors::Retry::kUseless);
  };
}

}  // namespace

base::Result<FunctionsByEffect> functions_of(std::vector<Handler> handlers) {
  FunctionsByEffect functions;
  for (Handler& handler : handlers) {
    if (handler.executor.kind != "worker" && handler.effect != defs::kSqlRun) {
      return base::invalid(handler.effect, "the engine performs it by itself: it needs no handler");
    }
    if (!functions.emplace(handler.effect, function_of(std::move(handler.run))).second)
      return base::invalid(handler.effect, "it has two handlers");
  }
  return functions;
}

}  // namespace holdfast::engine
