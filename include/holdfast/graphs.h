// SPDX-License-Identifier: Apache-2.0
// Graphs: task graphs of a world. A document (docs/task-documents.md) is compiled, entered in parts
// of bounded size and sealed; then its tasks run, each as soon as what it depends on is done.
//
//   holdfast::Graphs graphs(*engine);
//   auto submitted = graphs.submit({.document = yaml, .id = "nightly-2026-11-18"});
//   auto graph = graphs.graph(submitted->id);
//
// What a call returns is durable. All of it is for any thread. Forms with `then` call it once, as
// those of the engine do; the others wait, and are not for callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/engine.h"

namespace holdfast {

struct GraphSubmission {
  // A task document: JSON or YAML as text, or one canonical CBOR value if `text` is empty.
  std::string text = {};
  Bytes value = {};
  // The id of the graph: 1 to 100 letters, digits and ".-_". Empty: a new one is made. Submitting
  // the same document under the same id again changes nothing, and goes on with one that was cut
  // off.
  std::string id = {};
  std::optional<std::vector<std::string>> task_types = {};  // that exist; nothing: any
  std::size_t max_tasks = 100'000;
};

struct GraphSubmitted {
  std::string id;
  std::uint32_t tasks = 0;
  bool is_repeated = false;  // it was submitted before, and nothing happened now
};

// What is wrong with a document, each with its place. Not empty only if the error is kInvalid or
// kTooLarge.
using GraphProblems = std::vector<std::string>;

enum class TaskStatus : std::uint8_t {
  kPending,
  kDispatched,
  kCancelling,
  kDone,
  kFailed,
  kCancelled
};
std::string_view name_of(TaskStatus status) noexcept;  // "PENDING", ...

struct GraphInfo {
  std::string id;
  std::string name;
  std::string owner;
  std::string kind;
  Bytes annotations;    // a mapping, canonical
  std::string status;   // ENTERING (not sealed), PENDING, DONE, FAILED, CANCELLED
  std::string verdict;  // OPEN, DONE, FAILED (as soon as one task failed), CANCELLED
  std::uint32_t tasks = 0;
  std::uint32_t pending = 0;  // dispatched ones too
  std::uint32_t done = 0;     // skipped ones too
  std::uint32_t skipped = 0;
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
  std::uint32_t epochs = 0;    // 0: none
  std::uint32_t frontier = 0;  // the epoch that runs
  bool is_cancelling = false;
  std::string reason;  // why it is cancelled, and who asked
  std::string cancelled_by;
  std::string error;     // of the task that failed first
  std::string rerun_of;  // the graph whose results it adopted; empty: none
  std::uint64_t created_ns = 0;
  std::uint64_t started_ns = 0;  // 0: not yet
  std::uint64_t ended_ns = 0;    // 0: not yet
  std::uint32_t numbers = 0;     // of tasks, with joins and gates: numbers are below it

  bool has_ended() const noexcept { return ended_ns != 0; }
};

// Consecutive task numbers.
struct TaskNumbers {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct TaskInfo {
  std::uint32_t number = 0;
  enum class Kind : std::uint8_t { kTask, kJoin, kGate } kind = Kind::kTask;
  std::string name;
  std::string type;
  TaskStatus status = TaskStatus::kPending;
  bool is_ready = false;  // it waits for a worker, or one has it
  bool is_skipped = false;
  std::uint64_t waits = 0;  // for how many tasks; the start of the graph and its epoch count, too
  std::uint32_t attempts = 0;                 // executions that counted
  std::optional<std::uint32_t> max_attempts;  // nothing: no limit
  std::optional<std::uint32_t> epoch;
  std::string error_code;  // of the last execution, or what it failed with
  std::string error;
  std::string worker;  // that has it, or that the error is from
  std::string origin;  // it ended with this task, which failed or was cancelled
  std::vector<TaskNumbers> depends_on;
  std::vector<TaskNumbers> dependents;
  std::uint64_t created_ns = 0;
  std::uint64_t ready_ns = 0;  // 0: not yet
  std::uint64_t ended_ns = 0;  // 0: not yet
  // Of a task that is done, if it was asked for; canonical. One of more than 64 KiB is kept as a
  // blob, and {"$blob": HEX, "bytes": N} stands here: Graphs::result reads it.
  Bytes result;
};

struct TaskPage {
  std::vector<TaskInfo> tasks;
  std::uint32_t next = 0;  // the number to go on with; 0: there are no more
};

// What a task waits for before it is ready.
struct TaskWaits {
  std::uint64_t count = 0;      // of tasks, joins and gates; 0: it does not wait for others
  bool is_sealed = true;        // false: its graph has not started
  std::vector<TaskInfo> tasks;  // some of them; a gate stands for the epoch that it opens
};

struct TaskQuery {
  std::uint32_t from = 0;
  std::size_t limit = 100;  // 1 to 1000
  bool with_results = false;
  bool with_links = false;  // joins and gates, too
};

struct GraphListQuery {
  bool only_open = false;
  std::size_t limit = 50;   // 1 to 1000
  std::uint64_t after = 0;  // GraphList::next of the part before
};

struct GraphList {
  std::vector<GraphInfo> graphs;
  std::uint64_t next = 0;  // where to go on; 0: there are no more
};

class Graphs {
 public:
  template <class T>
  using Then = Engine::Then<T>;

