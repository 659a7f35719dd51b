// SPDX-License-Identifier: Apache-2.0
#include "gateway/definitions.h"

#include <gtest/gtest.h>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "holdfast/module.h"

namespace holdfast::gateway {
namespace {

struct Named {
  static constexpr std::string_view kSchema = "test/Named@1";
  std::string name;
};
struct Numbered {
  static constexpr std::string_view kSchema = "test/Numbered@1";
  std::uint64_t number = 0;
};

template <class Event, auto Member>
struct Keyed {
  struct State {};
  using Events = holdfast::Events<On<Event, Member>>;
  using Effects = holdfast::Effects<>;
};
struct ByName : Keyed<Named, &Named::name> {
  static constexpr std::string_view kWorkflow = "test/ByName@1";
  using Context = holdfast::Context<ByName>;
  static void step(State&, const Named&, Context&) {}
};
struct ByNumber : Keyed<Numbered, &Numbered::number> {
  static constexpr std::string_view kWorkflow = "test/ByNumber@1";
  using Context = holdfast::Context<ByNumber>;
  static void step(State&, const Numbered&, Context&) {}
};
struct Single {
  static constexpr std::string_view kWorkflow = "test/Single@1";
  struct State {};
  using Events = holdfast::Events<On<Named>>;
  using Effects = holdfast::Effects<>;
  using Context = holdfast::Context<Single>;
  static void step(State&, const Named&, Context&) {}
};

Definitions definitions() {
  const Module modules[] = {Module::of<ByName, ByNumber, Single>("test/code@1")};
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = defs::load({{"test", definitions_of(modules)}}, &builtin);
  return Definitions::load(defs::closure_of(bundle).take()).take();
}

std::string key(Definitions& known, std::string_view workflow, std::string_view text) {
  const auto made = known.key_of(workflow, text);
  if (!made) return std::string(base::to_string(made.error().code()));
  return made->empty() ? "none" : codec::to_json(codec::View::of(*made));
}

TEST(Definitions, a_key_in_a_path_is_what_its_schema_makes_of_it) {
  Definitions known = definitions();
  EXPECT_EQ(key(known, "test/ByName@1", "o-1"), R"("o-1")");
  EXPECT_EQ(key(known, "test/ByName@1", "12"), R"("12")");
  EXPECT_EQ(key(known, "test/ByName@1", R"(a"b)"), R"("a\"b")");
  EXPECT_EQ(key(known, "test/ByNumber@1", "12"), "12");
  const std::string not_found(base::to_string(base::ErrorCode::kNotFound));
  EXPECT_EQ(key(known, "test/ByNumber@1", "twelve"), not_found);
  EXPECT_EQ(key(known, "test/ByNumber@1", "-1"), not_found);
  EXPECT_EQ(key(known, "test/Single@1", "-"), "none");
  EXPECT_EQ(key(known, "test/Single@1", "x"), not_found);
  EXPECT_EQ(key(known, "test/No@1", "x"), not_found);
}

TEST(Definitions, a_key_of_a_workflow_that_is_gone_may_be_of_any_type) {
  Definitions known = definitions();
  const auto keys = [&](std::string_view workflow, std::string_view text) {
    std::string all;
    for (const base::Bytes& each : known.keys_of(workflow, text).take())
      all += (each.empty() ? "none" : codec::to_json(codec::View::of(each))) + ";";
    return all;
  };
  EXPECT_EQ(keys("test/ByName@1", "12"), R"("12";)");
  EXPECT_EQ(keys("test/Gone@1", "o-1"), R"("o-1";)");
  EXPECT_EQ(keys("test/Gone@1", "12"), R"("12";12;)");
  EXPECT_EQ(keys("test/Gone@1", "-3"), R"("-3";-3;)");
  EXPECT_EQ(keys("test/Gone@1", "-"), R"(none;"-";)");
  // A uuid is a text in its one form, as it may have been written in another.
  EXPECT_EQ(keys("test/Gone@1", "6F9619FF-8B86-D011-B42D-00CF4FC964FF"),
            R"("6F9619FF-8B86-D011-B42D-00CF4FC964FF";"6f9619ff-8b86-d011-b42d-00cf4fc964ff";)");
}

TEST(Definitions, an_event_that_goes_to_two_workflows_has_no_only_route) {
  Definitions known = definitions();
  EXPECT_EQ(known.only_route_of("test/Named@1"), nullptr);
  ASSERT_NE(known.only_route_of("test/Numbered@1"), nullptr);
  EXPECT_EQ(known.only_route_of("test/Numbered@1")->workflow, "test/ByNumber@1");
  EXPECT_EQ(known.only_route_of("test/No@1"), nullptr);
  EXPECT_EQ(known.first_event_of("test/ByNumber@1")->event, "test/Numbered@1");
  EXPECT_EQ(known.first_event_of("test/No@1"), nullptr);
  EXPECT_NE(known.schema("test/Named@1"), nullptr);
  EXPECT_EQ(known.schema("test/No@1"), nullptr);
}

TEST(Definitions, a_key_is_found_in_a_value_by_its_path) {
  codec::Normaliser normaliser;
  const base::ByteView value =
      normaliser.part_from_json(codec::Schema::any(), R"({"a":{"b":"x"},"c":1})").take();
  const auto found = [&](std::string_view path) {
    const auto bytes = Definitions::key_in(value, path);
    return bytes ? codec::to_json(codec::View::of(*bytes)) : "";
  };
  EXPECT_EQ(found("a.b"), R"("x")");
  EXPECT_EQ(found("c"), "1");
  EXPECT_EQ(found("a.c"), "");
  EXPECT_EQ(found("c.d"), "");
}

TEST(Definitions, a_world_without_any_has_none) {
  Definitions none = Definitions::load({}).take();
  EXPECT_EQ(none.schema("test/Named@1"), nullptr);
  EXPECT_EQ(none.workflow("test/ByName@1"), nullptr);
  EXPECT_EQ(none.manifest(), nullptr);
}

}  // namespace
}  // namespace holdfast::gateway
