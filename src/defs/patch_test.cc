// SPDX-License-Identifier: Apache-2.0
#include "defs/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::builtin;
using testing::Lines;
using testing::lines_of;
using testing::load_text;

constexpr char kBase[] = R"json([
{"$kind":"defschema","name":"a/State@1","type":{"nat":{}}},
{"$kind":"defschema","name":"a/Event@1","type":{"record":{"n":{"nat":{}}}}},
{"$kind":"defmodule","name":"a/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"a/Flow@1","state":"a/State@1","event":"a/Event@1","effects_emitted":[],
 "impl":{"module":"a/code@1","entrypoint":"flow"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"a/State@1"},{"name":"a/Event@1"}],
 "modules":[{"name":"a/code@1"}],"workflows":[{"name":"a/Flow@1"}],"effects":[],
 "routing":{"subscriptions":[{"event":"a/Event@1","workflow":"a/Flow@1"}]}}])json";

class PatchTest : public ::testing::Test {
 protected:
  // A patch against the base, its operations as JSON.
  Bundle patch(const std::string& operations) {
    return patch_document(R"({"base_manifest_hash":")" + base_.manifest->hash.to_text() +
                          R"(","patches":[)" + operations + "]}");
  }
  Bundle patch_document(const std::string& json) {
    codec::Normaliser normaliser;
    const auto value = normaliser.from_json(codec::Schema::any(), json);
    EXPECT_TRUE(value) << json;
    return apply_patch(base_, codec::View::of(*value), &builtin());
  }
  std::string hash(std::string_view name) const {
    return base_.catalogue.find_entry(name)->hash.to_text();
  }
  std::string routes_hash() const {
    return hash_of(std::get<Manifest>(base_.manifest->definition).subscriptions).to_text();
  }

  Bundle base_ = load_text(kBase);
};

TEST_F(PatchTest, replaces_a_definition_that_is_what_it_expects) {
  const Bundle made = patch(
      R"({"replace_def":{"kind":"defschema","name":"a/State@1","pre_hash":")" + hash("a/State@1") +
      R"(","new_node":{"$kind":"defschema","name":"a/State@1","type":{"text":{}}}}})");
  EXPECT_EQ(lines_of(made.errors), Lines{});
  EXPECT_EQ(made.catalogue.find("a/State@1")->kind, codec::TypeKind::kText);
  EXPECT_NE(made.manifest->hash, base_.manifest->hash);
  EXPECT_NE(made.catalogue.find_entry("a/Flow@1"), nullptr);
}

TEST_F(PatchTest, adds_and_lists_a_definition_and_removes_and_unlists_it) {
  const std::string node = R"({"$kind":"defschema","name":"a/More@1","type":{"bool":{}}})";
  const std::string add = R"({"add_def":{"kind":"defschema","node":)" + node + "}}";
  const Bundle added = patch(add);
  EXPECT_EQ(lines_of(added.errors), Lines{});
  EXPECT_EQ(std::get<Manifest>(added.manifest->definition).schemas.size(), 3u);
  const Bundle back =
      patch(add + R"(,{"remove_def":{"kind":"defschema","name":"a/More@1","pre_hash":")" +
            added.catalogue.find_entry("a/More@1")->hash.to_text() + R"("}})");
  EXPECT_EQ(lines_of(back.errors), Lines{});
  EXPECT_EQ(back.manifest->hash, base_.manifest->hash);
}

TEST_F(PatchTest, sets_routes_and_references) {
  const Bundle made = patch(
      R"({"set_routing_subscriptions":{"subscriptions":[],"pre_hash":")" + routes_hash() +
      R"("}},{"set_manifest_refs":{"add":[{"kind":"defeffect","name":"sys/timer.set@1","hash":")" +
      builtin().find_entry("sys/timer.set@1")->hash.to_text() + R"("}]}})");
  EXPECT_EQ(lines_of(made.errors), Lines{});
  const auto& manifest = std::get<Manifest>(made.manifest->definition);
  EXPECT_TRUE(manifest.subscriptions.empty());
  EXPECT_EQ(manifest.effects.size(), 1u);
}

