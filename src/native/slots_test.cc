// SPDX-License-Identifier: Apache-2.0
// Steps that take several events together.
#include <gtest/gtest.h>

#include <string>

#include "codec/cbor_writer.h"
#include "native/testing_steps.h"

namespace holdfast::native::slots_test {
namespace {

using Lines = std::vector<std::string>;

struct Order {
  static constexpr std::string_view kSchema = "test/Order@1";
  std::string id;
};
struct Paid {
  static constexpr std::string_view kSchema = "test/Paid@1";
  std::uint64_t cents = 0;
};
struct Stocked {
  static constexpr std::string_view kSchema = "test/Stocked@1";
  std::string shelf;
};
struct Sent {
  static constexpr std::string_view kSchema = "test/Sent@1";
  std::string text;
};

struct Shop : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Shop@1";
  using Events = holdfast::Events<On<Order, &Order::id>>;
  using Stop = Sent;

  Paid pay(const Order&, StepContext&) { return {}; }
  Stocked find(const Order&, StepContext&) { return {}; }
  Sent pack(const Paid& paid, const Stocked& first, const Stocked& second, StepContext&) const {
    return {std::to_string(paid.cents) + first.shelf + second.shelf};
  }
  static auto steps() {
    return StepsOf<Shop>()
        .step("pay", &Shop::pay)
        .step("find", &Shop::find)
        .step("pack", &Shop::pack);
  }
};

TEST(Slots, each_parameter_is_a_slot_of_the_graph) {
  const testing::BodyOf<Shop> body;
  const auto type = [&](std::string_view schema) { return *body.graph.type_named(schema); };
  const steps::StepDef& pack = body.graph.step(*body.graph.step_named("pack"));
  EXPECT_TRUE(pack.accepts.empty());
  EXPECT_EQ(pack.slots,
            (std::vector{type("test/Paid@1"), type("test/Stocked@1"), type("test/Stocked@1")}));
}

TEST(Slots, a_body_gets_one_of_each) {
  testing::BodyOf<Shop> body;
  codec::Buffer list;
  codec::write_list_head(list, 3);
  list.append(detail::bytes_of_value(Paid{7}));
  list.append(detail::bytes_of_value(Stocked{"a"}));
  list.append(detail::bytes_of_value(Stocked{"b"}));
  const base::Bytes all = list.to_bytes();
  EXPECT_EQ(body.run_with("pack", {*body.graph.type_named("test/Paid@1"), true, all}),
            Lines{R"(returned test/Sent@1{"text":"7ab"})"});
}

TEST(Slots, what_is_no_set_is_a_failure) {
  testing::BodyOf<Shop> body;
  codec::Buffer list;
  codec::write_list_head(list, 1);
  list.append(detail::bytes_of_value(Paid{7}));
  const base::Bytes one = list.to_bytes();
  EXPECT_EQ(body.run_with("pack", {*body.graph.type_named("test/Paid@1"), true, one}),
            Lines{"failed step.bad_value: a value is of another type"});
  EXPECT_EQ(body.run("pack", Paid{7}), Lines{"failed step.bad_value: a value is of another type"});
}

}  // namespace
}  // namespace holdfast::native::slots_test
