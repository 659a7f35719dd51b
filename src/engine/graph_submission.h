// SPDX-License-Identifier: Apache-2.0
// GraphEntry: enters a graph into a world, part by part, each when the one before it is durable.
// It can be cut off at any moment: the world then has a part of a graph, which never runs; entering
// the same graph under the same id goes on with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "holdfast/graphs.h"
#include "tasks/graph_cell.h"
#include "tasks/graph_parts.h"

namespace holdfast::engine {

// Where the parts of a graph come from.
class GraphParts {
 public:
  virtual ~GraphParts() = default;

  // The part that begins with a task, and the task that the next one begins with; on any thread.
  struct Part {
    Bytes bytes;
    tasks::TaskIndex next = 0;
  };
  virtual void part_from(tasks::TaskIndex first, Engine::Then<Part> then) = 0;
};

class GraphEntry : public std::enable_shared_from_this<GraphEntry> {
 public:
  GraphEntry(Engine& engine, std::string id, tasks::GraphHeader header,
             std::unique_ptr<GraphParts> parts, Engine::Then<GraphSubmitted> then);

  // `may_exist`: somebody may have begun with it before.
  void begin(bool may_exist);

 private:
  void look();
  void open();
  void send_part(tasks::TaskIndex first);
  void seal();
  void confirm();
  void send(std::string_view schema, Bytes value, bool starts, std::function<void()> next);
  void read(std::function<void(Result<tasks::GraphCell>)> next);
  void finish(bool is_repeated);

  Engine& engine_;
  std::string id_;
  tasks::GraphHeader header_;
  std::unique_ptr<GraphParts> parts_;
  Engine::Then<GraphSubmitted> then_;
  int looks_ = 0;
};

}  // namespace holdfast::engine
