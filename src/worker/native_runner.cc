// SPDX-License-Identifier: Apache-2.0
#include "worker/native_runner.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/type.h"
#include "codec/view.h"
#include "env/quiet_thread.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

// One thing that a thread has to say, in the order in which it said it.
struct Saying {
  enum class Kind : std::uint8_t { kLine, kProgress, kEnded };
  Kind kind;
  std::string dispatch;
  std::string text = {};
  std::optional<Ended> ended = {};
  std::optional<base::Bytes> resume = {};  // it has yielded
};

// What `yield` throws. No std::exception, so that a function does not catch it by accident.
struct YieldedRun {
  base::Bytes resume;
};

// Lines that the loop has not taken yet; a function that logs without end loses some.
constexpr std::size_t kMostSayings = 100'000;

// The types that functions name.
class NamedTypes : public codec::TypeSource {
 public:
  base::Result<void> add(const std::string& name, const std::string& expression) {
    types_.insert_or_assign(name, TRY(parsed(expression)));
    return {};
  }
  const codec::Type* find(std::string_view name) const override {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }
  static base::Result<codec::Type> parsed(const std::string& expression) {
    const base::Bytes bytes = TRY(value_of_json(expression));
    codec::Errors errors;
    auto type = codec::parse_type(codec::View::of(bytes), "$", errors);
    if (!type) return base::invalid(errors[0].where(), errors[0].message());
    return std::move(*type);
  }

 private:
  std::map<std::string, codec::Type, std::less<>> types_;
};

base::Result<codec::Schema> schema_of(const std::string& expression,
                                      const detail::Schemas& schemas) {
  NamedTypes types;
  for (const auto& [name, type] : schemas.all) TRY(types.add(name, type));
  const codec::Type type = TRY(NamedTypes::parsed(expression));
  codec::Errors errors;
  auto schema = codec::Schema::compile(type, types, "$", errors);
  if (!schema) return base::invalid(errors[0].where(), errors[0].message());
  return std::move(*schema);
}

}  // namespace

struct NativeRunner::Shared {
  explicit Shared(executors::WakeUp wake) : wake_up(std::move(wake)) {}

  void say(Saying saying) {
    const std::lock_guard lock(mutex);
    if (saying.kind != Saying::Kind::kEnded && sayings.size() >= kMostSayings) return;
    sayings.push_back(std::move(saying));
    wake_up.call();
  }

  const executors::WakeUp wake_up;
  std::mutex mutex;
  std::vector<Saying> sayings;
};

}  // namespace holdfast::work

namespace holdfast {

struct TaskCall::Body {
  work::Task task;
  std::function<void(std::string_view)> line;
  std::function<void(std::string)> progress;
  std::atomic<bool> is_stopped = false;
  std::atomic<bool> is_to_yield = false;
};

TaskCall::TaskCall(Body& body)
    : key(body.task.key),
      name(body.task.name),
      attempt(body.task.attempt),
      devices(body.task.devices),
      body_(body) {}

bool TaskCall::stopped() const noexcept { return body_.is_stopped; }

bool TaskCall::asked_to_yield() const noexcept { return body_.is_to_yield; }

void TaskCall::yield(const std::string& type, const detail::Schemas& schemas, const Bytes& value) {
  const auto schema = work::schema_of(type, schemas);
  if (!schema) throw TaskFailure("task.yield", schema.error().to_string(), false);
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_cbor(*schema, value);
  if (!made) throw TaskFailure("task.yield", made.error().to_string(), false);
  throw work::YieldedRun{{made->begin(), made->end()}};
}

Bytes TaskCall::resume(const std::string& type, const detail::Schemas& schemas) const {
  if (body_.task.resume.empty()) return {};
  const auto schema = work::schema_of(type, schemas);
  if (!schema) return {};
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_cbor(*schema, body_.task.resume);
  return made ? Bytes(made->begin(), made->end()) : Bytes();
}

void TaskCall::log(std::string_view line) { body_.line(line); }

void TaskCall::progress(const std::string& type, const detail::Schemas& schemas,
                        const Bytes& value) {
  const auto schema = work::schema_of(type, schemas);
  if (!schema) return;
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_cbor(*schema, value);
  if (made) body_.progress(codec::to_json(codec::View::of(*made)));
}

}  // namespace holdfast

