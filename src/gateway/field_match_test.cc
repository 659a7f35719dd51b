// SPDX-License-Identifier: Apache-2.0
#include "gateway/field_match.h"

#include <gtest/gtest.h>

#include "codec/normaliser.h"

namespace holdfast::gateway {
namespace {

constexpr std::string_view kInstance = R"({"key":7,"status":"failed","paused":false,
"state":{"sku":"mug","count":2,"stage":{"$tag":"ship"},"7":null},"error":{"code":"late"}})";

bool holds(std::string_view text) {
  codec::Normaliser normaliser;
  const auto instance = normaliser.from_json(codec::Schema::any(), kInstance).take();
  return FieldMatch::parse(text).take().holds(codec::View::of(instance));
}

std::string refusal(std::string_view text) {
  const auto match = FieldMatch::parse(text);
  return match ? "" : match.error().to_string();
}

TEST(FieldMatch, members_are_compared_as_they_are_written) {
  EXPECT_TRUE(holds("state.sku=mug"));
  EXPECT_TRUE(holds("state.count=2"));
  EXPECT_TRUE(holds("state.stage.$tag=ship"));
  EXPECT_TRUE(holds("state.stage=ship")) << "an enum by its name";
  EXPECT_TRUE(holds(R"(state.stage={"$tag":"ship"})"));
  EXPECT_TRUE(holds("state.7=null"));
  EXPECT_TRUE(holds("key=7"));
  EXPECT_TRUE(holds("paused=false"));
  EXPECT_TRUE(holds("error.code=late"));
}

TEST(FieldMatch, what_is_not_there_or_something_else_does_not_match) {
  EXPECT_FALSE(holds("state.sku=mugs"));
  EXPECT_FALSE(holds("state.sku="));
  EXPECT_FALSE(holds("state.stage=shipped"));
  EXPECT_FALSE(holds("state.count=02"));
  EXPECT_FALSE(holds("state.sku.more=mug"));
  EXPECT_FALSE(holds("state.other=mug"));
  EXPECT_FALSE(holds("result.payment=p"));
  EXPECT_FALSE(holds("key=\"7\""));
}

TEST(FieldMatch, what_is_no_condition_is_refused) {
  EXPECT_EQ(refusal("state.sku"), "state.sku: expected FIELD=VALUE, as state.sku=mug");
  EXPECT_EQ(refusal("=mug"), "=mug: a part of the name of its field is empty");
  EXPECT_EQ(refusal("state..sku=mug"), "state..sku=mug: a part of the name of its field is empty");
  EXPECT_EQ(refusal("sku=mug"),
            "sku=mug: a field is one of state, result and error, or of them, as state.sku; or "
            "key, status, paused");
}

}  // namespace
}  // namespace holdfast::gateway
