// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/draw.h"
#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_in(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(DrawSvg, has_every_box_and_arrow_once) {
  const Picture picture =
      picture_of(graph_of("begin: Start -> A[] \n work: A -> B | Ask \n hear: Answer -> B \n"
                          "sum: B[] -> Stop \n rescue!1: StepFailed -> Stop"));
  const auto svg = draw_svg(picture);
  ASSERT_TRUE(svg);
  EXPECT_EQ(count_in(*svg, "<g>"), picture.nodes.size());
  EXPECT_EQ(count_in(*svg, " fill=\"none\" stroke=\"#333333\""), picture.edges.size() + 2U)
      << "the two ends have a second line";
  EXPECT_EQ(count_in(*svg, "marker-end=") + count_in(*svg, "marker-start="), picture.edges.size());
  for (const Picture::Node& node : picture.nodes)
    EXPECT_THAT(*svg, HasSubstr(">" + node.label + "</text>"));
  EXPECT_THAT(*svg, HasSubstr(">many</text>"));
  EXPECT_EQ(*svg, *draw_svg(picture)) << "the same each time";
}

TEST(DrawSvg, a_label_stays_a_label) {
  Picture picture;
  picture.title = {"a <script>alert(1)</script>\n\x01 & \"more\""};
  picture.nodes = {
      {"a", "</text><x y=\"z\">", Picture::Shape::kStep, Picture::Tone::kFailed, {"failed: <b>&"}}};
  picture.edges = {{"a", "a", "<loop>", false, false}};
  const auto svg = draw_svg(picture);
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr("&lt;/text&gt;&lt;x y=&quot;z&quot;&gt;"));
  EXPECT_THAT(*svg, HasSubstr("failed: &lt;b&gt;&amp;"));
  EXPECT_THAT(*svg, Not(HasSubstr("<script")));
  EXPECT_THAT(*svg, Not(HasSubstr("\x01")));
}

TEST(DrawSvg, long_labels_are_cut_between_letters) {
  Picture picture;
  std::string label;
  for (int i = 0; i < 100; ++i) label += "ä";
  picture.nodes = {{"a", label, Picture::Shape::kEvent, Picture::Tone::kPlain, {}}};
  const auto svg = draw_svg(picture);
  ASSERT_TRUE(svg);
  EXPECT_EQ(count_in(*svg, "ä"), 63U);
  EXPECT_THAT(*svg, HasSubstr("ä…</text>"));
}

TEST(DrawSvg, what_nobody_could_look_at_is_refused) {
  Picture picture;
  for (int i = 0; i <= 2000; ++i)
    picture.nodes.push_back(
        {std::to_string(i), "n", Picture::Shape::kStep, Picture::Tone::kPlain, {}});
  const auto svg = draw_svg(picture);
  ASSERT_FALSE(svg);
  EXPECT_EQ(svg.error().code(), base::ErrorCode::kTooLarge);
  for (const auto format : {DrawingFormat::kMermaid, DrawingFormat::kDot, DrawingFormat::kSvg}) {
    const auto drawn = draw(picture, format);
    ASSERT_FALSE(drawn);
    EXPECT_EQ(drawn.error().code(), base::ErrorCode::kTooLarge);
  }
  picture.nodes.pop_back();
  EXPECT_TRUE(draw(picture, DrawingFormat::kMermaid));
}

}  // namespace
}  // namespace holdfast::steps::testing
