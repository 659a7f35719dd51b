// SPDX-License-Identifier: Apache-2.0
#include "gateway/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace holdfast::gateway {
namespace {

using State = RequestParser::State;

const Limits kLimits;

struct Parsed {
  State state;
  std::string code;  // of the problem
  std::size_t taken;
};

Parsed parse(std::string_view bytes, const Limits& limits = kLimits) {
  RequestParser parser(limits);
  const std::size_t taken = parser.take(bytes);
  return {parser.state(), std::string(kind_of(parser.problem().code).name), taken};
}

void expect_refused(std::string_view bytes, std::string_view code) {
  const Parsed parsed = parse(bytes);
  EXPECT_EQ(parsed.state, State::kRefused) << bytes;
  EXPECT_EQ(parsed.code, code) << bytes;
}

TEST(RequestParser, a_request_is_taken_apart) {
  RequestParser parser(kLimits);
  const std::string_view bytes =
      "POST /v1/events?wait=1 HTTP/1.1\r\nHost: localhost:7411\r\nContent-Type: "
      "application/json\r\n"
      "Idempotency-Key: a-1\r\nX-Other: 1\r\nContent-Length: 2\r\n\r\n{}GET /";
  EXPECT_EQ(parser.take(bytes), bytes.size() - 5);
  ASSERT_EQ(parser.state(), State::kWhole);
  const Request& request = parser.request();
  EXPECT_EQ(request.method, Method::kPost);
  EXPECT_EQ(request.target, "/v1/events?wait=1");
  EXPECT_EQ(request.field(Field::kHost), "localhost:7411");
  EXPECT_EQ(request.field(Field::kContentType), "application/json");
  EXPECT_EQ(request.field(Field::kIdempotencyKey), "a-1");
  EXPECT_FALSE(request.has_field(Field::kOrigin));
  EXPECT_EQ(request.body, "{}");
  EXPECT_TRUE(request.keep_alive);
}

TEST(RequestParser, it_does_not_matter_how_the_bytes_are_cut) {
  const std::string_view bytes =
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    RequestParser parser(kLimits);
    std::string held;
    for (const std::string_view piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
      held += piece;
      held.erase(0, parser.take(held));
    }
    ASSERT_EQ(parser.state(), State::kWhole) << cut;
    EXPECT_EQ(parser.request().body, "abc0123456789abcdef") << cut;
    EXPECT_EQ(parser.request().field(Field::kHost), "x") << cut;
  }
}

TEST(RequestParser, what_is_refused_does_not_depend_on_how_the_bytes_are_cut) {
  for (const std::string_view bytes :
       {"T9G  ", "A / $u0\r\n\r\nu", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "GET /\n",
        "GET / HTTP/1.1\r\nX: a\rb", "GET / HTTP/1.1\r\nX: a\r\n b", "\x16\x03\x01",
        "GET / HTTP/1.1\r\nHost: x\r\nX : a\r\n\r\n"}) {
    RequestParser whole(kLimits);
    whole.take(bytes);
    RequestParser cut(kLimits);
    std::string held;
    for (const char byte : bytes) {
      held += byte;
      held.erase(0, cut.take(held));
    }
    EXPECT_EQ(cut.state(), whole.state()) << bytes;
  }
}

TEST(RequestParser, requests_follow_each_other) {
  std::string held = "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: y\r\n\r\n";
  RequestParser parser(kLimits);
  held.erase(0, parser.take(held));
  ASSERT_EQ(parser.state(), State::kWhole);
  EXPECT_EQ(parser.request().target, "/a");
  parser.begin_next();
  held.erase(0, parser.take(held));
  ASSERT_EQ(parser.state(), State::kWhole);
  EXPECT_EQ(parser.request().target, "/b");
  EXPECT_EQ(held, "");
}

