// SPDX-License-Identifier: Apache-2.0
#include "holdfast/detail/form.h"

#include <gtest/gtest.h>

#include "codec/buffer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "defs/load.h"
#include "holdfast/detail/record.h"

namespace holdfast::native {
namespace {

using detail::Form;

enum class Colour { red, green = 7, none = 63 };

struct Cash {
  static constexpr std::string_view kSchema = "shop/Cash@1";
  std::uint64_t cents = 0;
  auto operator<=>(const Cash&) const = default;
};
struct Card {
  static constexpr std::string_view kSchema = "shop/Card@1";
  std::string number;
  auto operator<=>(const Card&) const = default;
};
struct Nothing {
  auto operator<=>(const Nothing&) const = default;
};
struct Line {
  std::string sku;
  std::int64_t delta = 0;
  auto operator<=>(const Line&) const = default;
};

// One of everything.
struct All {
  bool yes = false;
  std::uint64_t large = 0;
  unsigned long long small = 0;
  std::int64_t negative = 0;
  long long slight = 0;
  double real = 0;
  std::string text;
  Bytes raw;
  Time at{};
  Duration within{};
  Hash hash;
  Uuid uuid;
  Colour colour = Colour::red;
  std::optional<std::string> maybe;
  std::optional<Line> nested;
  std::vector<Line> lines;
  std::map<std::string, std::vector<std::uint64_t>> counts;
  std::variant<Cash, Card> payment;
  Cash named;
  Nothing nothing;
  bool operator==(const All&) const = default;
};

All example() {
  All all;
  all.yes = true;
  all.large = ~std::uint64_t{0};
  all.small = 70'000;
  all.negative = std::numeric_limits<std::int64_t>::min();
  all.slight = -3;
  all.real = 0.1;
  all.text = "h\u00e9";
  all.raw = {0, 255};
  all.at = Time(Duration(1'700'000'000'000'000'000));
  all.within = -std::chrono::minutes(2);
  all.hash.bytes.fill(0xab);
  all.uuid.bytes.fill(0x1c);
  all.colour = Colour::green;
  all.maybe = "m";
  all.nested = Line{"mug", -1};
  all.lines = {{"a", 1}, {"b", 2}};
  all.counts = {{"x", {1, 2}}, {"y", {}}};
  all.payment = Card{"4711"};
  all.named.cents = 9;
  return all;
}

template <class T>
base::Bytes bytes_of(const T& value) {
  codec::Buffer buffer;
  {
    Writer out(buffer);
    Form<T>::write(out, value);
  }
  return buffer.to_bytes();
}

template <class T>
std::optional<T> read(base::ByteView bytes) {
  Reader in(bytes);
  std::optional<T> value(std::in_place);
  if (!Form<T>::read(in, *value)) value.reset();
  return value;
}

// The type of a T as the engine understands it.
template <class T>
codec::Schema schema_of() {
  detail::Schemas schemas;
  std::string type = Form<T>::type(schemas);
  std::string json = R"([{"$kind":"defschema","name":"test/T@1","type":)" + type + "}";
  for (const auto& [name, other] : schemas.all)
    json += R"(,{"$kind":"defschema","name":")" + name + R"(","type":)" + other + "}";
  const defs::Bundle bundle = defs::load({{"test", json + "]"}}, nullptr);
  for (const base::Error& error : bundle.errors) ADD_FAILURE() << error.to_string();
  codec::Errors errors;
  auto schema = codec::Schema::compile(*bundle.catalogue.find("test/T@1"), bundle.catalogue,
                                       "test/T@1", errors);
  EXPECT_TRUE(schema);
  return std::move(*schema);
}

TEST(Form, what_is_written_is_canonical_for_the_derived_schema) {
  for (const All& all : {All(), example()}) {
    base::Bytes bytes = {0xd9, 0xd9, 0xf7};
    const base::Bytes body = bytes_of(all);
    bytes.insert(bytes.end(), body.begin(), body.end());
    codec::Normaliser normaliser;
    const auto made = normaliser.from_cbor(schema_of<All>(), bytes, codec::Strictness::kStrict);
    EXPECT_TRUE(made) << made.error().to_string();
  }
}

TEST(Form, what_is_written_is_read_again) {
  EXPECT_EQ(read<All>(bytes_of(All())), All());
  EXPECT_EQ(read<All>(bytes_of(example())), example());
}

TEST(Form, a_map_may_have_its_keys_in_another_order_than_canonical_values) {
  using Map = std::map<std::string, std::int64_t>;
  const Map map = {{"longer", 1}, {"x", 2}};
  codec::Normaliser normaliser;
  const auto made =
      normaliser.from_cbor(schema_of<Map>(), bytes_of(map), codec::Strictness::kLenient);
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(codec::to_json(codec::View::of(*made)), R"({"x":2,"longer":1})");
  EXPECT_EQ(read<Map>(base::ByteView(*made).subspan(3)), map);
}

TEST(Form, people_see_words) {
  const base::Bytes bytes = bytes_of(example());
  const std::string json = codec::to_json(codec::View::of(bytes));
  EXPECT_NE(json.find(R"("colour":{"$tag":"green"})"), json.npos) << json;
  EXPECT_NE(json.find(R"("payment":{"$tag":"Card","$value":{"number":"4711"}})"), json.npos);
  EXPECT_NE(json.find(R"("uuid":"1c1c1c1c-1c1c-1c1c-1c1c-1c1c1c1c1c1c")"), json.npos);
}

TEST(Form, a_value_that_is_cut_is_refused) {
  const base::Bytes bytes = bytes_of(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read<All>(base::ByteView(bytes).first(size))) << size;
}

TEST(Form, a_value_with_any_byte_changed_is_refused_or_reads_as_another) {
  const base::Bytes bytes = bytes_of(example());
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int change = 1; change < 256; ++change) {
      base::Bytes other = bytes;
      other[at] = static_cast<std::uint8_t>(other[at] ^ change);
      const auto value = read<All>(other);
      refused += !value;
      EXPECT_FALSE(value == example()) << at << " " << change;
    }
  }
  EXPECT_GT(refused, bytes.size() * 100);
}

