// SPDX-License-Identifier: Apache-2.0
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::form_errors;
using testing::Lines;
using testing::Refusal;

// A sound effect with `more` fields.
std::string effect(std::string_view more) {
  return R"({"$kind":"defeffect","name":"a/x@1","params":"a/p@1","receipt":"a/r@1")" +
         std::string(more) + "}";
}

TEST(EffectDef, an_effect_is_performed_by_an_executor_a_queue_of_workers_or_a_module) {
  for (const char* more : {
           R"(,"executor":{"kind":"timer"})",
           R"(,"executor":{"kind":"my.own"})",
           R"(,"executor":{"kind":"worker","queue":"gpu"})",
           R"(,"executor":{"kind":"http"},"timeout_ns":0)",
           R"(,"executor":{"kind":"http"},"timeout_ns":18446744073709551615,"impl":null)",
           R"(,"impl":{"module":"a/m@1","entrypoint":"run"})",
       }) {
    EXPECT_EQ(form_errors(effect(more)), Lines()) << more;
  }
}

TEST(EffectDef, other_forms_are_refused) {
  const Lines either = {"$.executor: an effect has either an 'executor' or an 'impl'"};
  const Lines no_time = {"$.timeout_ns: expected a whole number from 0"};
  const Refusal cases[] = {
      {"", either},
      {R"(,"executor":{"kind":"timer"},"impl":{"module":"a/m@1","entrypoint":"run"})", either},
      {R"(,"executor":"timer")", {"$.executor: expected an object"}},
      {R"(,"executor":{})", {"$.executor: the field 'kind' is missing"}},
      {R"(,"executor":{"kind":1})", {"$.executor.kind: expected a text that is not empty"}},
      {R"(,"executor":{"kind":"worker"})", {"$.executor: the field 'queue' is missing"}},
      {R"(,"executor":{"kind":"worker","queue":""})",
       {"$.executor.queue: expected a text that is not empty"}},
      {R"(,"executor":{"kind":"timer","queue":"gpu"})", {"$.executor: unknown field \"queue\""}},
      {R"(,"impl":{"module":"a/m@1"})", {"$.impl: the field 'entrypoint' is missing"}},
      {R"(,"executor":{"kind":"timer"},"timeout_ns":-1)", no_time},
      {R"(,"executor":{"kind":"timer"},"timeout_ns":1.0)", no_time},
      {R"(,"executor":{"kind":"timer"},"timeout_ns":"1s")", no_time},
      {R"(,"executor":{"kind":"timer"},"timeout":1)", {"$: unknown field \"timeout\""}},
  };
  for (const auto& [more, errors] : cases) EXPECT_EQ(form_errors(effect(more)), errors) << more;
}

TEST(EffectDef, what_is_missing_is_named) {
  EXPECT_EQ(form_errors(R"({"$kind":"defeffect"})"),
            (Lines{"$: the field 'name' is missing", "$: the field 'params' is missing",
                   "$: the field 'receipt' is missing",
                   "$.executor: an effect has either an 'executor' or an 'impl'"}));
}

}  // namespace
}  // namespace holdfast::defs
