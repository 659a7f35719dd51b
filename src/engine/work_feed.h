// SPDX-License-Identifier: Apache-2.0
// FeedListener: tells a WorkFeed of include/holdfast/workers.h what the node tells its executor.
#pragma once

#include <memory>
#include <utility>

#include "executors/worker_effects.h"
#include "holdfast/workers.h"
#include "kernel/world.h"

namespace holdfast::engine {

class FeedListener : public executors::WorkListener {
 public:
  explicit FeedListener(std::shared_ptr<WorkFeed> feed) : feed_(std::move(feed)) {}

  void opened(const kernel::OpenIntent& open,
              const std::shared_ptr<const kernel::Work>& work) override;
  void heard(const kernel::WorkNews& news) override;
  void recovered() override { feed_->recovered(); }

 private:
  const std::shared_ptr<WorkFeed> feed_;
};

WorkerInfo worker_info(const std::string& id, const kernel::Worker& worker, bool is_cordoned);

// These borrow from what they are given.
WorkLease lease_view(const kernel::Lease& lease);
WorkView work_view(const kernel::OpenIntent& open, const kernel::Work* work);

Status outside(kernel::ReceiptStatus status);

}  // namespace holdfast::engine
