// SPDX-License-Identifier: Apache-2.0
// Names that lead nowhere, types that contain themselves, event types.
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::Lines;
using testing::load_errors;
using testing::Refusal;
using testing::schema;

std::string list(std::initializer_list<std::string> definitions) {
  std::string text;
  for (const std::string& definition : definitions) text += (text.empty() ? "[" : ",") + definition;
  return text + "]";
}

const std::string kTextSchema = schema("a/T@1", R"({"text":{}})");
const std::string kModule = R"({"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}})";

std::string workflow_for(std::string_view event, std::string_view more = "") {
  return R"({"$kind":"defworkflow","name":"a/w@1","state":"a/T@1","event":")" + std::string(event) +
         R"(","effects_emitted":[],"impl":{"module":"a/m@1","entrypoint":"run"})" +
         std::string(more) + "}";
}

TEST(References, a_reference_is_found_wherever_it_stands) {
  const Refusal cases[] = {
      {R"({"ref":"a/X@1"})", {"f: $.type.ref: there is no defschema named 'a/X@1'"}},
      {R"({"list":{"ref":"a/X@1"}})", {"f: $.type.list.ref: there is no defschema named 'a/X@1'"}},
      {R"({"set":{"option":{"ref":"a/X@1"}}})",
       {"f: $.type.set.option.ref: there is no defschema named 'a/X@1'"}},
      {R"({"map":{"key":{"text":{}},"value":{"ref":"a/X@1"}}})",
       {"f: $.type.map.value.ref: there is no defschema named 'a/X@1'"}},
      {R"({"record":{"x":{"ref":"a/X@1"},"y":{"variant":{"z":{"ref":"a/Z@1"}}}}})",
       {"f: $.type.record.x.ref: there is no defschema named 'a/X@1'",
        "f: $.type.record.y.variant.z.ref: there is no defschema named 'a/Z@1'"}},
      {R"({"ref":"sys/X@1"})", {"f: $.type.ref: the system has no defschema named 'sys/X@1'"}},
      {R"({"ref":"sys/timer.set@1"})",
       {"f: $.type.ref: the system has no defschema named 'sys/timer.set@1'; that name is a "
        "defeffect"}},
      {R"({"ref":"sys/SecretRef@1"})", {}},
  };
  for (const auto& [type, errors] : cases) {
    EXPECT_EQ(load_errors(schema("a/A@1", type)), errors) << type;
  }
}

TEST(References, what_refers_to_nothing_or_to_another_kind_is_refused) {
  const Refusal cases[] = {
      {list({kTextSchema, kModule, schema("a/e@1", R"({"record":{}})"), workflow_for("a/e@1")}),
       {}},
      {list({kTextSchema,
             workflow_for("a/E@1",
                          R"(,"context":"a/C@1","annotations":"a/N@1","key_schema":"a/K@1")")}),
       {"f: $[1].event: there is no defschema named 'a/E@1'",
        "f: $[1].context: there is no defschema named 'a/C@1'",
        "f: $[1].annotations: there is no defschema named 'a/N@1'",
        "f: $[1].key_schema: there is no defschema named 'a/K@1'",
        "f: $[1].impl.module: there is no defmodule named 'a/m@1'"}},
      {list({kTextSchema, kModule, workflow_for("a/m@1")}),
       {"f: $[2].event: there is no defschema named 'a/m@1'; that name is a defmodule"}},
      {R"({"$kind":"defworkflow","name":"a/w@1","state":"sys/SecretRef@1","event":"sys/SecretRef@1",
           "effects_emitted":["sys/timer.set@1","sys/SecretRef@1","a/x@1"],
           "impl":{"module":"sys/timer.set@1","entrypoint":"run"}})",
       {"f: $.effects_emitted: there is no defeffect named 'a/x@1'",
        "f: $.effects_emitted: the system has no defeffect named 'sys/SecretRef@1'; that name is a "
        "defschema",
        "f: $.impl.module: the system has no defmodule named 'sys/timer.set@1'; that name is a "
        "defeffect"}},
      {R"({"$kind":"defeffect","name":"a/x@1","params":"a/P@1","receipt":"a/R@1",
           "impl":{"module":"a/m@1","entrypoint":"run"}})",
       {"f: $.params: there is no defschema named 'a/P@1'",
        "f: $.receipt: there is no defschema named 'a/R@1'",
        "f: $.impl.module: there is no defmodule named 'a/m@1'"}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(load_errors(json), errors) << json;
}

