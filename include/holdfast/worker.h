// SPDX-License-Identifier: Apache-2.0
// Worker: runs tasks of a Holdfast server in this program. Tasks are functions of a struct that
// return a struct:
//
//   struct Resize { std::string file; std::uint64_t width = 0; };
//   struct Size { std::uint64_t bytes = 0; };
//
//   int main() {
//     auto worker = holdfast::Worker::open(
//         {.server = "http://127.0.0.1:7411", .dir = "resizer", .slots = 4},
//         {holdfast::task<Resize>("resize", [](const Resize& input, holdfast::TaskCall& call) {
//           return Size{resize(input.file, input.width, call.key)};
//         })});
//     if (!worker) return 1;
//     return (*worker)->run() ? 0 : 1;
//   }
//
// A task document names the function as its taskType; its spec is the input. A field that the spec
// does not have must be a std::optional. What a function throws is the error of the task and counts
// as an attempt; TaskFailure says whether trying again may help.
//
// A function may run again after a crash or a lost connection: `call.key` is the same each time.
// Its result is durable in `dir` before it is sent, so what was computed while the server was away
// arrives later, once.
//
// Link holdfast::worker for it. docs/worker-protocol.md has what goes over the wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/detail/record.h"
#include "holdfast/detail/value_bytes.h"
#include "holdfast/result.h"
#include "holdfast/types.h"

namespace holdfast {

// Thrown by a function: the code and the message are the error of the task.
class TaskFailure : public std::exception {
 public:
  TaskFailure(std::string the_code, std::string message, bool may_help = true)
      : code(std::move(the_code)), retryable(may_help), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

  const std::string code;
  const bool retryable;

 private:
  std::string message_;
};

// What a function can know of its task. All of it is for any thread, while the function runs.
class TaskCall {
 public:
  struct Body;
  explicit TaskCall(Body& body);

  const std::string key;  // the same each time this task is run: the idempotency key
  const std::string name;
  const std::uint64_t attempt;
  const std::vector<std::uint64_t> devices;  // indexes of the GPUs that are its own

  // The task is cancelled, its time limit is over, or the worker ends: a function that takes long
  // looks at it and returns or throws. Nobody can make it end otherwise.
  bool stopped() const noexcept;

  // The task is asked to make room for another recipe. At its next safe point it calls `yield`. It
  // may also go on to its end: nobody ends it by force.
  bool asked_to_yield() const noexcept;

  // Ends this run, at no cost of attempts: the task waits for its turn again. Must not be caught.
  template <class T>
  [[noreturn]] void yield(const T& value) {
    detail::Schemas schemas;
    std::string type = detail::Form<T>::type(schemas);
    yield(type, schemas, detail::bytes_of_value(value));
  }

  // What an earlier run left with `yield`. Nothing: no run has yielded, or it left another type.
  template <class T>
  std::optional<T> resume() const {
    detail::Schemas schemas;
    std::string type = detail::Form<T>::type(schemas);
    const Bytes bytes = resume(type, schemas);
    Reader reader(bytes);
    T value{};
    if (bytes.empty() || !detail::Form<T>::read(reader, value)) return std::nullopt;
    return value;
  }

  // A line of the log of this task.
  void log(std::string_view line);

  // How far it is. The newest one counts.
  template <class T>
  void progress(const T& value) {
    detail::Schemas schemas;
    std::string type = detail::Form<T>::type(schemas);
    progress(type, schemas, detail::bytes_of_value(value));
  }

 private:
  void progress(const std::string& type, const detail::Schemas& schemas, const Bytes& value);
  [[noreturn]] void yield(const std::string& type, const detail::Schemas& schemas,
                          const Bytes& value);
  Bytes resume(const std::string& type, const detail::Schemas& schemas) const;

  Body& body_;
};

// A function without its types.
struct TaskFunction {
  std::string type;
  std::string input_type;  // type expressions
  std::string output_type;
  detail::Schemas schemas;
  std::function<Bytes(const Bytes& input, TaskCall& call)> run;
};

template <class Input, class Function>
TaskFunction task(std::string type, Function function) {
  using Output = std::decay_t<std::invoke_result_t<Function, const Input&, TaskCall&>>;
  TaskFunction made;
  made.type = std::move(type);
  made.input_type = detail::Form<Input>::type(made.schemas);
  made.output_type = detail::Form<Output>::type(made.schemas);
  made.run = [function = std::move(function)](const Bytes& input, TaskCall& call) -> Bytes {
    Reader reader(input);
    Input value{};
    if (!detail::Form<Input>::read(reader, value))
      throw TaskFailure("task.input", "the input does not fit the struct of the task", false);
    return detail::bytes_of_value(function(std::as_const(value), call));
  };
  return made;
}

struct WorkerOptions {
  std::string server;                   // "http://127.0.0.1:7411"
  std::string token = {};               // with the role worker; empty: the server has none
  std::string dir = "holdfast-worker";  // of its identity and its outbox; made if it is not there
  std::string node = {};                // empty: the name of this machine
  std::string name = {};                // empty: one that is made up once for the folder
  std::vector<std::string> queues = {"default"};
  std::size_t slots = 1;  // tasks at once
  std::map<std::string, std::string> labels = {};
  std::vector<std::string> recipes = {};  // that this machine can serve; for tasks that need one

  // With a registry (docs/registry.md) each task that needs a recipe runs under a lease. With a
  // command, one recipe is served at a time, and the worker swaps when tasks for another one wait:
  // it runs the command with /bin/sh, with HOLDFAST_RECIPE in its environment.
  std::string registry = {};  // the folder; empty: all recipes are served all the time
  std::string swap_command = {};
  std::chrono::milliseconds swap_deadline = std::chrono::seconds(60);  // for tasks to yield
  std::chrono::milliseconds preempt_after =
      std::chrono::seconds(60);  // a recipe is served so long before tasks are asked to yield

  // What it runs besides functions of this program. `echo` is always there.
  std::string python = {};                   // a file whose functions are tasks
  std::string javascript = {};               // the same, for Node.js
  std::vector<std::string> programs = {};    // that tasks of type `process` may run
  std::vector<std::string> http_hosts = {};  // HOST[:PORT][/private] for tasks of type `http`

  // How long running tasks have to end when the worker is to end.
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(60);

  // SIGTERM and SIGINT drain. They must be blocked in all threads of the program before.
  bool drains_on_signals = false;

  // PEM files; empty: those of the system, and none.
  std::string authorities = {};
  std::string client_certificate = {};
  std::string client_key = {};

  std::function<void(std::string_view line)> log = {};
};

class Worker {
 public:
  // kInvalid: an option is wrong. kConflict: another process uses the folder.
  static Result<std::unique_ptr<Worker>> open(WorkerOptions options,
                                              std::vector<TaskFunction> functions = {});
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs tasks until it was drained. An error: it cannot go on, for example because another process
  // of the same worker has taken its place.
  Result<Done> run();

  // From any thread: takes no new work, lets tasks end, and then makes run() return. The second
  // time: gives running tasks back at once.
  void drain();

 private:
  struct Body;
  explicit Worker(std::unique_ptr<Body> body);

  std::unique_ptr<Body> body_;
};

}  // namespace holdfast
