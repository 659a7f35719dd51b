// SPDX-License-Identifier: Apache-2.0
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::Lines;
using testing::load_errors;
using testing::Refusal;
using testing::schema;

// Two workflows, keyed and not, that take a variant of events; and one that takes a record.
const std::string kWorld =
    "[" + schema("a/Id@1", R"({"text":{}})") + "," + schema("a/Number@1", R"({"nat":{}})") + "," +
    schema("a/Head@1", R"({"record":{"id":{"ref":"a/Id@1"},"count":{"nat":{}}}})") + "," +
    schema("a/Placed@1",
           R"({"record":{"id":{"text":{}},"head":{"ref":"a/Head@1"},"note":{"option":{"text":{}}},
               "body":{"variant":{"x":{"ref":"a/Head@1"},"y":{"record":{"id":{"nat":{}}}},"z":{"unit":{}}}}}})") +
    "," + schema("a/Other@1", R"({"record":{"id":{"text":{}}}})") + "," +
    schema(
        "a/Event@1",
        R"({"variant":{"Placed":{"ref":"a/Placed@1"},"Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}})") +
    R"(,{"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
    {"$kind":"defworkflow","name":"a/keyed@1","state":"a/Head@1","event":"a/Event@1","key_schema":"a/Id@1",
     "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},
    {"$kind":"defworkflow","name":"a/counted@1","state":"a/Head@1","event":"a/Event@1","key_schema":"a/Number@1",
     "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},
    {"$kind":"defworkflow","name":"a/single@1","state":"a/Head@1","event":"a/Placed@1",
     "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},
    {"$kind":"manifest","air_version":"2","schemas":[{"name":"a/Id@1"},{"name":"a/Head@1"},{"name":"a/Number@1"},
      {"name":"a/Placed@1"},{"name":"a/Other@1"},{"name":"a/Event@1"}],
     "modules":[{"name":"a/m@1"}],"effects":[],
     "workflows":[{"name":"a/keyed@1"},{"name":"a/counted@1"},{"name":"a/single@1"}],"routing":{"subscriptions":[)";

// What is wrong with one subscription, without its place.
Lines route(const std::string& subscription) {
  const std::string place = "f: $[10].routing.subscriptions[0]";
  Lines errors = load_errors(kWorld + subscription + "]}}]");
  for (std::string& error : errors) {
    EXPECT_TRUE(error.starts_with(place)) << error;
    error = error.substr(place.size());
  }
  return errors;
}

TEST(Routing, an_event_goes_to_a_workflow_that_takes_it) {
  const Refusal cases[] = {
      {R"({"event":"a/Placed@1","workflow":"a/single@1"})", {}},
      {R"({"event":"a/Placed@1","workflow":"a/keyed@1","key_field":"id"})", {}},
      {R"({"event":"a/Placed@1","op":"a/keyed@1","key_field":"id"})", {}},
      {R"({"event":"a/Event@1","workflow":"a/keyed@1","key_field":"$value.id"})", {}},
      {R"({"event":"sys/EffectReceiptEnvelope@1","workflow":"a/keyed@1","key_field":"effect"})",
       {}},
      {R"({"event":"a/Other@1","workflow":"a/single@1"})",
       {".event: 'a/Other@1' is neither the event type of 'a/single@1' nor an arm of it"}},
      {R"({"event":"a/Other@1","workflow":"a/keyed@1","key_field":"id"})",
       {".event: 'a/Other@1' is neither the event type of 'a/keyed@1' nor an arm of it"}},
      {R"({"event":"a/Event@1","workflow":"a/single@1"})",
       {".event: 'a/Event@1' is neither the event type of 'a/single@1' nor an arm of it"}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(route(json), errors) << json;
}

TEST(Routing, the_key_is_found_through_records_references_and_arms) {
  const auto placed = [](std::string_view workflow, std::string_view key_field) {
    return R"({"event":"a/Placed@1","workflow":")" + std::string(workflow) + R"(","key_field":")" +
           std::string(key_field) + R"("})";
  };
  const auto none = [](std::string_view key_field) {
    return Lines{".key_field: 'a/Placed@1' has no field '" + std::string(key_field) + "'"};
  };
  const Refusal cases[] = {
      {placed("a/keyed@1", "head.id"), {}},
      {placed("a/counted@1", "head.count"), {}},
      {placed("a/counted@1", "body.$value.count"), {}},
      {placed("a/keyed@1", "head"), {".key_field: the field is a record, but 'a/Id@1' is a text"}},
      {placed("a/keyed@1", "head.count"),
       {".key_field: the field is a nat, but 'a/Id@1' is a text"}},
      {placed("a/keyed@1", "note"), {".key_field: the field is a option, but 'a/Id@1' is a text"}},
      {placed("a/keyed@1", "body.$value.id"),
       {".key_field: the field is a nat, but 'a/Id@1' is a text"}},
      {placed("a/counted@1", "body.$value.id"),
       {".key_field: the field is a text, but 'a/Number@1' is a nat"}},
      {placed("a/keyed@1", "ID"), none("ID")},
      {placed("a/keyed@1", "id.x"), none("id.x")},
      {placed("a/keyed@1", "head.none"), none("head.none")},
      {placed("a/keyed@1", "body.id"), none("body.id")},
      {placed("a/keyed@1", "head.$value.id"), none("head.$value.id")},
      {placed("a/keyed@1", "$value.id"), none("$value.id")},
      {placed("a/keyed@1", "."), none(".")},
      {placed("a/keyed@1", "id."), none("id.")},
      {placed("a/keyed@1", ".id"), none(".id")},
      {placed("a/keyed@1", "head..id"), none("head..id")},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(route(json), errors) << json;
}

TEST(Routing, a_key_field_is_there_exactly_where_the_workflow_is_keyed) {
  EXPECT_EQ(route(R"({"event":"a/Placed@1","workflow":"a/keyed@1"})"),
            (Lines{": 'a/keyed@1' is keyed, so the subscription needs a key_field"}));
  EXPECT_EQ(route(R"({"event":"a/Placed@1","workflow":"a/single@1","key_field":"id"})"),
            (Lines{".key_field: 'a/single@1' has no key_schema"}));
}

TEST(Routing, a_key_behind_a_reference_that_leads_nowhere_is_no_second_error) {
  const std::string world = R"([{"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
      {"$kind":"defworkflow","name":"a/w@1","state":"a/E@1","event":"a/E@1","key_schema":"sys/None@1",
       "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},
      {"$kind":"manifest","air_version":"2","schemas":[{"name":"a/E@1"}],"modules":[{"name":"a/m@1"}],
       "effects":[],"workflows":[{"name":"a/w@1"}],
       "routing":{"subscriptions":[{"event":"a/E@1","workflow":"a/w@1","key_field":"id"}]}},)" +
                            schema("a/E@1", R"({"record":{"id":{"ref":"sys/None@1"}}})") + "]";
  EXPECT_EQ(load_errors(world),
            (Lines{"f: $[3].type.record.id.ref: the system has no defschema named 'sys/None@1'",
                   "f: $[1].key_schema: the system has no defschema named 'sys/None@1'"}));
}

TEST(Routing, names_that_lead_nowhere_are_refused) {
  EXPECT_EQ(route(R"({"event":"a/none@1","workflow":"a/nobody@1"})"),
            (Lines{".workflow: there is no defworkflow named 'a/nobody@1'",
                   ".event: there is no defschema named 'a/none@1'"}));
  EXPECT_EQ(route(R"({"event":"sys/none@1","workflow":"sys/nobody@1"})"),
            (Lines{".workflow: the system has no defworkflow named 'sys/nobody@1'",
                   ".event: the system has no defschema named 'sys/none@1'"}));
}

TEST(Routing, the_same_event_goes_to_a_workflow_once) {
  const std::string same = R"({"event":"a/Placed@1","workflow":"a/single@1"})";
  EXPECT_EQ(
      load_errors(kWorld + same + "," + same + "]}}]"),
      (Lines{"f: $[10].routing.subscriptions[1]: the same event goes to the same workflow twice"}));
}

TEST(Routing, a_path_through_arms_that_meet_again_is_looked_at_once) {
  // Sixty levels of two arms each: 2^60 ways, but only sixty types.
  std::string bundle = "[" + schema("a/T0@1", R"({"record":{"id":{"text":{}}}})");
  std::string listed = R"({"name":"a/T0@1"})";
  std::string path;
  for (int i = 1; i <= 60; ++i) {
    const std::string below = R"({"ref":"a/T)" + std::to_string(i - 1) + "@1\"}";
    bundle += "," + schema("a/T" + std::to_string(i) + "@1",
                           R"({"variant":{"x":)" + below + R"(,"y":)" + below + "}}");
    listed += R"(,{"name":"a/T)" + std::to_string(i) + "@1\"}";
    path += "$value.";
  }
  bundle += "," + schema("a/Event@1", R"({"record":{"body":{"ref":"a/T60@1"}}})") +
            R"(,{"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
    {"$kind":"defworkflow","name":"a/w@1","state":"a/T0@1","event":"a/Event@1","key_schema":"a/Id@1",
     "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},)" +
            schema("a/Id@1", R"({"text":{}})");
  bundle +=
      R"(,{"$kind":"manifest","air_version":"2","schemas":[{"name":"a/Event@1"},{"name":"a/Id@1"},)" +
      listed +
      R"(],"modules":[{"name":"a/m@1"}],"effects":[],"workflows":[{"name":"a/w@1"}],
            "routing":{"subscriptions":[{"event":"a/Event@1","workflow":"a/w@1","key_field":"body.)";
  EXPECT_EQ(load_errors(bundle + path.substr(0, 35 * 7) + "id\"}]}}]").size(), 1u);
}

TEST(Routing, a_key_is_a_scalar) {
  EXPECT_EQ(
      load_errors("[" + schema("a/K@1", R"({"list":{"text":{}}})") +
                  R"(,{"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
    {"$kind":"defworkflow","name":"a/w@1","state":"a/S@1","event":"a/S@1","key_schema":"a/K@1",
     "effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"}},)" +
                  schema("a/S@1", R"({"record":{}})") + "]"),
      (Lines{"f: $[2].key_schema: a key is int, nat, text, uuid or hash, but 'a/K@1' is a list"}));
}

}  // namespace
}  // namespace holdfast::defs
