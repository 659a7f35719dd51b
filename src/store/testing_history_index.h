// SPDX-License-Identifier: Apache-2.0
// For the tests of the index of instances: one on a simulated disk, and changes of it that follow
// each other as records do.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/testing_history.h"

namespace holdfast::store::testing {

class HistoryIndexTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    open_.reset();
    auto opened = open_history(disk_, *random_);
    ASSERT_TRUE(opened) << opened.error().to_string();
    open_ = std::move(*opened);
  }
  HistoryIndex& index() { return *open_->index; }

  // The next record, which touches one instance.
  InstanceChange change(const std::string& key, const std::string& status,
                        std::vector<std::string> said = {}) {
    ++record_;
    InstanceChange change;
    change.workflow = "shop/Order@1";
    change.key = {key.begin(), key.end()};
    change.key_text = key;
    change.record = record_;
    change.time_ns = record_ * 10;
    change.previous = std::exchange(last_[key], status == "deleted" ? 0 : record_);
    change.status = status;
    change.steps = 1;
    change.annotations = std::move(said);
    return change;
  }
  // The same for an instance that had ended before.
  InstanceChange late(const std::string& key, const std::string& status) {
    InstanceChange late = change(key, status);
    late.keeps_error = true;
    return late;
  }
  base::Result<void> apply(std::vector<InstanceChange> changes) {
    HistoryBatch batch;
    for (InstanceChange& each : changes) batch.add(std::move(each));
    return index().apply(batch, record_, MadeUpHistory::hash(record_));
  }
  std::vector<std::string> keys(const HistoryQuery& query) {
    std::vector<std::string> keys;
    const auto page = index().list(query);
    EXPECT_TRUE(page) << page.error().to_string();
    if (page) {
      for (const InstanceRow& row : page->rows) keys.push_back(row.key_text);
    }
    return keys;
  }
  InstanceRow row(const std::string& key) {
    return index().find("shop/Order@1", base::as_bytes(key))->value();
  }

  env::SimDisk disk_;
  std::unique_ptr<env::Random> random_ = env::seeded_random(5);
  std::unique_ptr<OpenHistory> open_;
  RecordNumber record_ = 0;
  std::map<std::string, RecordNumber> last_;
};

}  // namespace holdfast::store::testing
