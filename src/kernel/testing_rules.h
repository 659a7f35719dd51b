// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: what the manifests of the scripted world (testing_script.h) say,
// written once more by hand.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/testing_script.h"
#include "kernel/testing_words.h"

namespace holdfast::kernel::testing {

// Manifests of the scripted world.
enum class Rules : std::uint8_t {
  kNone,   // before the first manifest
  kFirst,  // kScriptRoutes
  kOther,  // kOtherScriptRoutes
  kMore,   // the first and one schema more
};

// What stands in the ticks that bring a manifest.
enum class Document : std::uint8_t {
  kFirst,
  kOther,
  kPatch,    // makes kMore out of kFirst, and of nothing else
  kBroken,   // a list of definitions with an error
  kNotCbor,  // no value at all
};

// What a document makes of a world; none: it is refused.
inline Rules rules_of(Document document) {
  if (document == Document::kFirst) return Rules::kFirst;
  return document == Document::kOther ? Rules::kOther : Rules::kNone;
}
inline Rules patched(Rules rules) { return rules == Rules::kFirst ? Rules::kMore : Rules::kNone; }

inline bool has_workflow(Rules rules, std::string_view name) {
  if (name == "w/Deaf@1") return rules == Rules::kFirst || rules == Rules::kMore;
  return rules != Rules::kNone && (name == "w/Full@1" || name == "w/Some@1" || name == "w/Whole@1");
}

// Whether instances of a workflow would notice another manifest: theirs goes, or an event does not
// reach them any more.
inline bool touches(Rules before, Rules after, std::string_view workflow) {
  if (before == Rules::kNone || before == Rules::kOther || after != Rules::kOther) return false;
  return workflow == "w/Deaf@1" || workflow == "w/Full@1";
}

inline bool has_schema(Rules rules, std::string_view name) {
  static const std::set<std::string_view> common{"t/Text@1",      "t/Number@1",    "t/Both@1",
                                                 "t/Plain@1",     "t/Nobody@1",    "t/FullEvent@1",
                                                 "t/SomeEvent@1", "t/WholeEvent@1"};
  if (name == "t/More@1") return rules == Rules::kMore;
  return rules != Rules::kNone && common.contains(name);
}

inline std::string text_key(std::string_view name) {
  codec::Buffer out;
  codec::write_text(out, name);
  return std::string(base::as_text(out.view()));
}

inline std::string number_key(std::uint64_t number) {
  codec::Buffer out;
  codec::write_nat(out, number);
  return std::string(base::as_text(out.view()));
}

// Whether a workflow takes an event that is meant for it alone.
inline bool takes(std::string_view workflow, std::string_view schema) {
  if (workflow == "w/Full@1")
    return schema == "t/Text@1" || schema == "t/Both@1" || schema == "t/FullEvent@1";
  if (workflow == "w/Some@1")
    return schema == "t/Number@1" || schema == "t/Both@1" || schema == "t/SomeEvent@1";
  return schema == "t/Plain@1" || (workflow == "w/Whole@1" && schema == "t/WholeEvent@1");
}

inline bool key_fits(const Name& name) {
  if (name.first == "w/Full@1") return !name.second.empty() && (name.second[0] & 0xe0) == 0x60;
  if (name.first == "w/Some@1") return !name.second.empty() && (name.second[0] & 0xe0) == 0;
  return name.second.empty();
}

// Who gets an event, in order.
inline std::vector<Name> targets(Rules rules, std::string_view schema,
                                 const Actions::Event& event) {
  const Name full{"w/Full@1", text_key(event.name)};
  const Name some{"w/Some@1", number_key(event.number)};
  const Name deaf{"w/Deaf@1", ""};
  const Name whole{"w/Whole@1", ""};
  const bool other = rules == Rules::kOther;
  if (schema == "t/Text@1") return {full};
  if (schema == "t/Number@1" || schema == "t/SomeEvent@1") return {some};
  if (schema == "t/Both@1") return other ? std::vector{some} : std::vector{full, some};
  if (schema == "t/Plain@1") return other ? std::vector{whole} : std::vector{deaf, whole};
  if (schema == "t/WholeEvent@1") return {whole};
  return {};
}

}  // namespace holdfast::kernel::testing