TEST(Form, numbers_that_do_not_fit_are_refused) {
  EXPECT_FALSE(read<std::int64_t>(bytes_of(~std::uint64_t{0})));
  EXPECT_FALSE(read<std::uint64_t>(bytes_of(std::int64_t{-1})));
}

TEST(Form, a_time_after_the_last_one_reads_as_the_last_one) {
  EXPECT_EQ(read<Time>(bytes_of(~std::uint64_t{0})), Time::max());
  EXPECT_EQ(read<Time>(bytes_of(std::uint64_t{1} << 63)), Time::max());
  EXPECT_EQ(read<Time>(bytes_of((std::uint64_t{1} << 63) - 1)), Time::max());
  EXPECT_EQ(read<Time>(bytes_of(std::uint64_t{7})), Time(Duration(7)));
}

TEST(Form, records_are_read_exactly) {
  struct Two {
    bool a = false;
    bool b = false;
  };
  struct Three {
    bool a = false;
    bool b = false;
    bool c = false;
  };
  struct Other {
    bool a = false;
    bool c = false;
  };
  EXPECT_FALSE(read<Three>(bytes_of(Two())));
  EXPECT_FALSE(read<Two>(bytes_of(Three())));
  EXPECT_FALSE(read<Two>(bytes_of(Other())));
  EXPECT_TRUE(read<Two>(bytes_of(Two())));
}

TEST(Form, an_unknown_word_of_an_enum_is_refused_and_an_unknown_value_becomes_null) {
  enum class Few { one };
  EXPECT_FALSE(read<Few>(bytes_of(Colour::green)));
  EXPECT_EQ(read<Colour>(bytes_of(Colour::none)), Colour::none);
  EXPECT_EQ(bytes_of(static_cast<Colour>(5)), base::Bytes{0xf6});
  EXPECT_EQ(bytes_of(static_cast<Colour>(-1)), base::Bytes{0xf6});
}

TEST(Form, fields_are_named_in_declaration_order_and_written_in_canonical_order) {
  EXPECT_EQ((detail::kFieldName<All, 0>), "yes");
  EXPECT_EQ((detail::kFieldName<All, 19>), "nothing");
  EXPECT_EQ(detail::kFieldCount<All>, 20u);
  detail::Schemas schemas;
  EXPECT_EQ(Form<Line>::type(schemas), R"({"record":{"sku":{"text":{}},"delta":{"int":{}}}})");
}

}  // namespace
}  // namespace holdfast::native