TEST(RequestParser, whoever_waits_for_a_word_is_told_once) {
  RequestParser parser(kLimits);
  parser.take("POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(parser.state(), State::kBody);
  EXPECT_TRUE(parser.wants_continue());
  EXPECT_FALSE(parser.wants_continue());
}

// Each of them is read as two different requests by some pair of readers.
TEST(RequestParser, what_can_be_read_in_two_ways_is_refused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
  for (const std::string fields : {
           "Content-Length: 3\r\nContent-Length: 3\r\n",
           "Content-Length: 3\r\nContent-Length: 4\r\n",
           "Content-Length: 3, 3\r\n",
           "Content-Length: +3\r\n",
           "Content-Length: -3\r\n",
           "Content-Length: 3 \r\n x: y\r\n",
           "Content-Length: 0x3\r\n",
           "Content-Length: 99999999999999999999\r\n",
           "Content-Length:\r\n",
           "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "Host: y\r\n",
           "X: a\r\n b\r\n",
           "X: a\r\n\tb\r\n",
           "X : a\r\n",
           " X: a\r\n",
           "X\r\n",
           ": a\r\n",
           "X: a\nY: b\r\n",
           "X: a\rY: b\r\n",
           "Authorization: a\r\nAuthorization: b\r\n",
           "Content-Type: a\r\nContent-Type: b\r\n",
       })
    expect_refused(head + fields + "\r\nabc", "malformed");
  for (const std::string coding : {"gzip", "gzip, chunked", "chunked, chunked", "identity",
                                   "xchunked", "chunked;q=1", "\"chunked\""})
    expect_refused(head + "Transfer-Encoding: " + coding + "\r\n\r\n0\r\n\r\n", "not_implemented");
  using namespace std::string_literals;
  expect_refused("GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n"s, "malformed");
  expect_refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "malformed");
  expect_refused("GET / HTTP/1.1\r\n\r\n", "malformed");  // no Host
  expect_refused("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "malformed");
  expect_refused("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "version");
  expect_refused("GET / HTTP/1.1\nHost: x\n\n", "malformed");
  expect_refused("\x16\x03\x01\x02\x00 hello\r\n\r\n", "malformed");
  expect_refused("G\0T / HTTP/1.1\r\nHost: x\r\n\r\n"s, "malformed");
}

TEST(RequestParser, bad_chunks_are_refused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string chunks : {
           "x\r\nabc\r\n0\r\n\r\n",
           "3\nabc\r\n0\r\n\r\n",
           "3\r\nabcd\r\n0\r\n\r\n",
           "-3\r\nabc\r\n0\r\n\r\n",
           "0x3\r\nabc\r\n0\r\n\r\n",
           " 3\r\nabc\r\n0\r\n\r\n",
           "3;a=b\r\nabc\r\n0\r\n\r\n",
           "ffffffffffffffffff\r\nabc\r\n0\r\n\r\n",
           "3\r\nabc\r\n0\r\nHost: y\r\n\r\n",
           "3\r\nabc\r\n0\r\nX: y\r\n\r\n",
       })
    expect_refused(head + chunks, "malformed");
}

TEST(RequestParser, chunks_may_be_cut_anywhere) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& chunks : {std::string("0\r\n\r\n"), std::string("3\r\nabc\r\n0\r\n\r\n"),
                                    std::string("0003\r\nabc\r\nA\r\n0123456789\r\n00\r\n\r\n")}) {
    const std::string bytes = head + chunks + "GET";
    std::optional<std::string> body;
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      for (std::size_t more = cut; more <= bytes.size(); ++more) {
        RequestParser parser(kLimits);
        std::string held;
        for (const std::string& piece :
             {bytes.substr(0, cut), bytes.substr(cut, more - cut), bytes.substr(more)}) {
          held += piece;
          held.erase(0, parser.take(held));
        }
        ASSERT_EQ(parser.state(), State::kWhole) << chunks << cut << " " << more;
        EXPECT_EQ(held, "GET");
        if (!body) body = parser.request().body;
        EXPECT_EQ(parser.request().body, *body);
      }
    }
  }
}

