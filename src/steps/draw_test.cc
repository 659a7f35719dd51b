// SPDX-License-Identifier: Apache-2.0
#include "steps/draw.h"

#include <gtest/gtest.h>

#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

Graph drawn() {
  return graph_of(R"(
    split: Start -> A[]
    work: A -> B | Ask
    hear: Answer -> C
    use: C -> Stop
    sum: B[2] -> Stop
    rescue!1 work: StepFailed -> C)");
}

TEST(Draw, mermaid_has_every_step_event_and_way) {
  EXPECT_EQ(draw_mermaid(picture_of(drawn())), R"(flowchart TD
  e0(["Start"])
  e1("A")
  e2("B")
  e3("Ask")
  e4("Answer")
  e5("C")
  e6(["Stop"])
  outside{{"outside"}}
  s0["hear"]
  s1["rescue"]
  s2["split"]
  s3["sum"]
  s4["use"]
  s5["work"]
  e3 --> outside
  outside --> e4
  e4 --> s0
  s0 --> e5
  s1 --> e5
  e0 --> s2
  s2 -->|many| e1
  e2 -->|first 2| s3
  s3 --> e6
  e5 --> s4
  s4 --> e6
  e1 --> s5
  s5 --> e2
  s5 --> e3
  s5 -.->|fails| s1
)");
}

TEST(Draw, a_step_gets_one_of_each_of_what_it_takes_together) {
  EXPECT_EQ(draw_mermaid(picture_of(graph_of("begin: Start -> A | B \n pack: A & B -> Stop"))),
            R"(flowchart TD
  e0(["Start"])
  e1("A")
  e2("B")
  e3(["Stop"])
  s0["begin"]
  s1["pack"]
  e0 --> s0
  s0 --> e1
  s0 --> e2
  e1 -->|one| s1
  e2 -->|one| s1
  s1 --> e3
)");
}

TEST(Draw, dot_has_the_same) {
  EXPECT_EQ(draw_dot(picture_of(graph_of("begin: Start -> A[] \n end: A[] -> Stop"))),
            R"(digraph steps {
  e0 [label="Start", shape=ellipse, peripheries=2];
  e1 [label="A", shape=ellipse];
  e2 [label="Stop", shape=ellipse, peripheries=2];
  s0 [label="begin", shape=box];
  s1 [label="end", shape=box];
  e0 -> s0;
  s0 -> e1 [label="many"];
  e1 -> s1 [label="all"];
  s1 -> e2;
}
)");
}

TEST(Draw, nothing_in_a_title_or_a_note_is_obeyed) {
  Picture picture;
  const std::string text =
      "a%%{init: {\"theme\":\"dark\"}}%%\x7f\x1b[2J\xc2\x9b"
      "1m\xef\xbf\xbe\xef\xbf\xbf\xc3\xa4 b";
  picture.title = {text};
  picture.nodes.push_back({"s0", "s", Picture::Shape::kStep, Picture::Tone::kPlain, {text}});
  const std::string inside =
      "a%%#123;init: #123;#quot;theme#quot;:#quot;dark#quot;#125;#125;%%[2J1m\xc3\xa4 b";
  EXPECT_EQ(draw_mermaid(picture),
            "flowchart TD\n  %% " + inside + "\n  s0[\"s<br/>" + inside + "\"]\n");
  for (const auto format : {DrawingFormat::kDot, DrawingFormat::kSvg}) {
    const auto drawn = draw(picture, format);
    ASSERT_TRUE(drawn);
    for (const char* unshown : {"\x7f", "\x1b", "\xc2\x9b", "\xef\xbf\xbe", "\xef\xbf\xbf"})
      EXPECT_EQ(drawn->find(unshown), std::string::npos);
    EXPECT_NE(drawn->find("\xc3\xa4 b"), std::string::npos);
  }
}

TEST(Draw, a_label_stays_a_label) {
  const Graph graph({{"a\"] --> x\n\\", Role::kStart}}, {{.name = "s",
                                                          .accepts = {0},
                                                          .join = {},
                                                          .returns = {},
                                                          .returns_list = {},
                                                          .handles = {}}});
  EXPECT_NE(draw_mermaid(picture_of(graph)).find("e0([\"a#quot;] --> x\"])\n"), std::string::npos);
  EXPECT_NE(draw_dot(picture_of(graph)).find("[label=\"a\\\"] --> x\""), std::string::npos);
}

}  // namespace
}  // namespace holdfast::steps::testing
