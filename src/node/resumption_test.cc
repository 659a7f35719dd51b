// SPDX-License-Identifier: Apache-2.0
#include "node/resumption.h"

#include <set>

#include "node/testing_world.h"

namespace holdfast::node {
namespace {

// Ten intents are open, and somebody has room for so many at once.
class ResumptionTest : public testing::LabWorldTest {
 protected:
  void SetUp() override {
    begin();
    send_many(10);
    open();
    ASSERT_EQ(open_->world().open_intents(), 10u);
  }
  base::Result<void> go_on(Resumption& resumption) {
    return resumption.go_on([this](const kernel::OpenIntent& intent) {
      if (room_ == 0) return false;
      --room_;
      EXPECT_TRUE(started_.insert(intent.intent).second) << "started twice";
      return true;
    });
  }
  void settle(const base::Hash& intent) {
    const base::Bytes payload = kernel::testing::value(R"({"ok":true})");
    kernel::ReceiptArrived receipt;
    receipt.intent = intent;
    receipt.payload = payload;
    tick(receipt);
  }
  std::size_t room_ = 0;
  std::set<base::Hash> started_;
};

TEST_F(ResumptionTest, where_there_is_room_everything_is_started_at_once) {
  Resumption resumption(open_->world());
  room_ = 100;
  ASSERT_TRUE(go_on(resumption));
  EXPECT_EQ(started_.size(), 10u);
  EXPECT_TRUE(resumption.is_done());
}

TEST_F(ResumptionTest, each_is_started_once_however_little_room_and_memory_there_is) {
  for (const std::size_t most_waiting : {1u, 3u, 100u}) {
    started_.clear();
    Resumption resumption(open_->world(), most_waiting);
    for (std::size_t i = 1; i <= 10; ++i) {
      room_ = 1;
      ASSERT_TRUE(go_on(resumption));
      EXPECT_EQ(started_.size(), i) << most_waiting;
    }
    ASSERT_TRUE(go_on(resumption));
    EXPECT_TRUE(resumption.is_done());
  }
}

TEST_F(ResumptionTest, what_was_opened_since_or_has_settled_is_not_its_business) {
  Resumption resumption(open_->world(), 2);
  room_ = 1;
  ASSERT_TRUE(go_on(resumption));
  send_many(20);
  std::set<base::Hash> old;
  ASSERT_TRUE(open_->world().visit_intents([&](const base::Hash& hash, const kernel::Intent& one) {
    if (one.opened_at() <= 11 && !started_.contains(hash)) old.insert(hash);
    return true;
  }));
  ASSERT_EQ(old.size(), 9u);
  settle(*old.begin());
  settle(*old.rbegin());
  room_ = 100;
  while (!resumption.is_done()) ASSERT_TRUE(go_on(resumption));
  EXPECT_EQ(started_.size(), 8u);
}

TEST_F(ResumptionTest, everything_that_is_open_is_counted_once_also_what_finds_no_room) {
  const auto counted = [this] {
    std::uint64_t all = 0;
    for (const auto& open : open_->world().open_effects()) all += open.count;
    return all;
  };
  for (const std::size_t most_waiting : {1u, 100u}) {
    Resumption resumption(open_->world(), most_waiting);
    ASSERT_TRUE(go_on(resumption));
    EXPECT_EQ(counted(), 10u);
    ASSERT_TRUE(go_on(resumption));
    EXPECT_EQ(counted(), 10u);
  }
  base::Hash first;
  ASSERT_TRUE(open_->world().visit_intents([&](const base::Hash& hash, const kernel::Intent&) {
    first = hash;
    return false;
  }));
  settle(first);
  EXPECT_EQ(counted(), 9u);
}

}  // namespace
}  // namespace holdfast::node
