// SPDX-License-Identifier: Apache-2.0
#include "gateway/timeline_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/json_writer.h"
#include "codec/normaliser.h"

namespace holdfast::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Canonical, without the self-describe tag.
Bytes part(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_json(codec::Schema::item(), json);
  EXPECT_TRUE(value) << json;
  return {value->begin(), value->end()};
}

std::string instance(std::string_view key, std::string_view state, std::string_view hash) {
  return R"({"workflow":"lab/A@1","key":")" + std::string(key) + R"(","state":)" +
         std::string(state) + R"(,"state_hash":)" + std::string(hash) + "}";
}
Bytes record(std::uint64_t number, const std::string& instances) {
  return part(R"({"record":)" + std::to_string(number) + R"(,"instances":[)" + instances + "]}");
}

class Moment final : public PastMoment {
 public:
  Moment(std::uint64_t record, Bytes state) : record_(record), state_(std::move(state)) {}
  std::uint64_t record() const override { return record_; }
  const Bytes& definitions() const override { return none_; }
  Result<RawInstance> read(std::string_view, const Bytes&) override {
    if (state_.empty()) return Error{ErrorCode::kNotFound, "there is none"};
    RawInstance instance;
    instance.state = state_;
    return instance;
  }

 private:
  const std::uint64_t record_;
  const Bytes state_;
  const Bytes none_;
};

TEST(TimelineStates, nothing_is_looked_back_for_where_the_records_have_every_state) {
  const TimelineStates states("lab/A@1", part(R"("a")"));
  EXPECT_THAT(states.wanted({record(5, instance("a", "{}", "null")),
                             record(3, instance("b", "null", R"("sha256:1")"))}),
              IsEmpty())
      << "of others nobody asked";
}

TEST(TimelineStates, what_was_seen_stands_where_there_was_a_hash) {
  TimelineStates states("lab/A@1", part(R"("a")"));
  const std::string hash = R"("sha256:1")";
  const std::vector<Bytes> records{
      record(9, instance("a", "null", "null")),  // it was deleted
      record(7, instance("a", "null", hash) + "," + instance("b", "null", hash) + "," +
                    instance("a", "null", hash)),
      record(3, instance("a", "null", hash))};
  ASSERT_THAT(states.wanted(records), ElementsAre(3, 7, 9));
  for (const auto& [number, state] :
       {std::pair(3u, R"({"n":1})"), std::pair(7u, R"({"n":2})"), std::pair(9u, "")}) {
    Moment moment(number, *state == '\0' ? Bytes() : part(state));
    ASSERT_TRUE(states.look(moment));
  }
  const std::vector<Bytes> filled = states.filled(records);
  ASSERT_EQ(filled.size(), 3u);
  EXPECT_EQ(filled[0], records[0]);
  EXPECT_EQ(filled[1], record(7, instance("a", "null", hash) + "," + instance("b", "null", hash) +
                                     "," + instance("a", R"({"n":2})", hash)))
      << "of two lives the last";
  EXPECT_EQ(filled[2], record(3, instance("a", R"({"n":1})", hash)));
}

TEST(TimelineStates, states_that_are_too_much_together_are_refused) {
  TimelineStates states("lab/A@1", part(R"("a")"));
  const Bytes large = part("\"" + std::string(TimelineStates::kMostBytes / 2, 'x') + "\"");
  Moment first(3, large);
  ASSERT_TRUE(states.look(first));
  Moment second(5, large);
  const auto refused = states.look(second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_THAT(refused.error().message, HasSubstr("ask for fewer records"));
}

}  // namespace
}  // namespace holdfast::gateway
