// SPDX-License-Identifier: Apache-2.0
#include "flows/program.h"

#include <gtest/gtest.h>

#include "codec/normaliser.h"
#include "codec/schema.h"
#include "flows/values.h"

namespace holdfast::flows {
namespace {

// "": it is a program.
std::string problem_of(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_json(codec::Schema::any(), json);
  if (!value) return value.error().to_string();
  const auto program = read_program(codec::View::of(*value));
  return program ? "" : program.error().to_string();
}

TEST(FlowProgram, a_tree_of_known_nodes_is_read) {
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"seq","children":[1,2]},{"kind":"sql","text":"a"},
                          {"kind":"sleep","ms":5}],"path":"public","vars":{"a":"b"}})"),
            "");
}

TEST(FlowProgram, what_is_wrong_is_named_with_its_place) {
  EXPECT_EQ(problem_of("{}"), "nodes: expected a list");
  EXPECT_EQ(problem_of(R"({"nodes":[]})"), "nodes: expected 1 to 10000 nodes");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"evil"}]})"), "nodes[0].kind: unknown kind 'evil'");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"sql"}]})"), "nodes[0].text: the field is missing");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"sql","text":"a","name":"b"}]})"),
            "nodes[0].name: a node of kind 'sql' has no such field");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"sql","text":"a"},{"kind":"sql","text":"b"}]})"),
            "nodes[1]: no node has it as a child");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"seq","children":[0]}]})"),
            "nodes[0].children: expected numbers of later nodes");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"seq","children":[1,1]},{"kind":"sql","text":"b"}]})"),
            "nodes[0].children: a node has two parents");
  EXPECT_EQ(problem_of(R"({"nodes":[{"kind":"named","name":"1 x","children":[1]},
                          {"kind":"sql","text":"b"}]})"),
            "nodes[0].name: expected a name of letters, digits and '_', up to 63 bytes");
}

TEST(FlowProgram, levels_are_bounded) {
  const auto nested = [](std::size_t levels) {
    std::string json = R"({"nodes":[)";
    for (std::size_t i = 1; i < levels; ++i)
      json += R"({"kind":"loop","children":[)" + std::to_string(i) + "]},";
    return json + R"({"kind":"sql","text":"a"}]})";
  };
  EXPECT_EQ(problem_of(nested(kMaxDepth)), "");
  EXPECT_EQ(problem_of(nested(kMaxDepth + 1)), "nodes[255]: the flow is more than 256 levels deep");
}

}  // namespace
}  // namespace holdfast::flows
