// SPDX-License-Identifier: Apache-2.0
#include "holdfast/module.h"

#include <gtest/gtest.h>

#include "defs/builtin.h"
#include "defs/name.h"
#include "kernel/testing.h"
#include "native/bundle.h"

namespace holdfast::native::module_test {
namespace {

struct Customer {
  std::string id;
};
struct Bought {
  static constexpr std::string_view kSchema = "shop/Bought@1";
  Customer customer;
  std::uint64_t cents = 0;
};
struct BoughtAgain {
  static constexpr std::string_view kSchema = "shop/Bought@2";
  Customer customer;
};
struct Rewarded {
  static constexpr std::string_view kSchema = "shop/Rewarded@1";
  std::string customer;
};

struct Mail {
  static constexpr std::string_view kEffect = "shop/mail@1";
  static constexpr Executor kExecutor = worker("a \"quoted\" queue");
  static constexpr Duration kTimeout = std::chrono::seconds(30);
  struct Params {
    std::string to;
  };
  struct Receipt {};
};

struct Points {
  static constexpr std::string_view kWorkflow = "shop/Points@1";
  struct State {
    std::uint64_t points = 0;
  };
  using Events = holdfast::Events<On<Bought, &Bought::customer, &Customer::id>,
                                  On<BoughtAgain, &BoughtAgain::customer, &Customer::id>>;
  using Effects = holdfast::Effects<Mail, Timer>;
  using Emits = holdfast::Emits<Rewarded>;
  using Context = holdfast::Context<Points>;

  static void step(State&, const Bought&, Context&) {}
  static void step(State&, const BoughtAgain&, Context&) {}
  static void step(State&, const Received<Mail>&, Context&) {}
  static void step(State&, const Received<Timer>&, Context&) {}
  static void step(State&, const Progress<Mail>&, Context&) {}
  static void step(State&, const Rejected<Mail>&, Context&) {}
};

struct Total {
  static constexpr std::string_view kWorkflow = "shop/Total@1";
  struct State {
    static constexpr std::string_view kSchema = "shop/Sum@1";
    std::uint64_t cents = 0;
  };
  using Events = holdfast::Events<On<Bought>>;
  static void step(State&, const Bought&, Context<Total>&) {}
};

std::string definition(const defs::Bundle& bundle, std::string_view name) {
  const defs::Entry* entry = bundle.catalogue.find_entry(name);
  return entry == nullptr ? "" : codec::to_json(codec::View::of(entry->canonical));
}

class ModuleTest : public ::testing::Test {
 protected:
  defs::Catalogue builtin_ = defs::builtin_catalogue();

  defs::Bundle loaded(const std::vector<Module>& modules) {
    defs::Bundle bundle = load(modules, &builtin_);
    for (const base::Error& error : bundle.errors) ADD_FAILURE() << error.to_string();
    return bundle;
  }
};

TEST_F(ModuleTest, types_become_definitions) {
  const defs::Bundle bundle = loaded({Module::of<Points, Total>("shop/code@1")});
  EXPECT_EQ(
      definition(bundle, "shop/Bought@1"),
      R"({"name":"shop/Bought@1","type":{"record":{"cents":{"nat":{}},"customer":{"record":{"id":{"text":{}}}}}},"$kind":"defschema"})");
  EXPECT_EQ(
      definition(bundle, "shop/mail@1"),
      R"({"name":"shop/mail@1","$kind":"defeffect","params":"shop/mail.Params@1","receipt":"shop/mail.Receipt@1","executor":{"kind":"worker","queue":"a \"quoted\" queue"},"timeout_ns":30000000000})");
  EXPECT_EQ(
      definition(bundle, "shop/Points@1"),
      R"({"impl":{"module":"shop/code@1","entrypoint":"shop/Points@1"},"name":"shop/Points@1","$kind":"defworkflow","event":"shop/Points.Event@1","state":"shop/Points.State@1","key_schema":"shop/Points.Key@1","effects_emitted":["shop/mail@1","sys/timer.set@1"]})");
  EXPECT_EQ(
      definition(bundle, "shop/Total@1"),
      R"({"impl":{"module":"shop/code@1","entrypoint":"shop/Total@1"},"name":"shop/Total@1","$kind":"defworkflow","event":"shop/Total.Event@1","state":"shop/Sum@1","effects_emitted":[]})");
}

