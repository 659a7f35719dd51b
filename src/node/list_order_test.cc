// SPDX-License-Identifier: Apache-2.0
#include "node/list_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/forget_list.h"
#include "node/history_feed.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;

class ListOrderTest : public testing::LabWorldTest {
 protected:
  static base::Bytes key_of(const std::string& id) {
    const base::Bytes value = kernel::testing::value("\"" + id + "\"");
    const base::ByteView key = codec::View::of(value).encoded();
    return {key.begin(), key.end()};
  }
  void cancel(const std::string& id) {
    const base::Bytes key = key_of(id);
    tick(kernel::ControlRequested{kernel::Control::kCancel, "lab/Keyed@1", key, "enough"});
  }
  void forget(const std::string& id, std::uint64_t last_record) {
    const base::Bytes key = key_of(id);
    codec::Buffer list;
    kernel::write_forget_list(list, {{"lab/Keyed@1", key, last_record}});
    tick(kernel::ForgetEnded{list.view()});
  }

  // Brings the index up to the journal.
  void index_all() {
    const auto index = store::HistoryIndex::open(open_->folder()).take();
    auto feed = HistoryFeed::start(open_->journal(), *index).take();
    while (feed.lag() != 0) ASSERT_TRUE(feed.run());
  }

  ListOrder order() {
    const auto journal = store::JournalFiles::open(open_->folder()).take();
    return ListOrder::read(journal, store::WorldPlace::of(open_->folder())).take();
  }
  // Those of whom it knows, the one that began last first.
  std::vector<std::string> listed(const std::vector<std::string>& ids) {
    const ListOrder order = this->order();
    std::vector<std::pair<std::uint64_t, std::string>> places;
    for (const std::string& id : ids) {
      if (const auto place = order.place_of("lab/Keyed@1", key_of(id)))
        places.emplace_back(*place, id);
    }
    std::ranges::sort(places, std::greater());
    std::vector<std::string> sorted;
    for (const auto& [place, id] : places) sorted.push_back(id);
    return sorted;
  }
};

TEST_F(ListOrderTest, is_the_same_with_an_index_behind_one_that_lags_and_without) {
  begin();
  send("b", 1), send("a", 1), send("b", 2);
  const std::vector<std::string> all{"a", "b", "c", "d"};
  EXPECT_THAT(listed(all), ElementsAre("a", "b")) << "without";
  index_all();
  EXPECT_THAT(listed(all), ElementsAre("a", "b"));
  send("d", 1), send("c", 1), send("a", 2);
  EXPECT_THAT(listed(all), ElementsAre("c", "d", "a", "b")) << "it lags";
  index_all();
  EXPECT_THAT(listed(all), ElementsAre("c", "d", "a", "b"));
  EXPECT_EQ(order().passed_over(), "");
}

TEST_F(ListOrderTest, a_key_that_was_forgotten_begins_anew) {
  for (const bool has_index : {false, true}) {
    disk_ = std::make_unique<env::SimDisk>();
    begin();
    send("a", 1), send("b", 1);
    cancel("a");
    const std::uint64_t last = open_->world().next_record() - 1;
    if (has_index) index_all();
    forget("a", last - 1);  // whoever named it had not seen its end
    send("a", 2);
    EXPECT_THAT(listed({"a", "b"}), ElementsAre("b", "a")) << has_index;
    forget("a", open_->world().next_record() - 1);
    EXPECT_THAT(listed({"a", "b"}), ElementsAre("b")) << has_index;
    send("a", 3);
    EXPECT_THAT(listed({"a", "b"}), ElementsAre("a", "b")) << has_index;
    index_all();
    EXPECT_THAT(listed({"a", "b"}), ElementsAre("a", "b")) << has_index;
    open_.reset();
  }
}

TEST_F(ListOrderTest, of_a_trimmed_journal_those_that_began_before_have_no_place) {
  begin();
  send("old", 1);
  send_many(100);
  take_snapshot();
  ASSERT_TRUE(open_->journal().trim(90));
  send("old", 2), send("new", 1);
  ASSERT_GT(open_->journal().first(), 2u);
  EXPECT_THAT(listed({"new", "old"}), ElementsAre("new")) << "touched since, but not begun";
}

TEST_F(ListOrderTest, an_index_that_does_not_fit_is_passed_over_and_says_why) {
  begin();
  send("a", 1), send("b", 1);
  index_all();
  {
    const auto index = store::HistoryIndex::open(open_->folder()).take();
    // As if another course of events had gone on behind it.
    ASSERT_TRUE(index->apply({}, 3, base::Hash{}));
  }
  EXPECT_THAT(order().passed_over(), ::testing::HasSubstr("it is of another journal"));
  EXPECT_THAT(listed({"a", "b"}), ElementsAre("b", "a"));
}

}  // namespace
}  // namespace holdfast::node
