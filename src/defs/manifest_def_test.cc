// SPDX-License-Identifier: Apache-2.0
// The form of a manifest; whether it holds together is check_manifest_test.cc.
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::form_errors;
using testing::Lines;
using testing::Refusal;

// An empty manifest with `more` fields.
std::string manifest_with(std::string_view more) {
  return R"({"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[])" +
         std::string(more) + "}";
}

TEST(ManifestDef, secrets_and_routing_may_be_absent) {
  for (const char* more : {
           R"(,"effects":[])",
           R"(,"effects":[],"secrets":null,"routing":null)",
           R"(,"effects":[],"secrets":[],"routing":{})",
           R"(,"effects":[{"name":"a/x@1"}],"secrets":[{"name":"a/s@1","hash":null}],
              "routing":{"subscriptions":[]})",
       }) {
    EXPECT_EQ(form_errors(manifest_with(more)), Lines()) << more;
  }
}

TEST(ManifestDef, other_forms_are_refused) {
  const Refusal cases[] = {
      {"", {"$: the field 'effects' is missing"}},
      {R"(,"effects":{})", {"$.effects: expected a list"}},
      {R"(,"effects":[1,"a/x@1",{},{"name":"x"},{"name":"a/x@1","hash":"1","more":2}])",
       {"$.effects[0]: expected an object", "$.effects[1]: expected an object",
        "$.effects[2]: the field 'name' is missing",
        "$.effects[3].name: 'x' is not a name of the form namespace/name@version",
        "$.effects[4].hash: expected a hash: sha256: and 64 lower-case hexadecimal digits",
        "$.effects[4]: unknown field \"more\""}},
      {R"(,"effects":[{"name":"a/y@1"},{"name":"a/x@1"},{"name":"a/y@1"}])",
       {"$.effects[2]: 'a/y@1' is there twice"}},
      {R"(,"effects":[],"routing":[])", {"$.routing: expected an object"}},
      {R"(,"effects":[],"routing":{"events":[]})", {"$.routing: unknown field \"events\""}},
      {R"(,"effects":[],"plans":[])", {"$: unknown field \"plans\""}},
      {R"(,"effects":[],"name":"a/b@1")", {"$: unknown field \"name\""}},
  };
  for (const auto& [more, errors] : cases)
    EXPECT_EQ(form_errors(manifest_with(more)), errors) << more;
}

TEST(ManifestDef, the_version_of_the_format_is_2) {
  const Refusal cases[] = {
      {"", {"$: the field 'air_version' is missing"}},
      {R"(,"air_version":"1")", {"$.air_version: expected \"2\""}},
      {R"(,"air_version":2)", {"$.air_version: expected a text that is not empty"}},
  };
  for (const auto& [version, errors] : cases) {
    EXPECT_EQ(
        form_errors(R"({"$kind":"manifest","schemas":[],"modules":[],"workflows":[],"effects":[])" +
                    version + "}"),
        errors);
  }
}

TEST(ManifestDef, a_subscription_names_one_event_and_one_workflow) {
  const Refusal cases[] = {
      {R"({"event":"a/e@1","workflow":"a/w@1"})", {}},
      {R"({"event":"a/e@1","op":"a/w@1","key_field":"id"})", {}},
      {R"({"event":"a/e@1","op":"a/w@1","workflow":null,"key_field":null})", {}},
      {R"(7)", {"$.routing.subscriptions[0]: expected an object"}},
      {R"({"event":"a/e@1"})",
       {"$.routing.subscriptions[0].workflow: a subscription names one workflow"}},
      {R"({"event":"a/e@1","op":"a/w@1","workflow":"a/w@1"})",
       {"$.routing.subscriptions[0].workflow: a subscription names one workflow"}},
      {R"({"workflow":"w","key_field":"","reducer":1})",
       {"$.routing.subscriptions[0]: the field 'event' is missing",
        "$.routing.subscriptions[0].workflow: 'w' is not a name of the form namespace/name@version",
        "$.routing.subscriptions[0].key_field: expected a text that is not empty",
        "$.routing.subscriptions[0]: unknown field \"reducer\""}},
  };
  for (const auto& [subscription, errors] : cases) {
    EXPECT_EQ(form_errors(manifest_with(R"(,"effects":[],"routing":{"subscriptions":[)" +
                                        subscription + "]}")),
              errors)
        << subscription;
  }
}

TEST(ManifestDef, more_than_5000_entries_of_one_kind_are_refused) {
  std::string entries;
  for (int i = 0; i <= 5'000; ++i) entries += (i == 0 ? "" : ",") + std::string("{}");
  EXPECT_EQ(form_errors(manifest_with(",\"effects\":[" + entries + "]")),
            (Lines{"$.effects: more than 5000 entries"}));
}

TEST(ManifestDef, the_largest_manifest_can_be_encoded) {
  Manifest manifest_with;
  const std::string tail = std::string(240, 'x') + "@1";
  for (auto list : {&Manifest::schemas, &Manifest::modules, &Manifest::workflows,
                    &Manifest::effects, &Manifest::secrets}) {
    for (int i = 0; i < 5'000; ++i)
      (manifest_with.*list).push_back({"n/a" + std::to_string(10'000 + i) + tail, base::Hash{}});
  }
  const std::string name(255, 'n');
  for (int i = 0; i < 5'000; ++i) manifest_with.subscriptions.push_back({name, name, name});
  EXPECT_GT(encode(manifest_with).size(), std::size_t{10} << 20);
}

}  // namespace
}  // namespace holdfast::defs
