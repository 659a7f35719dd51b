// SPDX-License-Identifier: Apache-2.0
// The examples of RFC 8949, appendix A: each is read, printed, and written back in core
// deterministic encoding. The bignums are tags here, as they are in the bytes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/json_writer.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::recode;
using testing::strict;

struct Example {
  std::string_view cbor;
  std::string_view json;
  std::string_view canonical = {};  // where it differs from `cbor`
};

constexpr Example kExamples[] = {
    // Integers
    {"00", "0"},
    {"01", "1"},
    {"0a", "10"},
    {"17", "23"},
    {"1818", "24"},
    {"1819", "25"},
    {"1864", "100"},
    {"1903e8", "1000"},
    {"1a000f4240", "1000000"},
    {"1b000000e8d4a51000", "1000000000000"},
    {"1bffffffffffffffff", "18446744073709551615"},
    {"c249010000000000000000", R"({"$tagged":[2,{"$bytes":"AQAAAAAAAAAA"}]})"},
    {"3bffffffffffffffff", "-18446744073709551616"},
    {"c349010000000000000000", R"({"$tagged":[3,{"$bytes":"AQAAAAAAAAAA"}]})"},
    {"20", "-1"},
    {"29", "-10"},
    {"3863", "-100"},
    {"3903e7", "-1000"},
    // Floating point
    {"f90000", "0.0"},
    {"f98000", "-0.0"},
    {"f93c00", "1.0"},
    {"fb3ff199999999999a", "1.1"},
    {"f93e00", "1.5"},
    {"f97bff", "65504.0"},
    {"fa47c35000", "1e+05"},
    {"fa7f7fffff", "3.4028234663852886e+38"},
    {"fb7e37e43c8800759c", "1e+300"},
    {"f90001", "5.960464477539063e-08"},
    {"f90400", "6.103515625e-05"},
    {"f9c400", "-4.0"},
    {"fbc010666666666666", "-4.1"},
    {"f97c00", R"("Infinity")"},
    {"f97e00", R"("NaN")"},
    {"f9fc00", R"("-Infinity")"},
    {"fa7f800000", R"("Infinity")", "f97c00"},
    {"fa7fc00000", R"("NaN")", "f97e00"},
    {"faff800000", R"("-Infinity")", "f9fc00"},
    {"fb7ff0000000000000", R"("Infinity")", "f97c00"},
    {"fb7ff8000000000000", R"("NaN")", "f97e00"},
    {"fbfff0000000000000", R"("-Infinity")", "f9fc00"},
    // Simple values and tags
    {"f4", "false"},
    {"f5", "true"},
    {"f6", "null"},
    {"f7", R"({"$simple":23})"},
    {"f0", R"({"$simple":16})"},
    {"f8ff", R"({"$simple":255})"},
    {"c074323031332d30332d32315432303a30343a30305a", R"({"$tagged":[0,"2013-03-21T20:04:00Z"]})"},
    {"c11a514b67b0", R"({"$tagged":[1,1363896240]})"},
    {"c1fb41d452d9ec200000", R"({"$tagged":[1,1363896240.5]})"},
    {"d74401020304", R"({"$tagged":[23,{"$bytes":"AQIDBA=="}]})"},
    {"d818456449455446", R"({"$tagged":[24,{"$bytes":"ZElFVEY="}]})"},
    {"d82076687474703a2f2f7777772e6578616d706c652e636f6d",
     R"({"$tagged":[32,"http://www.example.com"]})"},
    // Strings
    {"40", R"({"$bytes":""})"},
    {"4401020304", R"({"$bytes":"AQIDBA=="})"},
    {"60", R"("")"},
    {"6161", R"("a")"},
    {"6449455446", R"("IETF")"},
    {"62225c", R"("\"\\")"},
    {"62c3bc", "\"\u00fc\""},
    {"63e6b0b4", "\"\u6c34\""},
    {"64f0908591", "\"\U00010151\""},
    // Lists and maps
    {"80", "[]"},
    {"83010203", "[1,2,3]"},
    {"8301820203820405", "[1,[2,3],[4,5]]"},
    {"98190102030405060708090a0b0c0d0e0f101112131415161718181819",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]"},
    {"a0", "{}"},
    {"a201020304", R"({"1":2,"3":4})"},
    {"a26161016162820203", R"({"a":1,"b":[2,3]})"},
    {"826161a161626163", R"(["a",{"b":"c"}])"},
    {"a56161614161626142616361436164614461656145", R"({"a":"A","b":"B","c":"C","d":"D","e":"E"})"},
    // Indefinite lengths
    {"5f42010243030405ff", R"({"$bytes":"AQIDBAU="})", "450102030405"},
    {"7f657374726561646d696e67ff", R"("streaming")", "6973747265616d696e67"},
    {"9fff", "[]", "80"},
    {"9f018202039f0405ffff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"9f01820203820405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83018202039f0405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83019f0203ff820405", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
     "98190102030405060708090a0b0c0d0e0f101112131415161718181819"},
    {"bf61610161629f0203ffff", R"({"a":1,"b":[2,3]})", "a26161016162820203"},
    {"826161bf61626163ff", R"(["a",{"b":"c"}])", "826161a161626163"},
    {"bf6346756ef563416d7421ff", R"({"Amt":-2,"Fun":true})", "a263416d74216346756ef5"},
};

TEST(Rfc8949, every_example_of_appendix_a_has_its_canonical_form) {
  for (const Example& example : kExamples) {
    const bool is_canonical = example.canonical.empty();
    const std::string canonical(is_canonical ? example.cbor : example.canonical);
    EXPECT_EQ(recode(Schema::item(), example.cbor), canonical);
    EXPECT_EQ(strict(Schema::item(), canonical), canonical);
    EXPECT_EQ(strict(Schema::item(), example.cbor) == example.cbor, is_canonical) << example.cbor;
    const base::Bytes bytes = bytes_of(canonical);
    EXPECT_EQ(to_json(View::of(bytes)), example.json) << example.cbor;
  }
}

}  // namespace
}  // namespace holdfast::codec
