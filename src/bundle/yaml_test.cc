// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml.h"

#include <gtest/gtest.h>

namespace holdfast::bundle {
namespace {

// The JSON, or the error.
std::string json(std::string_view yaml) {
  const auto converted = yaml_to_json(yaml);
  return converted ? *converted : converted.error().to_string();
}

std::string repeat(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

struct YamlCase {
  std::string yaml;
  std::string json;
};

TEST(Yaml, becomes_the_json_that_says_the_same) {
  const YamlCase cases[] = {
      {"a: 1\nb: [x, 2.50, true, ~]\n", R"({"a":1,"b":["x",2.50,true,null]})"},
      {"- a\n- - b\n  - c: d\n", R"(["a",["b",{"c":"d"}]])"},
      {"{a: {}, b: []}", R"({"a":{},"b":[]})"},
      {"a:\nb:\n", R"({"a":null,"b":null})"},
      {"a: null\nb: Null", R"({"a":null,"b":null})"},
      {"plain", R"("plain")"},
      {"# only\na: 1 # behind\n", R"({"a":1})"},
      {"\xef\xbb\xbf"
       "a: 1",
       R"({"a":1})"},
      {"a: 1\r\nb: 2\r\n", R"({"a":1,"b":2})"},
      {"%YAML 1.2\n---\na: 1\n...\n", R"({"a":1})"},
      {"a: \xc3\xa4\xe2\x82\xac", "{\"a\":\"\xc3\xa4\xe2\x82\xac\"}"},
      {R"(a: "\u00e4\n\"")", "{\"a\":\"\xc3\xa4\\n\\\"\"}"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_EQ(json(yaml), expected) << yaml;
}

TEST(Yaml, quoted_and_block_scalars_are_texts) {
  const YamlCase cases[] = {
      {"['1', \"2\", '', 'null', \"true\"]", R"(["1","2","","null","true"])"},
      {"a: |\n  1\n  2\n", R"({"a":"1\n2\n"})"},
      {"a: |-\n  1\n", R"({"a":"1"})"},
      {"a: >\n  x\n  y\n", R"({"a":"x y\n"})"},
      {"a: ! 1", R"({"a":"1"})"},
      {"a: !!str 1", R"({"a":"1"})"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_EQ(json(yaml), expected) << yaml;
}

TEST(Yaml, keys_are_texts_whatever_they_look_like) {
  EXPECT_EQ(json("1: a\ntrue: b\n1.50: c\n'null': d\n"),
            R"({"1":"a","true":"b","1.50":"c","null":"d"})");
  EXPECT_EQ(json("a: 1\na: 2\n"), R"({"a":1,"a":2})");  // refused where the JSON is read
  EXPECT_EQ(json("a: 1\nnull: b"), "a key is null; write it in quotes (line 2, column 1)");
  EXPECT_EQ(json("~: b"), "a key is null; write it in quotes (line 1, column 1)");
  EXPECT_EQ(json("? [a, b]\n: c\n"), "a key must be a scalar (line 1, column 3)");
  EXPECT_EQ(json("{{a: b}: c}"), "a key must be a scalar (line 1, column 2)");
}

TEST(Yaml, several_documents_make_a_list) {
  const YamlCase cases[] = {
      {"---\na: 1\n---\nb: 2\n", R"([{"a":1},{"b":2}])"},
      {"a\n---\n---\nb\n", R"(["a",null,"b"])"},
      {"- 1\n---\n- 2\n", "[[1],[2]]"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_EQ(json(yaml), expected) << yaml;
}

TEST(Yaml, what_stands_for_something_else_is_refused_with_its_place) {
  const YamlCase cases[] = {
      {"a: 1\nb: &x 2\n", "anchors (&x) are not accepted (line 2, column 4)"},
      {"a: &x 1\nb: *x\n", "anchors (&x) are not accepted (line 1, column 4)"},
      {"a: *x\n", "the referenced anchor is not defined (line 1, column 4)"},
      {"a: &x {b: 1}\n<<: *x\n", "anchors (&x) are not accepted (line 1, column 4)"},
      {"&x [1]", "anchors (&x) are not accepted (line 1, column 1)"},
      {"a: 1\nb: !!int 2\n", "tags (tag:yaml.org,2002:int) are not accepted (line 2, column 4)"},
      {"a: !own 2\n", "tags (!own) are not accepted (line 1, column 4)"},
      {"a: !!map {}\n", "tags (tag:yaml.org,2002:map) are not accepted (line 1, column 4)"},
      {"a: !!set [x]\n", "tags (tag:yaml.org,2002:set) are not accepted (line 1, column 4)"},
      {"!!binary aGk=", "tags (tag:yaml.org,2002:binary) are not accepted (line 1, column 1)"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_EQ(json(yaml), expected) << yaml;
}

TEST(Yaml, numbers_without_a_json_form_are_refused) {
  EXPECT_EQ(json("a: .inf"), "'.inf' has no form in JSON (line 1, column 4)");
  EXPECT_EQ(json("[1, .nan]"), "'.nan' has no form in JSON (line 1, column 5)");
}

TEST(Yaml, what_is_no_yaml_is_refused_with_its_place) {
  const YamlCase cases[] = {
      {"", "the YAML has no document"},
      {" \n\n", "the YAML has no document"},
      {"# a comment\n# another\n", "the YAML has no document"},
      {"a: b: c", "illegal map value (line 1, column 5)"},
      {"a: [1", "end of sequence flow not found (line 1, column 1)"},
      {"a:\n\t- 1\n", "illegal block entry (line 2, column 2)"},
      {"{}, a", "no document can begin here (line 1, column 3)"},
      {"[]\n---\n{}, b", "no document can begin here (line 3, column 3)"},
      {"a: \"b", "illegal EOF in scalar (line 1, column 6)"},
  };
  for (const auto& [yaml, expected] : cases) EXPECT_EQ(json(yaml), expected) << yaml;
}

TEST(Yaml, what_is_no_text_is_refused_with_its_line) {
  const auto refused = [](int line) {
    return "a control character or a byte that is not UTF-8 (line " + std::to_string(line) + ")";
  };
  EXPECT_EQ(json("a: \xff"), refused(1));
  EXPECT_EQ(json("a: 1\nb: \xc3\n"), refused(2));
  EXPECT_EQ(json("a: 1\n\x04\n---\nb: 2\n"), refused(2));  // yaml-cpp's end of file
  EXPECT_EQ(json(std::string("a: \0", 4)), refused(1));
  EXPECT_EQ(json("a: \x1b[31m"), refused(1));
  EXPECT_EQ(json("a: \x7f"), refused(1));
  EXPECT_EQ(json(std::string("\xff\xfe"
                             "a\0:\0 \0b\0",
                             10)),
            refused(1));  // UTF-16
}

TEST(Yaml, nesting_ends_at_the_depth_of_a_value) {
  EXPECT_EQ(json(repeat("[", 64) + repeat("]", 64)), repeat("[", 64) + repeat("]", 64));
  EXPECT_EQ(json(repeat("[", 65) + repeat("]", 65)), "nested too deep (line 1, column 65)");
  for (const char* open : {"[", "{", "{a: ", "[a, ", "- ", "? "}) {
    EXPECT_NE(json(repeat(open, 100'000)).find("nested too deep"), std::string::npos) << open;
  }
}

TEST(Yaml, the_size_is_bounded) {
  EXPECT_TRUE(yaml_to_json("a: " + std::string(kMaxYamlBytes - 3, 'x')));
  const auto refused = yaml_to_json(repeat("a: b\n", 400'000));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().to_string(), "more than 1048576 bytes of YAML");
}

TEST(Yaml, a_text_that_is_cut_off_inside_quotes_is_refused) {
  for (const std::string_view yaml : {"a: \"b\n", "a: 'b\n", "a: \"b\n\n"}) {
    EXPECT_FALSE(yaml_to_json(yaml)) << yaml;
  }
  EXPECT_EQ(*yaml_to_json("a: |\n  b\n"), R"({"a":"b\n"})");
}

}  // namespace
}  // namespace holdfast::bundle
