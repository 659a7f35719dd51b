// SPDX-License-Identifier: Apache-2.0
#include "flows/substitute.h"

#include <gtest/gtest.h>

#include <map>

#include "codec/normaliser.h"
#include "codec/schema.h"

namespace holdfast::flows {
namespace {

class Substituting : public ::testing::Test {
 protected:
  void know(const std::string& name, std::string_view json) {
    const auto value = normaliser_.part_from_json(codec::Schema::any(), json);
    ASSERT_TRUE(value) << value.error().to_string();
    results_[name].assign(value->begin(), value->end());
  }

  base::Result<std::string> put(std::string_view text, Quoting quoting = Quoting::kSql) {
    return substitute(
        text, quoting,
        [](std::string_view name) -> std::optional<std::string_view> {
          if (name == "table") return "log";
          if (name == "indirect") return "$a";
          return std::nullopt;
        },
        [this](std::string_view name) -> std::optional<codec::View> {
          const auto found = results_.find(std::string(name));
          if (found == results_.end()) return std::nullopt;
          return codec::View::of(found->second);
        });
  }
  std::string sql(std::string_view text) {
    const auto made = put(text);
    return made ? *made : "error: " + made.error().to_string();
  }

  codec::Normaliser normaliser_;
  std::map<std::string, base::Bytes> results_;
};

TEST_F(Substituting, a_value_is_quoted_and_a_negative_number_is_no_comment) {
  know("a", R"({"columns":["s","n"],"rows":[{"s":"o'hara; --","n":-5}],"row_count":1})");
  EXPECT_EQ(sql("SELECT $a, 3-$a.n"), "SELECT 'o''hara; --', 3-(-5)");
  EXPECT_EQ(sql("$a.row_count"), "1");
  EXPECT_EQ(sql("$a.unknown $b $1 a$a"), "$a.unknown $b $1 a$a");
}

TEST_F(Substituting, what_is_quoted_in_the_text_is_left_as_it_is) {
  know("a", R"({"columns":["s"],"rows":[{"s":"x"}],"row_count":1})");
  for (const char* kept : {"'$a'", "'it''s $a'", R"(E'\'$a')", "\"$a\"", "\"a\"\"$a\"", "-- $a",
                           "/* /* $a */ $a */", "$$ $a $$", "$q$ $a $$ $a $q$", "'$a", "$q$ $a"})
    EXPECT_EQ(sql(kept), kept);
  EXPECT_EQ(sql("'a' $a -- $a\n$a"), "'a' 'x' -- $a\n'x'");
  EXPECT_EQ(sql(R"('\' $a)"), R"('\' 'x')");
}

TEST_F(Substituting, a_missing_value_is_an_error_unless_it_is_optional) {
  know("none", R"({"columns":[],"rows":[],"row_count":0})");
  know("null", R"({"columns":["x"],"rows":[{"x":null}],"row_count":1})");
  EXPECT_FALSE(put("$none"));
  EXPECT_FALSE(put("$none.x"));
  EXPECT_FALSE(put("$null.x"));
  EXPECT_EQ(sql("$none? $null.x?"), "NULL NULL");
}

TEST_F(Substituting, rows_stand_after_from) {
  know("r",
       R"({"columns":["a","b\"c"],"rows":[{"a":1,"b\"c":"x"},{"a":2,"b\"c":null}],"row_count":2})");
  know("none", R"({"columns":[],"rows":[],"row_count":0})");
  EXPECT_EQ(sql("FROM $r.*"), "FROM (VALUES (1, 'x'), (2, NULL)) AS \"r\"(\"a\", \"b\"\"c\")");
  EXPECT_EQ(sql("FROM $none.*"), "FROM (SELECT WHERE FALSE) AS \"none\"");
}

TEST_F(Substituting, values_without_rows_are_fields_or_one_literal) {
  know("s", R"({"name":"go","data":{"x":"it's"},"timed_out":false})");
  EXPECT_EQ(sql("$s.name $s.timed_out $s.data"), R"('go' FALSE '{"x":"it''s"}')");
  EXPECT_FALSE(put("$s.nothing"));
}

TEST_F(Substituting, variables_are_raw_and_come_first) {
  know("a", R"({"columns":["s"],"rows":[{"s":"x"}],"row_count":1})");
  EXPECT_EQ(sql("{table} {unknown} {1} {indirect}"), "log {unknown} {1} 'x'");
  const auto raw = put("/{table}/$a", Quoting::kRaw);
  ASSERT_TRUE(raw);
  EXPECT_EQ(*raw, "/log/x");
}

TEST_F(Substituting, a_text_that_grows_beyond_its_limit_is_refused) {
  const std::string large(400'000, 'x');
  know("a", R"({"columns":["s"],"rows":[{"s":")" + large + R"("}],"row_count":1})");
  EXPECT_TRUE(put("$a"));
  EXPECT_FALSE(put("$a $a"));
}

}  // namespace
}  // namespace holdfast::flows
