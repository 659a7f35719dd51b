// SPDX-License-Identifier: Apache-2.0
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::form_errors;
using testing::Lines;
using testing::Refusal;

// A sound workflow with `more` fields.
std::string workflow_with(std::string_view more) {
  return R"({"$kind":"defworkflow","name":"a/w@1","state":"a/s@1","event":"a/e@1",
             "impl":{"module":"a/m@1","entrypoint":"run"})" +
         std::string(more) + "}";
}

TEST(WorkflowDef, optional_fields_may_be_there_absent_or_null) {
  for (const char* more : {
           R"(,"effects_emitted":[])",
           R"(,"effects_emitted":["a/x@1","a/y@1"])",
           R"(,"effects_emitted":[],"context":"a/c@1","annotations":"a/n@1","key_schema":"a/k@1")",
           R"(,"effects_emitted":[],"context":null,"annotations":null,"key_schema":null)",
           R"(,"effects_emitted":[],"graph":{"steps":[]})",
           R"(,"effects_emitted":[],"graph":null)",
           R"(,"effects_emitted":[],"determinism":"strict")",
           R"(,"effects_emitted":[],"determinism":null)",
       }) {
    EXPECT_EQ(form_errors(workflow_with(more)), Lines()) << more;
  }
}

TEST(WorkflowDef, other_forms_are_refused) {
  const Refusal cases[] = {
      {"", {"$: the field 'effects_emitted' is missing"}},
      {R"(,"effects_emitted":{})", {"$.effects_emitted: expected a list"}},
      {R"(,"effects_emitted":"a/x@1")", {"$.effects_emitted: expected a list"}},
      {R"(,"effects_emitted":["a/y@1",7,"a/x@1","y","a/y@1","a/y@1"])",
       {"$.effects_emitted[1]: expected a name",
        "$.effects_emitted[3]: 'y' is not a name of the form namespace/name@version",
        "$.effects_emitted[4]: 'a/y@1' is there twice",
        "$.effects_emitted[5]: 'a/y@1' is there twice"}},
      {R"(,"effects_emitted":[],"determinism":"decision_log")",
       {"$.determinism: only 'strict' is supported"}},
      {R"(,"effects_emitted":[],"graph":[])", {"$.graph: expected an object"}},
      {R"(,"effects_emitted":[],"determinism":7)", {"$.determinism: only 'strict' is supported"}},
      {R"(,"effects_emitted":[],"context":"c","annotations":1,"key_schema":"a/k@0","keys":1)",
       {"$.context: 'c' is not a name of the form namespace/name@version",
        "$.annotations: expected a name",
        "$.key_schema: 'a/k@0' has a bad version: a whole number from 1 after the '@'",
        "$: unknown field \"keys\""}},
  };
  for (const auto& [more, errors] : cases)
    EXPECT_EQ(form_errors(workflow_with(more)), errors) << more;
}

TEST(WorkflowDef, what_is_missing_is_named) {
  EXPECT_EQ(form_errors(R"({"$kind":"defworkflow"})"),
            (Lines{"$: the field 'name' is missing", "$: the field 'state' is missing",
                   "$: the field 'event' is missing", "$: the field 'effects_emitted' is missing",
                   "$: the field 'impl' is missing"}));
  EXPECT_EQ(
      form_errors(R"({"$kind":"defworkflow","name":"a/w@1","state":"a/s@1","event":"a/e@1",
                            "effects_emitted":[],"impl":{"module":"m","entry":"run"}})"),
      (Lines{"$.impl.module: 'm' is not a name of the form namespace/name@version",
             "$.impl: the field 'entrypoint' is missing", "$.impl: unknown field \"entry\""}));
}

TEST(WorkflowDef, a_long_list_of_effects_takes_no_longer_than_reading_it) {
  std::string effects;
  for (int i = 100'000; i > 0; --i) {
    effects += (effects.empty() ? "\"a/x" : ",\"a/x") + std::to_string(i) + "@1\"";
  }
  codec::Errors errors;
  const auto definition =
      testing::parse(workflow_with(",\"effects_emitted\":[" + effects + "]"), errors);
  ASSERT_TRUE(definition);
  const auto& emitted = std::get<WorkflowDef>(*definition).effects_emitted;
  EXPECT_EQ(emitted.size(), 100'000u);
  EXPECT_TRUE(std::is_sorted(emitted.begin(), emitted.end()));
}

}  // namespace
}  // namespace holdfast::defs