TEST_F(PatchTest, refuses_what_was_made_against_something_else) {
  const std::string zero = "sha256:" + std::string(63, '0') + "1";
  EXPECT_EQ(
      lines_of(patch_document(R"({"base_manifest_hash":")" + zero +
                              R"(","patches":[{"set_manifest_refs":{"add":[]}}]})")
                   .errors),
      Lines{"$.base_manifest_hash: the manifest has the hash " + base_.manifest->hash.to_text()});
  EXPECT_EQ(
      lines_of(patch(R"({"remove_def":{"kind":"defschema","name":"a/State@1","pre_hash":")" + zero +
                     R"("}})")
                   .errors),
      Lines{"$.patches[0].remove_def.pre_hash: 'a/State@1' has the hash " + hash("a/State@1")});
  EXPECT_EQ(lines_of(patch(R"({"set_routing_subscriptions":{"subscriptions":[],"pre_hash":")" +
                           zero + R"("}})")
                         .errors),
            Lines{"$.patches[0].set_routing_subscriptions.pre_hash: the list has the hash " +
                  routes_hash()});
}

TEST_F(PatchTest, refuses_what_has_no_meaning_and_names_the_place) {
  struct Case {
    std::string operation;
    std::string error;
  };
  const std::string pre = R"("pre_hash":")" + hash("a/State@1") + R"(")";
  const Case cases[] = {
      {R"({})", "$.patches[0]: expected one operation"},
      {R"(5)", "$.patches[0]: expected an object"},
      {R"({"rename_def":{}})", "$.patches[0]: expected one operation"},
      {R"({"add_def":{"kind":"defthing","node":{}}})",
       "$.patches[0].add_def.kind: there is no such kind"},
      {R"({"add_def":{"kind":"defschema"}})", "$.patches[0].add_def: the field 'node' is missing"},
      {R"({"add_def":{"kind":"defmodule","node":{"$kind":"defschema","name":"b/X@1","type":{"nat":{}}}}})",
       "$.patches[0].add_def.node: it is a defschema"},
      {R"({"add_def":{"kind":"defschema","node":{"$kind":"defschema","name":"a/State@1","type":{"nat":{}}}}})",
       "$.patches[0].add_def.node: 'a/State@1' is there already"},
      {R"({"remove_def":{"kind":"defschema","name":"b/X@1",)" + pre + "}}",
       "$.patches[0].remove_def.name: there is no definition 'b/X@1'"},
      {R"({"remove_def":{"kind":"defmodule","name":"a/State@1",)" + pre + "}}",
       "$.patches[0].remove_def.kind: 'a/State@1' is a defschema"},
      {R"({"replace_def":{"kind":"defschema","name":"a/State@1",)" + pre +
           R"(,"new_node":{"$kind":"defschema","name":"b/X@1","type":{"nat":{}}}}})",
       "$.patches[0].replace_def.new_node: its name is another one"},
      {R"({"set_manifest_refs":{"remove":[{"kind":"defschema","name":"b/X@1"}]}})",
       "$.patches[0].set_manifest_refs.remove[0].name: the manifest does not list 'b/X@1'"},
      {R"({"remove_def":{"kind":"defschema","name":"a/State@1",)" + pre + "}}",
       "the patched manifest: $[1].state: there is no defschema named 'a/State@1'"},
      {R"({"add_def":{"kind":"defschema","node":{"$kind":"defschema","name":"sys/X@1","type":{"nat":{}}}}})",
       "the patched manifest: $[4].name: 'sys/X@1' is reserved: names under sys/ belong to the "
       "system"},
  };
  for (const Case& wrong : cases) {
    const Lines errors = lines_of(patch(wrong.operation).errors);
    EXPECT_THAT(errors, ::testing::Contains(wrong.error)) << wrong.operation;
  }
}

TEST(ClosureTest, holds_what_the_manifest_lists_and_loads_to_the_same_manifest) {
  const Bundle bundle = load_text(kBase);
  const base::Bytes closure = *closure_of(bundle);
  const Bundle again = load(codec::View::of(closure), "$", &builtin());
  EXPECT_EQ(lines_of(again.errors), Lines{});
  EXPECT_EQ(again.manifest->hash, bundle.manifest->hash);
  EXPECT_EQ(*closure_of(again), closure);

  // Neither order nor what is not listed matters.
  std::string more = kBase;
  more.insert(1, R"({"$kind":"defschema","name":"a/Unused@1","type":{"nat":{}}},)");
  EXPECT_EQ(*closure_of(load_text(more)), closure);
}

TEST(ClosureTest, needs_a_manifest) {
  const auto closure =
      closure_of(load_text(R"({"$kind":"defschema","name":"a/X@1","type":{"nat":{}}})"));
  ASSERT_FALSE(closure);
  EXPECT_EQ(closure.error().to_string(), "there is no manifest");
}

}  // namespace
}  // namespace holdfast::defs