namespace holdfast::work {

NativeRunner::NativeRunner(std::map<std::string, std::shared_ptr<const Function>> functions,
                           std::shared_ptr<Shared> shared)
    : functions_(std::move(functions)), shared_(std::move(shared)) {}

// Threads that still run keep what they need, and are heard by nobody.
NativeRunner::~NativeRunner() {
  for (const auto& [dispatch, body] : running_) body->is_stopped = true;
}

base::Result<std::unique_ptr<NativeRunner>> NativeRunner::of(std::vector<TaskFunction> functions) {
  std::map<std::string, std::shared_ptr<const Function>> all;
  for (TaskFunction& function : functions) {
    if (function.type.empty() || function.type.size() > 128)
      return base::invalid("task type", "'" + function.type + "' is empty or too long");
    auto input = schema_of(function.input_type, function.schemas);
    if (!input) return std::move(input).error().within(function.type + ": input");
    auto output = schema_of(function.output_type, function.schemas);
    if (!output) return std::move(output).error().within(function.type + ": output");
    const std::string type = function.type;
    const bool is_new =
        all.emplace(type, std::make_shared<const Function>(
                              Function{std::move(function), std::move(*input), std::move(*output)}))
            .second;
    if (!is_new) return base::invalid("task type", "'" + type + "' has two functions");
  }
  auto shared = std::make_shared<Shared>(TRY(executors::WakeUp::make()));
  return std::unique_ptr<NativeRunner>(new NativeRunner(std::move(all), std::move(shared)));
}

std::vector<std::string> NativeRunner::types() const {
  std::vector<std::string> all;
  for (const auto& [type, function] : functions_) all.push_back(type);
  return all;
}

void NativeRunner::start(const Task& task, TaskReports& reports) {
  const std::shared_ptr<const Function> function = functions_.at(task.type);
  codec::Normaliser normaliser;
  const auto input = normaliser.part_from_cbor(function->input, task.input);
  if (!input)
    return reports.ended(task.dispatch,
                         Ended::failed("task.input", input.error().to_string(), false));
  auto body = std::make_shared<TaskCall::Body>();
  body->task = task;
  const std::string dispatch = task.dispatch;
  body->line = [shared = shared_, dispatch](std::string_view line) {
    shared->say({Saying::Kind::kLine, dispatch, plain_text(line, kMaxLineBytes)});
  };
  body->progress = [shared = shared_, dispatch](std::string json) {
    shared->say({Saying::Kind::kProgress, dispatch, std::move(json)});
  };
  const auto perform = [shared = shared_, body, function, dispatch,
                        bytes = Bytes(input->begin(), input->end())] {
    Ended ended;
    std::optional<base::Bytes> resume;
    try {
      TaskCall call(*body);
      const Bytes result = function->function.run(bytes, call);
      codec::Normaliser checked;
      const auto value = checked.part_from_cbor(function->output, result);
      ended = value ? Ended::ok({value->begin(), value->end()})
                    : Ended::failed("task.output", value.error().to_string(), false);
    } catch (YieldedRun& yielded) {
      resume = std::move(yielded.resume);
    } catch (const TaskFailure& failure) {
      ended = Ended::failed(failure.code, failure.what(), failure.retryable);
    } catch (const std::exception& problem) {
      ended = Ended::failed("task.exception", problem.what());
    } catch (...) {
      ended = Ended::failed("task.exception", "something that is no std::exception was thrown");
    }
    shared->say({Saying::Kind::kEnded, dispatch, {}, std::move(ended), std::move(resume)});
  };
  try {
    env::quiet_thread(perform).detach();
  } catch (const std::system_error& problem) {
    return reports.ended(task.dispatch, Ended::failed("task.thread", problem.what()));
  }
  running_[dispatch] = std::move(body);
}

void NativeRunner::stop(const std::string& dispatch, StopReason reason, Urgency) {
  const auto found = running_.find(dispatch);
  if (found == running_.end()) return;
  if (reason == StopReason::kPreempt) found->second->is_to_yield = true;
  found->second->is_stopped = true;
}

void NativeRunner::abandon(const std::string& dispatch) {
  const auto found = running_.find(dispatch);
  if (found == running_.end()) return;
  found->second->is_stopped = true;
  running_.erase(found);
  ++abandoned_;
}

void NativeRunner::add_polled(std::vector<pollfd>& polled) {
  polled.push_back({shared_->wake_up.descriptor(), POLLIN, 0});
}

void NativeRunner::go_on(const pollfd* polled, TaskReports& reports) {
  if (polled->revents == 0) return;
  shared_->wake_up.listened();
  std::vector<Saying> sayings;
  {
    const std::lock_guard lock(shared_->mutex);
    sayings.swap(shared_->sayings);
  }
  for (Saying& saying : sayings) {
    const bool is_known = running_.contains(saying.dispatch);
    switch (saying.kind) {
      case Saying::Kind::kLine:
        if (is_known) reports.line(saying.dispatch, false, saying.text);
        break;
      case Saying::Kind::kProgress:
        if (is_known) reports.progress(saying.dispatch, std::move(saying.text));
        break;
      case Saying::Kind::kEnded:
        if (running_.erase(saying.dispatch) == 0) {
          --abandoned_;
        } else if (saying.resume) {
          reports.yielded(saying.dispatch, std::move(*saying.resume));
        } else {
          reports.ended(saying.dispatch, std::move(*saying.ended));
        }
        break;
    }
  }
}

}  // namespace holdfast::work
