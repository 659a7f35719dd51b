// SPDX-License-Identifier: Apache-2.0
#include "gateway/envelope.h"

#include <gtest/gtest.h>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "gateway/event_body.h"

namespace holdfast::gateway {
namespace {

std::string error_of(std::string_view json) {
  const auto read = Envelope::read(Form::kJson, json);
  return read ? "" : read.error().to_string();
}

Request event_request(std::string_view type, std::string_view body) {
  Request request;
  request.fields[static_cast<std::size_t>(Field::kContentType)] = type;
  request.has[static_cast<std::size_t>(Field::kContentType)] = true;
  request.body = body;
  return request;
}
void set(Request& request, Field field, std::string_view value) {
  request.fields[static_cast<std::size_t>(field)] = value;
  request.has[static_cast<std::size_t>(field)] = true;
}

TEST(Envelope, members_are_found_as_they_were_written) {
  const auto read =
      Envelope::read(Form::kJson, R"( {"a" : [1, {"b": 2.50}], "c":"x\u0041", "d":null} )");
  ASSERT_TRUE(read) << read.error().to_string();
  codec::Normaliser normaliser;
  EXPECT_EQ(codec::to_json(
                codec::View::of(*normalise(normaliser, codec::Schema::any(), *read->find("a")))),
            R"([1,{"b":2.5}])");
  EXPECT_EQ(read->text("c").take(), "xA");
  EXPECT_EQ(read->text("d").take(), std::nullopt);
  EXPECT_EQ(read->text("e").take(), std::nullopt);
  EXPECT_FALSE(read->text("a"));
  EXPECT_FALSE(read->check_members({"a", "c"}));
  EXPECT_TRUE(read->check_members({"a", "c", "d"}));
}

TEST(Envelope, cbor_is_read_alike) {
  const std::uint8_t bytes[] = {0xd9, 0xd9, 0xf7, 0xbf, 0x61, 'a',  0x82, 0x01,
                                0x9f, 0x02, 0xff, 0x61, 'b',  0x61, 'x',  0xff};
  const auto read = Envelope::read(Form::kCbor, base::as_text(bytes));
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->text("b").take(), "x");
  codec::Normaliser normaliser;
  EXPECT_EQ(codec::to_json(
                codec::View::of(*normalise(normaliser, codec::Schema::any(), *read->find("a")))),
            "[1,[2]]");
}

TEST(Envelope, what_is_no_map_is_refused) {
  for (const char* bad : {"[]", "1", "\"a\"", "{", "{\"a\":1,}", "{\"a\":1} x", "{\"a\":1,\"a\":2}",
                          "{a:1}", "{\"a\":01}", "{\"a\":\"\xff\"}", "nul"})
    EXPECT_NE(error_of(bad), "") << bad;
  EXPECT_NE(error_of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"), "");
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("{}"), "");
}

TEST(Envelope, a_wait_is_milliseconds_or_true) {
  const auto wait = [](std::string_view json) {
    const auto read = Envelope::read(Form::kJson, json).take().wait_ms("wait", 1000);
    return read ? static_cast<std::int64_t>(*read) : -1;
  };
  EXPECT_EQ(wait("{}"), 0);
  EXPECT_EQ(wait(R"({"wait":false})"), 0);
  EXPECT_EQ(wait(R"({"wait":true})"), 1000);
  EXPECT_EQ(wait(R"({"wait":30})"), 30);
  EXPECT_EQ(wait(R"({"wait":1001})"), -1);
  EXPECT_EQ(wait(R"({"wait":-1})"), -1);
  EXPECT_EQ(wait(R"({"wait":"1"})"), -1);
}

TEST(EventBody, three_forms_say_the_same) {
  const Request own = event_request("application/json; charset=utf-8",
                                    R"({"schema":"s/E@1","value":{"a":1},"id":"i"})");
  const Request structured = event_request(
      "application/cloudevents+json",
      R"({"specversion":"1.0","type":"s/E@1","source":"/shop","id":"i","time":"x","data":{"a":1}})");
  Request binary = event_request("application/json", R"({"a":1})");
  set(binary, Field::kCeSpecVersion, "1.0");
  set(binary, Field::kCeType, "s/E@1");
  set(binary, Field::kCeSource, "/shop");
  set(binary, Field::kCeId, "i");
  for (const Request* request : std::initializer_list<const Request*>{&own, &structured, &binary}) {
    const auto read = read_event(*request, 1000);
    const auto* event = std::get_if<EventBody>(&read);
    ASSERT_NE(event, nullptr) << std::get_if<Problem>(&read)->detail;
    EXPECT_EQ(event->schema, "s/E@1");
    EXPECT_EQ(event->id, request == &own ? "i" : "/shop i");
    EXPECT_EQ(event->value.text, R"({"a":1})");
  }
}

TEST(EventBody, a_cloud_event_may_hold_bytes) {
  const Request request =
      event_request("application/cloudevents+json",
                    R"({"specversion":"1.0","type":"s/E@1","source":"/shop","id":"i",)"
                    R"("datacontenttype":"application/cbor","data_base64":"oWFhAQ=="})");
  const auto read = read_event(request, 0);
  const auto* event = std::get_if<EventBody>(&read);
  ASSERT_NE(event, nullptr) << std::get_if<Problem>(&read)->detail;
  EXPECT_EQ(event->value.form, Form::kCbor);
  EXPECT_EQ(base::as_bytes(event->value.text).size(), 4u);
}

TEST(EventBody, the_idempotency_key_is_the_id) {
  Request request = event_request("application/json", R"({"schema":"s/E@1","value":1})");
  set(request, Field::kIdempotencyKey, "k");
  auto read = read_event(request, 0);
  ASSERT_NE(std::get_if<EventBody>(&read), nullptr);
  EXPECT_EQ(std::get_if<EventBody>(&read)->id, "k");
  request.body = R"({"schema":"s/E@1","value":1,"id":"other"})";
  read = read_event(request, 0);
  ASSERT_NE(std::get_if<Problem>(&read), nullptr);
  EXPECT_EQ(std::get_if<Problem>(&read)->path, "$.id");
}

TEST(EventBody, what_is_wrong_is_named_with_its_place) {
  const auto problem = [](std::string_view type, std::string_view body) {
    const auto read = read_event(event_request(type, body), 0);
    const auto* found = std::get_if<Problem>(&read);
    return found == nullptr ? std::string()
                            : std::string(kind_of(found->code).name) + " " + found->path;
  };
  EXPECT_EQ(problem("text/plain", "{}"), "media_type ");
  EXPECT_EQ(problem("", "{}"), "media_type ");
  EXPECT_EQ(problem("application/json", "{}"), "bad_body $.schema");
  EXPECT_EQ(problem("application/json", R"({"schema":1,"value":1})"), "bad_body $.schema");
  EXPECT_EQ(problem("application/json", R"({"schema":"a/b@1"})"), "bad_body $.value");
  EXPECT_EQ(problem("application/json", R"({"schema":"a/b@1","value":1,"x":1})"), "bad_body $.x");
  EXPECT_EQ(problem("application/json", "{"), "bad_body $");
  EXPECT_EQ(problem("application/cloudevents+json", R"({"specversion":"0.3"})"),
            "bad_body $.specversion");
  EXPECT_EQ(problem("application/cloudevents+json",
                    R"({"specversion":"1.0","type":"a/b@1","source":"s","id":"i"})"),
            "bad_body $.data");
}

}  // namespace
}  // namespace holdfast::gateway