// However its bytes are cut: what is never whole must not be waited for.
TEST(RequestParser, lines_between_chunks_that_do_not_end_are_refused) {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string much(17'000, '0');
  for (const std::string& chunks : {much, "3;" + much, "3;a=" + much, "3\r\nabc\r\n0\r\nX: " + much,
                                    "3\r\nabc\r\n" + much, "0\r\n" + much}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{1000}, std::size_t{16'384}}) {
      RequestParser parser(kLimits);
      std::string held;
      std::size_t most = 0;
      const std::string bytes = head + chunks;
      for (std::size_t i = 0; i < bytes.size() && parser.state() <= State::kBody; i += piece) {
        held += bytes.substr(i, piece);
        held.erase(0, parser.take(held));
        if (parser.state() == State::kBody) most = std::max(most, held.size());
      }
      EXPECT_EQ(parser.state(), State::kRefused)
          << chunks.substr(0, 20) << " in pieces of " << piece;
      EXPECT_LE(most, 256u) << "what is left to the caller";
    }
  }
}

TEST(RequestParser, target_may_name_the_host) {
  const auto target_of = [](std::string_view target, std::string_view fields = "Host: x\r\n") {
    RequestParser parser(kLimits);
    parser.take("GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n");
    if (parser.state() != State::kWhole) return std::string("refused");
    return std::string(parser.request().field(Field::kHost)) + " " +
           std::string(parser.request().target);
  };
  EXPECT_EQ(target_of("http://a.example:80/b/c?d=e"), "a.example:80 /b/c?d=e");
  EXPECT_EQ(target_of("HTTPS://a.example/b"), "a.example /b");
  EXPECT_EQ(target_of("http://a.example"), "a.example /");
  EXPECT_EQ(target_of("http://a.example?d=e"), "a.example /?d=e");
  EXPECT_EQ(target_of("http://[::1]:80/"), "[::1]:80 /");
  EXPECT_EQ(target_of("/http://a.example/"), "x /http://a.example/");
  EXPECT_EQ(target_of("http://a.example/", "Host: x\r\nHost: y\r\n"), "refused");
  EXPECT_EQ(target_of("http://a.example/", ""), "refused") << "HTTP/1.1 has a Host all the same";
  EXPECT_EQ(target_of("http:///b"), "refused");
  EXPECT_EQ(target_of("http://x@a.example/b"), "refused");
  EXPECT_EQ(target_of("ftp://a.example/b"), "x ftp://a.example/b") << "no route has it";
}

TEST(RequestParser, other_versions_are_refused) {
  expect_refused("GET / HTTP/2.0\r\nHost: x\r\n\r\n", "version");
  expect_refused("GET / HTTP/1.2\r\nHost: x\r\n\r\n", "version");
  expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version");
  EXPECT_EQ(parse("GET / HTTP/1.0\r\n\r\n").state, State::kWhole);
}

TEST(RequestParser, what_is_too_large_is_refused) {
  expect_refused("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                 "target_too_long");
  expect_refused("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n",
                 "header_too_large");
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 120; ++i) many += "X-" + std::to_string(i) + ": a\r\n";
  expect_refused(many + "\r\n", "header_too_large");
  Limits small;
  small.body_bytes = 4;
  small.header_bytes = 64;
  EXPECT_EQ(parse("GET /" + std::string(80, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", small).code,
            "header_too_large");
  small.header_bytes = kLimits.header_bytes;
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(parse(head + "Content-Length: 5\r\n\r\n", small).code, "too_large");
  EXPECT_EQ(parse(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n", small).code,
            "too_large");
  EXPECT_EQ(parse(head + "Content-Length: 4\r\n\r\nabcd", small).state, State::kWhole);
}

}  // namespace
}  // namespace holdfast::gateway