TEST(Cycles, a_type_that_contains_itself_is_refused_with_the_way_round) {
  const auto a = [](std::string_view target) {
    return schema("a/A@1", R"({"list":{"ref":")" + std::string(target) + R"("}})");
  };
  const auto b = [](std::string_view target) {
    return schema("a/B@1", R"({"option":{"ref":")" + std::string(target) + R"("}})");
  };
  const Refusal cases[] = {
      {a("a/A@1"), {"f: $.type: recursive type: a/A@1 -> a/A@1"}},
      {list({a("a/B@1"), b("a/A@1")}), {"f: $[0].type: recursive type: a/A@1 -> a/B@1 -> a/A@1"}},
      {list({a("a/B@1"), b("a/B@1")}), {"f: $[1].type: recursive type: a/B@1 -> a/B@1"}},
      {list({schema("a/R@1", R"({"record":{"x":{"ref":"a/R@1"},"y":{"ref":"a/R@1"}}})")}),
       {"f: $[0].type: recursive type: a/R@1 -> a/R@1"}},
      // Used twice is not a circle.
      {list({kTextSchema,
             schema("a/R@1", R"({"record":{"x":{"ref":"a/T@1"},"y":{"ref":"a/T@1"}}})"),
             schema("a/S@1", R"({"record":{"x":{"ref":"a/T@1"},"y":{"ref":"a/R@1"}}})")}),
       {}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(load_errors(json), errors) << json;
}

TEST(Cycles, a_long_way_round_is_shortened) {
  std::string json;
  for (int i = 0; i < 1000; ++i) {
    json += (i == 0 ? "[" : ",") +
            schema("a/A" + std::to_string(i) + "@1",
                   R"({"ref":"a/A)" + std::to_string((i + 1) % 1000) + R"(@1"})");
  }
  const Lines errors = load_errors(json + "]");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_LT(errors[0].size(), 300u) << errors[0];
}

TEST(Types, an_option_that_cannot_tell_absent_from_null_is_refused_through_references) {
  const Refusal cases[] = {
      {list({schema("a/O@1", R"({"option":{"text":{}}})"),
             schema("a/A@1", R"({"option":{"ref":"a/O@1"}})")}),
       {"f: $[1].type: an option of option cannot tell absent from null"}},
      {schema("a/A@1", R"({"option":{"unit":{}}})"),
       {"f: $.type: an option of unit cannot tell absent from null"}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(load_errors(json), errors) << json;
}

TEST(Types, a_chain_of_references_may_be_256_types_long) {
  const auto chain = [](int length) {
    std::string json = "[" + kTextSchema;
    for (int i = 1; i < length; ++i) {
      json += "," + schema("a/A" + std::to_string(i) + "@1",
                           i == 1 ? R"({"ref":"a/T@1"})"
                                  : R"({"ref":"a/A)" + std::to_string(i - 1) + R"(@1"})");
    }
    return json + "]";
  };
  EXPECT_EQ(load_errors(chain(256)), Lines());
  EXPECT_EQ(load_errors(chain(257)), (Lines{"f: $[256].type: types nest deeper than 256"}));
  EXPECT_EQ(load_errors(chain(400)), (Lines{"f: $[256].type: types nest deeper than 256"}));
}

TEST(Types, what_is_accepted_can_be_compiled) {
  // As deep as may be, on top of another bundle that is as deep as may be.
  const auto chain = [](int from, int to) {
    std::string json;
    for (int i = from; i < to; ++i) {
      const std::string inner = R"({"ref":"a/A)" + std::to_string(i - 1) + R"(@1"})";
      json += (json.empty() ? "[" : ",") +
              schema("a/A" + std::to_string(i) + "@1",
                     i == 0 ? R"({"text":{}})" : R"({"record":{"x":{"list":)" + inner + "}}}");
    }
    return json + "]";
  };
  const Bundle below = load({{"f", chain(0, 50)}}, nullptr);
  const Bundle above = load({{"g", chain(50, 90)}}, &below.catalogue);
  EXPECT_EQ(testing::lines_of(below.errors), Lines());
  EXPECT_EQ(testing::lines_of(above.errors), (Lines{"g: $[36].type: types nest deeper than 256"}));
  for (const auto& [name, entry] : above.catalogue.entries()) {
    codec::Errors errors;
    codec::Schema::compile(std::get<SchemaDef>(entry.definition).type, above.catalogue, "", errors);
    const bool too_deep = std::stoi(name.substr(3)) > 85;
    EXPECT_EQ(!errors.empty(), too_deep) << name;
  }
}

TEST(Types, a_library_that_is_unsound_does_no_harm_to_what_stands_on_it) {
  const Bundle below = load({{"f", "[" + schema("a/A@1", R"({"list":{"ref":"a/B@1"}})") + "," +
                                       schema("a/B@1", R"({"list":{"ref":"a/A@1"}})") + "," +
                                       schema("a/C@1", R"({"ref":"a/None@1"})") + "]"}},
                            nullptr);
  EXPECT_EQ(below.errors.size(), 1u + 1u);
  load({{"g", schema("a/D@1", R"({"record":{"a":{"ref":"a/A@1"},"c":{"ref":"a/C@1"}}})")}},
       &below.catalogue);
}

TEST(Types, many_schemas_that_share_much_are_checked_soon) {
  std::string json;
  for (int i = 0; i < 1200; ++i) {
    std::string fields;
    for (int j = 0; j < 60 && i >= 10; ++j) {
      fields += (j == 0 ? "\"f" : ",\"f") + std::to_string(j) + R"(":{"ref":"a/A)" +
                std::to_string(std::max(0, i / 10 * 10 - 1 - j)) + R"(@1"})";
    }
    json += (i == 0 ? "[" : ",") +
            schema("a/A" + std::to_string(i) + "@1", R"({"record":{)" + fields + "}}");
  }
  EXPECT_EQ(load_errors(json + "]"), Lines());
}

TEST(EventType, a_record_or_a_variant_of_different_references_is_an_event_type) {
  const Refusal cases[] = {
      {R"({"record":{}})", {}},
      {R"({"ref":"a/R@1"})", {}},
      {R"({"variant":{"R":{"ref":"a/R@1"},"S":{"ref":"a/S@1"}}})", {}},
      {R"({"ref":"a/V@1"})", {}},
      {R"({"text":{}})",
       {"f: $[6].event: 'a/e@1' is a text; an event type is a record or a variant"}},
      {R"({"any":{}})",
       {"f: $[6].event: 'a/e@1' is a any; an event type is a record or a variant"}},
      {R"({"ref":"a/T@1"})",
       {"f: $[6].event: 'a/e@1' is a text; an event type is a record or a variant"}},
      {R"({"variant":{"R":{"ref":"a/R@1"},"X":{"record":{}},"Y":{"unit":{}}}})",
       {"f: $[6].event: 'a/e@1' has an arm 'X' that is not a reference to a schema",
        "f: $[6].event: 'a/e@1' has an arm 'Y' that is not a reference to a schema"}},
      {R"({"variant":{"R":{"ref":"a/R@1"},"Q":{"ref":"a/R@1"}}})",
       {"f: $[6].event: 'a/e@1' has two arms for 'a/R@1', so an event cannot tell which it is"}},
  };
  for (const auto& [type, errors] : cases) {
    EXPECT_EQ(load_errors(list({kTextSchema, kModule, schema("a/R@1", R"({"record":{}})"),
                                schema("a/S@1", R"({"record":{}})"),
                                schema("a/V@1", R"({"variant":{"R":{"ref":"a/R@1"}}})"),
                                schema("a/e@1", type), workflow_for("a/e@1")})),
              errors)
        << type;
  }
}

}  // namespace
}  // namespace holdfast::defs