TEST_F(ModuleTest,
       an_event_type_has_an_arm_for_each_event_and_for_each_answer_there_is_a_step_for) {
  const defs::Bundle bundle = loaded({Module::of<Points, Total>("shop/code@1")});
  const auto refs = [&](std::string_view name) {
    std::map<std::string, std::string> arms;
    for (const codec::Member& arm : bundle.catalogue.find(name)->members)
      arms[arm.name] = arm.type.ref;
    return arms;
  };
  EXPECT_EQ(refs("shop/Total.Event@1"),
            (std::map<std::string, std::string>{{"Bought", "shop/Bought@1"}}));
  EXPECT_EQ(
      refs("shop/Points.Event@1"),
      (std::map<std::string, std::string>{{"shop/Bought@1", "shop/Bought@1"},
                                          {"shop/Bought@2", "shop/Bought@2"},
                                          {"EffectReceiptEnvelope", "sys/EffectReceiptEnvelope@1"},
                                          {"EffectReceiptRejected", "sys/EffectReceiptRejected@1"},
                                          {"EffectStreamFrame", "sys/EffectStreamFrame@1"}}));
}

TEST_F(ModuleTest, routes_follow_the_key_through_nested_structs) {
  const defs::Bundle bundle = loaded({Module::of<Points, Total>("shop/code@1")});
  const auto& routes = std::get<defs::Manifest>(bundle.manifest->definition).subscriptions;
  ASSERT_EQ(routes.size(), 3u);
  EXPECT_EQ(routes[0].key_field, "customer.id");
  EXPECT_EQ(routes[2].workflow, "shop/Total@1");
  EXPECT_FALSE(routes[2].key_field);
}

TEST_F(ModuleTest, modules_share_a_manifest_and_what_both_define_is_there_once) {
  const defs::Bundle bundle =
      loaded({Module::of<Points>("shop/code@1"), Module::of<Total>("shop/more@1")});
  const auto& manifest = std::get<defs::Manifest>(bundle.manifest->definition);
  EXPECT_EQ(manifest.modules.size(), 2u);
  EXPECT_EQ(manifest.workflows.size(), 2u);
}

TEST_F(ModuleTest, what_a_workflow_emits_is_in_the_manifest) {
  const defs::Bundle bundle = loaded({Module::of<Points>("shop/code@1")});
  EXPECT_NE(definition(bundle, "shop/Rewarded@1"), "");
}

struct OtherBought {
  static constexpr std::string_view kSchema = "shop/Bought@1";
  std::string id;
};
struct Other {
  static constexpr std::string_view kWorkflow = "shop/Other@1";
  struct State {};
  using Events = holdfast::Events<On<OtherBought>>;
  static void step(State&, const OtherBought&, Context<Other>&) {}
};

TEST_F(ModuleTest, two_structs_that_claim_one_name_are_an_error) {
  const defs::Bundle bundle = load(std::vector{Module::of<Total, Other>("shop/code@1")}, &builtin_);
  ASSERT_FALSE(bundle.errors.empty());
  EXPECT_NE(bundle.errors.begin()->to_string().find("shop/Bought@1"), std::string::npos);
}

TEST(Name, the_compiler_judges_names_as_the_engine_does) {
  const std::string longest = "shop/" + std::string(248, 'x') + "@1";
  for (const std::string& name : {std::string("shop/Order@1"),
                                  std::string("a.b-c_d/x.Y-z_9@4294967295"),
                                  longest,
                                  longest + "0",
                                  std::string("Shop/Order@1"),
                                  std::string("shop/1rder@1"),
                                  std::string("1hop/Order@1"),
                                  std::string("shop/.rder@1"),
                                  std::string("shop/Order@0"),
                                  std::string("shop/Order@01"),
                                  std::string("shop/Order@4294967296"),
                                  std::string("shop/Order@12345678901"),
                                  std::string("shop/Order@"),
                                  std::string("shop/Order@1a"),
                                  std::string("shop/@1"),
                                  std::string("/Order@1"),
                                  std::string("shop/a/b@1"),
                                  std::string("shop/a@b@1"),
                                  std::string("shop@1/a"),
                                  std::string("shop/\u00e9@1"),
                                  std::string("Order"),
                                  std::string()}) {
    EXPECT_EQ(detail::is_name(name), !defs::name_problem(name)) << name;
  }
}

TEST_F(ModuleTest, a_module_with_a_bad_name_is_an_error) {
  EXPECT_FALSE(load(std::vector{Module::of<Total>("Shop")}, &builtin_).errors.empty());
}

}  // namespace
}  // namespace holdfast::native::module_test