  // The engine must outlive what is under way.
  explicit Graphs(Engine& engine) noexcept : engine_(engine) {}

  // Compiles the document on the calling thread. kInvalid, kTooLarge: it is not good, and nothing
  // is stored; `problems` hears all that is wrong with it before `then` is called. kConflict: the
  // id belongs to another graph.
  void submit(const GraphSubmission& submission, GraphProblems* problems,
              Then<GraphSubmitted> then);
  Result<GraphSubmitted> submit(const GraphSubmission& submission,
                                GraphProblems* problems = nullptr);

  // A new graph with the tasks of an old one that has ended; those that were done keep their
  // results and do not run again. kConflict: it has not ended, or all of its tasks were done.
  void rerun(const std::string& graph, const std::string& id, Then<GraphSubmitted> then);
  Result<GraphSubmitted> rerun(const std::string& graph, const std::string& id = {});

  // kNotFound: there is no such graph.
  void graph(const std::string& id, Then<GraphInfo> then);
  Result<GraphInfo> graph(const std::string& id);
  void tasks(const std::string& id, const TaskQuery& query, Then<TaskPage> then);
  Result<TaskPage> tasks(const std::string& id, const TaskQuery& query = {});

  // From the index of the history, submitted last first; see Engine::list_raw.
  void list(const GraphListQuery& query, Then<GraphList> then);
  Result<GraphList> list(const GraphListQuery& query = {});

  // `task` is the key of a task: GRAPH/NUMBER.
  void waits(const std::string& task, Then<TaskWaits> then);
  Result<TaskWaits> waits(const std::string& task);

  // Asks for the end of a graph, or of one task with all that depend on it. A task that runs is
  // CANCELLING until its worker has stopped. kConflict: it has ended.
  void cancel(const std::string& id, const std::string& reason, const std::string& by,
              Then<Done> then);
  Result<Done> cancel(const std::string& id, const std::string& reason = {},
                      const std::string& by = {});
  void cancel_task(const std::string& id, std::uint32_t number, const std::string& reason,
                   const std::string& by, Then<Done> then);
  Result<Done> cancel_task(const std::string& id, std::uint32_t number,
                           const std::string& reason = {}, const std::string& by = {});

  // What a task gets when a worker takes it: its spec with all references resolved, canonical,
  // without tag. `definition` is the field `task` of the params of sys/task.run@1. kNotFound: a
  // value is missing, and the message names the place; kTooLarge: it would be more than 8 MiB.
  void render(const std::string& graph, const Bytes& definition, Then<Bytes> then);
  Result<Bytes> render(const std::string& graph, const Bytes& definition);

  // What a task has returned, canonical, without tag; also one that TaskInfo::result only refers
  // to. kNotFound: there is no such task. kConflict: it is not done.
  void result(const std::string& id, std::uint32_t number, Then<Bytes> then);
  Result<Bytes> result(const std::string& id, std::uint32_t number);

  // Whether the condition of such a task holds.
  void check(const std::string& graph, const Bytes& definition, Then<bool> then);

 private:
  Engine& engine_;
};

}  // namespace holdfast
