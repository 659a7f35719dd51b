// SPDX-License-Identifier: Apache-2.0
#include "engine/handlers.h"

#include <optional>
#include <utility>

#include "codec/buffer.h"

namespace holdfast::engine {
namespace {

executors::Function function_of(detail::RawHandler run) {
  return
      [run = std::move(run)](const kernel::OpenIntent& intent, const executors::StopFlag& stopped) {
        codec::Buffer out;
        std::optional<EffectError> error;
        {
          Writer receipt(out);
          error = run(Reader(intent.params), Call(intent.intent.to_text(), stopped), receipt);
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
    if (handler.executor.kind != "worker") {
      return base::invalid(handler.effect, "the engine performs it by itself: it needs no handler");
    }
    if (!functions.emplace(handler.effect, function_of(std::move(handler.run))).second)
      return base::invalid(handler.effect, "it has two handlers");
  }
  return functions;
}

}  // namespace holdfast::engine
