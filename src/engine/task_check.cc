// SPDX-License-Identifier: Apache-2.0
#include "engine/task_check.h"

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "executors/functions.h"
#include "tasks/task_codec.h"

namespace holdfast::engine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAtStop(50);
constexpr milliseconds kTryAgain(20);

// Nothing: nobody waits for it any more.
std::optional<Result<Done>> load(const std::shared_ptr<TaskOutcomes>& outcomes,
                                 const tasks::TaskDefinition& task,
                                 const executors::StopFlag& stopped) {
  const auto loaded = std::make_shared<std::promise<Result<Done>>>();
  auto answer = loaded->get_future();
  outcomes->load(read_by_condition(task),
                 [loaded](Result<Done> told) { loaded->set_value(std::move(told)); });
  while (answer.wait_for(kLookAtStop) != std::future_status::ready) {
    if (stopped) return std::nullopt;
  }
  return answer.get();
}

executors::Receipt check(const ReadInstances& read, const ReadBlob& read_blob,
                         const kernel::OpenIntent& intent, const executors::StopFlag& stopped) {
  const codec::View params = codec::View::of(intent.params);
  const auto task = tasks::read_task(*params.find("task"));
  if (!task) return executors::failed("task.condition", task.error());
  for (;;) {
    const auto outcomes = std::make_shared<TaskOutcomes>(
        read, read_blob, std::string(params.find("graph")->text().value_or("")));
    const auto loaded = load(outcomes, *task, stopped);
    if (!loaded) return executors::failed("task.condition", "it was stopped");
    if (*loaded) {
      const auto holds = tasks::condition_holds(*task, *outcomes);
      if (!holds) return executors::failed("task.condition", holds.error());
      codec::Buffer out;
      codec::write_map_head(out, 1);
      codec::write_text(out, "holds");
      codec::write_bool(out, *holds);
      return executors::succeeded(out);
    }
    // Too much is asked of the world at the moment, or it is being closed: then this is stopped
    // soon, and performed again when it is open.
    const ErrorCode code = loaded->error().code;
    if ((code != ErrorCode::kUnavailable && code != ErrorCode::kEnded) || stopped)
      return executors::failed("task.condition", loaded->error().message);
    std::this_thread::sleep_for(kTryAgain);
  }
}

}  // namespace

std::unique_ptr<executors::Executor> task_check_executor(ReadInstances read, ReadBlob read_blob) {
  std::map<std::string, executors::Function, std::less<>> functions;
  functions.emplace(defs::kTaskCheck,
                    [read = std::move(read), read_blob = std::move(read_blob)](
                        const kernel::OpenIntent& intent, const executors::StopFlag& stopped,
                        executors::Progress&) { return check(read, read_blob, intent, stopped); });
  return std::make_unique<executors::Functions>(std::move(functions),
                                                executors::FunctionOptions{.threads = 1});
}

}  // namespace holdfast::engine
