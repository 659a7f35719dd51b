// SPDX-License-Identifier: Apache-2.0
// Delivery: turns leased dispatches into work that a worker can begin: reads what was recorded, and
// has the references of each task resolved. A task whose references can never be resolved
// ends with an error instead of being handed out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/deliveries.h"
#include "holdfast/engine.h"
#include "workers/messages.h"
#include "workers/recorder.h"

namespace holdfast::workers {

class Delivery : public std::enable_shared_from_this<Delivery> {
 public:
  using Render = std::function<void(const std::string& graph, const Bytes& definition,
                                    Engine::Then<Bytes> then)>;
  using Then = std::function<void(std::vector<WorkItem> work, bool is_complete)>;

  // `then` is called once. What is missing in the work is left for the next answer; it is not
  // complete if something could not be made ready now, and should be tried again a little later.
  Delivery(std::shared_ptr<Recorder> recorder, Render render, std::string worker,
           std::vector<dispatch::Dispatch> dispatches, Then then)
      : engine_(std::move(recorder)),
        render_(std::move(render)),
        worker_(std::move(worker)),
        dispatches_(std::move(dispatches)),
        then_(std::move(then)) {}

  void begin();

 private:
  void go_on();  // with the next one
  // Its input is there, or why not.
  void rendered(WorkItem item, const Result<Bytes>& input);
  void fail(const WorkItem& item, const Error& error) const;

  const std::shared_ptr<Recorder> engine_;
  const Render render_;
  const std::string worker_;
  const std::vector<dispatch::Dispatch> dispatches_;
  const Then then_;
  std::vector<Result<WorkInfo>> found_;
  std::size_t next_ = 0;
  std::vector<WorkItem> work_;
  std::size_t bytes_ = 0;  // of their inputs as JSON
  bool is_complete_ = true;
  bool is_full_ = false;
};

}  // namespace holdfast::workers
