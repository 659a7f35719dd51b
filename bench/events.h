// SPDX-License-Identifier: Apache-2.0
// Events like those which a workflow engine gets all day, about 200 B, 2 KB and 200 KB of JSON,
// made without chance. Fields come in the order in which people declare them, not in canonical
// order.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::bench {

struct Event {
  std::string_view name;
  std::string_view type;
  std::string json;
};

inline constexpr std::string_view kPayment = R"({"record":{
  "payment_id":{"uuid":{}},"order_id":{"uuid":{}},"at":{"time":{}},"amount":{"dec128":{}},
  "currency":{"text":{}},"note":{"option":{"text":{}}},
  "status":{"variant":{"Pending":{"unit":{}},"Settled":{"record":{"at":{"time":{}}}},
                       "Failed":{"record":{"reason":{"text":{}},"retry":{"bool":{}}}}}}}})";

inline constexpr std::string_view kOrder = R"({"record":{
  "order_id":{"uuid":{}},"customer_id":{"uuid":{}},"placed_at":{"time":{}},
  "status":{"variant":{"Placed":{"unit":{}},"Paid":{"record":{"at":{"time":{}},"reference":{"text":{}}}},
                       "Shipped":{"record":{"carrier":{"text":{}},"tracking":{"option":{"text":{}}}}}}},
  "address":{"record":{"name":{"text":{}},"street":{"text":{}},"city":{"text":{}},"zip":{"text":{}},
                       "country":{"text":{}},
                       "geo":{"option":{"record":{"latitude":{"float":{}},"longitude":{"float":{}}}}}}},
  "items":{"list":{"record":{"sku":{"text":{}},"title":{"text":{}},"quantity":{"nat":{}},
                             "unit_price":{"dec128":{}},"discount":{"option":{"dec128":{}}},
                             "gift":{"bool":{}},"tags":{"set":{"text":{}}}}}},
  "labels":{"map":{"key":{"text":{}},"value":{"text":{}}}},
  "total":{"dec128":{}},"currency":{"text":{}},"note":{"option":{"text":{}}}}})";

inline std::string uuid(std::uint64_t seed) {
  const std::uint64_t a = (seed + 1) * 0x9e3779b97f4a7c15u;
  const std::uint64_t b = (seed + 7) * 0xc2b2ae3d27d4eb4fu;
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-a%03x-%012llx", static_cast<unsigned>(a >> 32),
                static_cast<unsigned>(a >> 16 & 0xffff), static_cast<unsigned>(a & 0xfff),
                static_cast<unsigned>(b >> 48 & 0xfff),
                static_cast<unsigned long long>(b & 0xffffffffffff));
  return text;
}

inline std::string quoted(const std::string& text) { return '"' + text + '"'; }

inline std::string payment_json() {
  return R"({"payment_id":")" + uuid(1) + R"(","order_id":")" + uuid(2) +
         R"(","at":1769860800123456789,"amount":"149.90","currency":"EUR",)" +
         R"("status":{"$tag":"Settled","$value":{"at":1769860801000000000}}})";
}

inline std::string item_json(std::uint64_t i) {
  static constexpr const char* kTitles[] = {"Espresso cups, set of six", "Desk lamp \\\"Nord\\\"",
                                            "Notebook A5, dotted", "Wool blanket 150 x 200 cm"};
  std::string json = R"({"sku":"SKU-)" + std::to_string(100000 + i * 37 % 900000) +
                     R"(","title":")" + kTitles[i % 4] + R"(","quantity":)" +
                     std::to_string(1 + i % 5) + R"(,"unit_price":")" +
                     std::to_string(5 + i * 13 % 200) + "." + std::to_string(10 + i * 7 % 90) + '"';
  if (i % 3 == 0) json += R"(,"discount":"0.)" + std::to_string(5 + i % 20) + '"';
  return json + R"(,"gift":)" + (i % 7 == 0 ? "true" : "false") + R"(,"tags":["new","home","eu"]})";
}

inline std::string order_json(std::size_t items) {
  std::string list;
  for (std::size_t i = 0; i < items; ++i) list += (i == 0 ? "" : ",") + item_json(i);
  return R"({"order_id":")" + uuid(3) + R"(","customer_id":")" + uuid(4) +
         R"(","placed_at":1769860800000000000,"status":{"Paid":{"at":1769860805000000000,)" +
         R"("reference":"ch_3Nq2R8"}},"address":{"name":"Ada Lovelace","street":"12 St James's Square",)" +
         "\"city\":\"M\u00fcnchen\",\"zip\":\"80331\",\"country\":\"DE\"," +
         R"("geo":{"latitude":48.1371,"longitude":11.5754}},"items":[)" + list +
         R"(],"labels":{"channel":"web","campaign":"winter-26","segment":"b2c"},)" +
         R"("total":"1234.50","currency":"EUR","note":null})";
}

inline std::vector<Event> events() {
  return {{"200B", kPayment, payment_json()},
          {"2KB", kOrder, order_json(10)},
          {"200KB", kOrder, order_json(1450)}};
}

}  // namespace holdfast::bench
