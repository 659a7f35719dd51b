// SPDX-License-Identifier: Apache-2.0
// TaskOutcomes: reads the results of tasks that another one depends on, some hundred at a time, and
// holds them. Those that are kept as blobs are read, too. What a task has returned never changes,
// so it does not matter when it is read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "holdfast/engine.h"
#include "tasks/render.h"

namespace holdfast::engine {

// How instances are read: Engine::query_raw, or what is behind it.
using ReadInstances = std::function<void(std::vector<Engine::RawName>,
                                         Engine::Then<Engine::RawInstances>, std::size_t bytes)>;

// How blobs are read: Engine::read_blob, or what is behind it.
using ReadBlob = std::function<void(const Hash&, Engine::Then<Bytes>)>;

class TaskOutcomes : public tasks::Outcomes, public std::enable_shared_from_this<TaskOutcomes> {
 public:
  // What one task may read of others, before references pick what they need of it.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  TaskOutcomes(ReadInstances read, ReadBlob read_blob, std::string graph)
      : read_(std::move(read)), read_blob_(std::move(read_blob)), graph_(std::move(graph)) {}

  // Once. kUnavailable: one of them is not done, which is a contradiction if the task is ready.
  void load(std::vector<tasks::TaskRange> tasks, Engine::Then<Done> then);

  std::optional<tasks::Outcome> find(tasks::TaskIndex task) const override;

 private:
  struct Held {
    Bytes result;
    std::string id;
  };
  void load_more();
  void take(Engine::RawInstances found);
  void load_blobs();
  bool add_bytes(std::size_t bytes);

  ReadInstances read_;
  ReadBlob read_blob_;
  std::string graph_;
  std::vector<tasks::TaskRange> ranges_;  // still to be read
  std::vector<tasks::TaskIndex> asked_;
  std::vector<tasks::TaskIndex> references_;  // held, and still to be replaced by their results
  Engine::Then<Done> then_;
  std::unordered_map<tasks::TaskIndex, Held> held_;  // only looked into
  std::size_t bytes_ = 0;
};

// The inputs of a task that its condition reads.
std::vector<tasks::TaskRange> read_by_condition(const tasks::TaskDefinition& task);

// Those that its spec reads.
std::vector<tasks::TaskRange> read_by_spec(const tasks::TaskDefinition& task);

}  // namespace holdfast::engine
