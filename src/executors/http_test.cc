// SPDX-License-Identifier: Apache-2.0
#include "executors/http.h"

#include <algorithm>
#include <array>
#include <future>

#include "base/hex.h"
#include "base/trace_context.h"
#include "env/testing.h"
#include "executors/testing.h"
#include "executors/testing_blobs.h"
#include "executors/testing_server.h"
#include "executors/testing_tls.h"

namespace holdfast::executors {
namespace {

using testing::answer;
using testing::HeardReceipt;
using testing::name;
using testing::Server;

const std::vector<AllowedHost> kLoopback = {{"127.0.0.1", 0, true}};

class HttpTest : public ::testing::Test {
 protected:
  HttpTest() { make({.hosts = kLoopback}); }
  void make(const HttpOptions& options) {
    executor_.reset();
    auto made = http_executor(options, {*clock_, &secrets_, &blobs_});
    ASSERT_TRUE(made) << made.error().to_string();
    executor_ = std::move(*made);
  }
  void start(std::uint64_t n, std::string_view json, int version = 2) {
    const std::string schema = "sys/HttpRequestParams@" + std::to_string(version);
    executor_->start(testing::intent(n, testing::value(schema, json)), heard_);
  }
  HeardReceipt run(std::uint64_t n, std::string_view json, int version = 2) {
    start(n, json, version);
    HeardReceipt receipt = heard_.wait_for(n);
    EXPECT_EQ(testing::refusal(receipt.status == kernel::ReceiptStatus::kOk
                                   ? "sys/HttpRequestReceipt@" + std::to_string(version)
                                   : "sys/EffectError@1",
                               receipt),
              "");
    return receipt;
  }
  static std::string get(const std::string& url, const std::string& more = "") {
    return R"({"method":"GET","url":")" + url + "\"" + more + "}";
  }
  static std::string header(const HeardReceipt& receipt, std::string_view called) {
    const auto found = receipt.view().find("headers")->find(called);
    return found ? std::string(*found->text()) : "absent";
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  testing::KnownSecrets secrets_{{{"shop/key@1", "s3cr3t-value"}, {"shop/bad@1", "two\r\nlines"}}};
  testing::MemoryBlobs blobs_;
  testing::Heard heard_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(HttpTest, a_response_is_a_receipt_and_the_intent_is_the_idempotency_key) {
  Server server([](const std::string&) { return answer("hello", "X-A: 1\r\nx-a: 2\r\n"); });
  const HeardReceipt receipt = run(
      1, get(server.url("/p?q=1"), R"(,"headers":{"X-B":{"literal":"c"},"X-E":{"literal":""}})"));
  ASSERT_EQ(receipt.code(), "ok") << receipt.json();
  EXPECT_EQ(receipt.number("status"), 200);
  EXPECT_EQ(receipt.text("body"), "hello");
  EXPECT_EQ(header(receipt, "x-a"), "1, 2");
  const std::string heard = server.heard().at(0);
  EXPECT_TRUE(heard.starts_with("GET /p?q=1 HTTP/1.1\r\n")) << heard;
  EXPECT_NE(heard.find("\r\nIdempotency-Key: " + name(1).to_text() + "\r\n"), std::string::npos);
  EXPECT_NE(heard.find("\r\nX-B: c\r\n"), std::string::npos);
  EXPECT_NE(heard.find("\r\nX-E:\r\n"), std::string::npos) << heard;
}

TEST_F(HttpTest, a_trace_is_handed_on_with_a_span_of_the_effect) {
  Server server([](const std::string&) { return answer(""); });
  const base::Bytes trace =
      base::TraceContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
          ->to_bytes();
  const auto ask = [&](std::uint64_t n, const std::string& more) {
    kernel::OpenIntent intent =
        testing::intent(n, testing::value("sys/HttpRequestParams@2", get(server.url(), more)));
    intent.trace = trace;
    executor_->start(intent, heard_);
    EXPECT_EQ(heard_.wait_for(n).code(), "ok");
    return server.heard().back();
  };
  const std::string span = base::to_hex(base::ByteView(name(1).bytes).first(8));
  EXPECT_NE(
      ask(1, "").find("\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-" + span + "-01\r\n"),
      std::string::npos);
  const std::string own = ask(2, R"(,"headers":{"Traceparent":{"literal":"mine"}})");
  EXPECT_NE(own.find("Traceparent: mine"), std::string::npos) << "one that is given stays";
  EXPECT_EQ(own.find("4bf92f"), std::string::npos);
}

TEST_F(HttpTest, a_body_is_sent_as_it_is) {
  Server server([](const std::string&) { return answer(""); });
  const std::string rest = R"(,"url":")" + server.url() + R"(","body":{"literal":"YQBi"}})";
  for (const std::string method : {"POST", "PUT", "DELETE", "GET"})
    EXPECT_EQ(run(std::hash<std::string>()(method), R"({"method":")" + method + "\"" + rest).code(),
              "ok");
  for (const std::string& heard : server.heard()) {
    EXPECT_TRUE(heard.ends_with(std::string("\r\n\r\na\0b", 7))) << heard;
    EXPECT_NE(heard.find("Content-Length: 3\r\n"), std::string::npos);
    EXPECT_EQ(heard.find("Content-Type"), std::string::npos) << "nobody said what it is";
  }
}

TEST_F(HttpTest, requests_without_a_body_are_whole) {
  Server server([](const std::string& request) {
    if (request.starts_with("HEAD"))
      return std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    return answer("");
  });
  for (const std::string method : {"HEAD", "POST", "DELETE", "OPTIONS"})
    EXPECT_EQ(run(std::hash<std::string>()(method),
                  R"({"method":")" + method + R"(","url":")" + server.url() + "\"}")
                  .code(),
              "ok")
        << method;
  EXPECT_EQ(server.requests(), 4);
}

TEST_F(HttpTest, any_status_is_an_answer_and_redirects_are_not_followed) {
  Server server([&](const std::string& request) {
    if (request.starts_with("GET /gone"))
      return std::string("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
    return std::string("HTTP/1.1 302 Found\r\nLocation: /gone\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(run(1, get(server.url("/gone"))).number("status"), 503);
  const HeardReceipt moved = run(2, get(server.url("/")));
  EXPECT_EQ(moved.number("status"), 302);
  EXPECT_EQ(header(moved, "location"), "/gone");
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(HttpTest, an_interim_response_leaves_nothing_behind) {
  Server server([](const std::string&) {
    return "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n" + answer("late");
  });
  const HeardReceipt receipt = run(1, get(server.url()));
  EXPECT_EQ(receipt.text("body"), "late");
  EXPECT_EQ(header(receipt, "x-early"), "absent");
}

TEST_F(HttpTest, headers_that_are_not_utf_8_become_it) {
  Server server([](const std::string&) { return answer("", "X-A: caf\xe9\r\n"); });
  EXPECT_EQ(header(run(1, get(server.url())), "x-a"), "caf\xc3\xa9");
}

TEST_F(HttpTest, hosts_that_are_not_allowed_are_never_asked) {
  Server server([](const std::string&) { return answer(""); });
  EXPECT_EQ(run(1, get("http://localhost:" + std::to_string(server.port()) + "/")).code(),
            "http.host_refused");
  make({.hosts = {{"127.0.0.1", 9, true}}});
  EXPECT_EQ(run(2, get(server.url())).code(), "http.host_refused") << "another port";
  make({});
  EXPECT_EQ(run(3, get(server.url())).code(), "http.host_refused") << "nothing is allowed";
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpTest, addresses_that_are_not_public_are_refused_after_resolution) {
  Server server([](const std::string&) { return answer(""); });
  make({.hosts = {{"*"}}});
  std::uint64_t n = 0;
  for (const char* host : {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0",
                           "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
                           "169.254.169.254", "10.0.0.1", "[fe80::1]", "[fd00::1]"}) {
    const HeardReceipt receipt =
        run(++n, get("http://" + std::string(host) + ":" + std::to_string(server.port()) + "/"));
    EXPECT_EQ(receipt.code(), "http.address_refused") << host << " " << receipt.json();
    EXPECT_FALSE(*receipt.view().find("retryable")->boolean());
  }
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpTest, a_name_that_may_be_private_is_connected_to) {
  Server server([](const std::string&) { return answer("ok"); });
  make({.hosts = {{"localhost", 0, true}}});
  EXPECT_EQ(run(1, get("http://LOCALHOST:" + std::to_string(server.port()) + "/")).text("body"),
            "ok");
}

TEST_F(HttpTest, proxies_of_the_environment_are_not_heeded) {
  ASSERT_EQ(::setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
  Server server([](const std::string&) { return answer("direct"); });
  EXPECT_EQ(run(1, get(server.url())).text("body"), "direct");
  ::unsetenv("http_proxy");
}

TEST_F(HttpTest, params_that_cannot_be_sent_are_an_error) {
  Server server([](const std::string&) { return answer(""); });
  const auto headers = [&](const std::string& inside) {
    return get(server.url(), R"(,"headers":{)" + inside + "}");
  };
  std::uint64_t n = 0;
  for (const std::string& json :
       {get("ftp://127.0.0.1/"),
        get("file:///etc/passwd"),
        get("http://"),
        get("nothing"),
        get("http://user:word@127.0.0.1/"),
        get("http://user@127.0.0.1/"),
        get("http://127.0.0.1:99999/"),
        get("http://127.0.0.1/ HTTP/1.1\\r\\nX: y"),
        headers(R"("X Y":{"literal":"a"})"),
        headers(R"("":{"literal":"a"})"),
        headers(R"("X":{"literal":"a\r\nHost: b"})"),
        headers(R"("Host":{"literal":"b"})"),
        headers(R"("content-length":{"literal":"0"})"),
        headers(R"("Transfer-Encoding":{"literal":"chunked"})"),
        headers(R"("idempotency-key":{"literal":"mine"})"),
        headers(R"("A":{"literal":"1"},"a":{"literal":"2"})"),
        headers(R"("A":{"secret":{"alias":"shop/none","version":1}})"),
        headers(R"("A":{"secret":{"alias":"shop/bad","version":1}})"),
        R"({"method":"GET /","url":")" + server.url() + "\"}",
        R"({"method":"CONNECT","url":")" + server.url() + "\"}",
        R"({"method":"HEAD","url":")" + server.url() + R"(","body":{"literal":""}})"}) {
    const HeardReceipt receipt = run(++n, json);
    EXPECT_EQ(receipt.code(), "http.params") << json;
    EXPECT_EQ(receipt.json().find("lines"), std::string::npos) << "a secret in a message";
  }
  executor_->start(testing::intent(++n, {0xf6}), heard_);
  EXPECT_EQ(heard_.wait_for(n).code(), "http.params");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpTest, responses_that_are_too_large_are_refused) {
  make({.hosts = kLoopback, .response_bytes = 1000});
  Server server([](const std::string& request) -> std::string {
    if (request.starts_with("GET /said")) return answer(std::string(1001, 'x'));
    if (request.starts_with("GET /unsaid"))
      return "HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x');
    if (request.starts_with("GET /fits")) return answer(std::string(1000, 'x'));
    std::string many;
    for (int i = 0; i < 3000; ++i)
      many += "X-" + std::to_string(i) + ": aaaaaaaaaaaaaaaaaaaaaaa\r\n";
    return answer("", many);
  });
  EXPECT_EQ(run(1, get(server.url("/said"))).code(), "http.too_large");
  EXPECT_EQ(run(2, get(server.url("/unsaid"))).code(), "http.too_large");
  EXPECT_EQ(run(3, get(server.url("/headers"))).code(), "http.too_large");
  EXPECT_EQ(run(4, get(server.url("/fits"))).text("body").size(), 1000u);
  EXPECT_EQ(run(5, get(server.url("/fits"), R"(,"max_response_bytes":999)")).code(),
            "http.too_large");
}

TEST_F(HttpTest, the_size_of_a_body_that_does_not_come_is_no_matter) {
  make({.hosts = kLoopback, .response_bytes = 1000});
  Server server([](const std::string& request) -> std::string {
    const std::string status = request.starts_with("HEAD") ? "200 OK" : "304 Not Modified";
    return "HTTP/1.1 " + status + "\r\nContent-Length: 5000000000\r\nConnection: close\r\n\r\n";
  });
  const HeardReceipt head = run(1, R"({"method":"HEAD","url":")" + server.url() + "\"}");
  EXPECT_EQ(head.code(), "ok");
  EXPECT_EQ(head.view().find("headers")->find("content-length")->text(), "5000000000");
  EXPECT_EQ(head.text("body"), "");
  EXPECT_EQ(run(2, get(server.url())).number("status"), 304);
}

TEST_F(HttpTest, a_server_that_does_not_answer_runs_into_the_limit) {
  Server server([](const std::string&) { return std::string(); });
  const HeardReceipt receipt = run(1, get(server.url(), R"(,"timeout_ns":50000000)"));
  EXPECT_EQ(receipt.status, kernel::ReceiptStatus::kTimeout);
  EXPECT_EQ(receipt.code(), "http.timeout");
  make({.hosts = kLoopback, .time_limit_ns = 50'000'000});
  EXPECT_EQ(run(2, get(server.url(), R"(,"timeout_ns":50000000000)")).code(), "http.timeout");
}

TEST_F(HttpTest, nobody_there_may_help_to_try_again) {
  const testing::DeafPort nobody;
  const HeardReceipt receipt =
      run(1, get("http://127.0.0.1:" + std::to_string(nobody.port()) + "/"));
  EXPECT_EQ(receipt.code(), "http.connect");
  EXPECT_TRUE(*receipt.view().find("retryable")->boolean());
  make({.hosts = {{"*"}}});
  EXPECT_EQ(run(2, get("http://no-such-host.invalid/")).code(), "http.resolve");
}

TEST_F(HttpTest, an_answer_that_is_cut_off_is_an_error) {
  Server server([](const std::string&) {
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  });
  EXPECT_EQ(run(1, get(server.url())).code(), "http.transfer");
}

TEST_F(HttpTest, stopping_one_hangs_up_without_a_receipt) {
  Server server([](const std::string& request) {
    return request.starts_with("GET /slow") ? std::string() : answer("x");
  });
  start(1, get(server.url("/slow")));
  while (server.requests() == 0) std::this_thread::yield();
  executor_->stop(name(1));
  while (server.hung_up() == 0) std::this_thread::yield();
  EXPECT_EQ(run(2, get(server.url())).text("body"), "x");
  EXPECT_EQ(heard_.count(1), 0u);
}

TEST_F(HttpTest, no_more_are_under_way_than_allowed_and_all_are_answered) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  Server server([&](const std::string&) {
    const int here = ++now;
    int seen = most;
    while (here > seen && !most.compare_exchange_weak(seen, here)) {
    }
    for (int i = 0; i < 1000 && most < 2; ++i)  // for company
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --now;
    return answer("x");
  });
  make({.queue = {.at_once = 3}, .hosts = kLoopback});
  for (std::uint64_t n = 0; n < 20; ++n) start(n, get(server.url()));
  for (std::uint64_t n = 0; n < 20; ++n) EXPECT_EQ(heard_.wait_for(n).code(), "ok");
  EXPECT_LE(most, 3);
  EXPECT_GE(most, 2);
}

TEST_F(HttpTest, a_host_that_does_not_answer_leaves_places_for_others) {
  Server silent([](const std::string&) { return std::string(); });
  Server well([](const std::string&) { return answer("x"); });
  make({.queue = {.at_once = 8}, .hosts = kLoopback});
  for (std::uint64_t n = 0; n < 100; ++n) start(n, get(silent.url()));
  while (silent.requests() == 0) std::this_thread::yield();
  for (std::uint64_t n = 100; n < 120; ++n) start(n, get(well.url()));
  for (std::uint64_t n = 100; n < 120; ++n) EXPECT_EQ(heard_.wait_for(n).code(), "ok");
  EXPECT_LE(silent.requests(), 4) << "half of the places";
}

TEST_F(HttpTest, one_whose_time_is_over_ends_and_says_so_if_it_is_under_way) {
  Server silent([](const std::string&) { return std::string(); });
  make({.queue = {.at_once = 1}, .hosts = kLoopback});
  start(1, get(silent.url()));
  while (silent.requests() == 0) std::this_thread::yield();
  start(2, get(silent.url()));
  EXPECT_TRUE(executor_->end_late(name(2))) << "it waits, and the node says that it is late";
  EXPECT_FALSE(executor_->end_late(name(1)));
  EXPECT_EQ(heard_.wait_for(1).code(), "http.timeout");
  while (silent.hung_up() == 0) std::this_thread::yield();
  EXPECT_EQ(heard_.count(2), 0u);
}

TEST_F(HttpTest, the_time_that_its_params_ask_for_is_the_nodes_to_keep) {
  const auto limit = [&](const std::string& json) {
    const base::Bytes params = testing::value("sys/HttpRequestParams@2", json);
    return executor_->time_limit_ns(testing::intent(1, params));
  };
  EXPECT_EQ(limit(get("http://localhost/", R"(,"timeout_ns":50000000)")), 50'000'000u);
  EXPECT_EQ(limit(get("http://localhost/")), std::nullopt);
}

TEST_F(HttpTest, one_that_is_told_twice_is_sent_once) {
  std::promise<void> go;
  const std::shared_future<void> gone(go.get_future());
  Server server([&](const std::string&) {
    gone.wait();
    return answer("x");
  });
  start(1, get(server.url()));
  start(1, get(server.url()));
  while (server.requests() == 0) std::this_thread::yield();
  start(1, get(server.url()));
  go.set_value();
  EXPECT_EQ(heard_.wait_for(1).code(), "ok");
  EXPECT_EQ(run(2, get(server.url())).code(), "ok");
  EXPECT_EQ(heard_.count(1), 1u);
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(HttpTest, secrets_go_out_and_are_hidden_in_what_comes_back) {
  const std::string reference = R"({"secret":{"alias":"shop/key","version":1}})";
  Server server(
      [](const std::string& request) { return answer(request, "X-Echo: s3cr3t-value\r\n"); });
  const HeardReceipt receipt =
      run(1, R"({"method":"POST","url":")" + server.url() + R"(","headers":{"Authorization":)" +
                 reference + R"(},"body":)" + reference + "}");
  const std::string heard = server.heard().at(0);
  EXPECT_NE(heard.find("Authorization: s3cr3t-value\r\n"), std::string::npos);
  EXPECT_TRUE(heard.ends_with("\r\n\r\ns3cr3t-value"));
  EXPECT_EQ(receipt.code(), "ok");
  EXPECT_EQ(header(receipt, "x-echo"), "************");
  EXPECT_NE(receipt.text("body").find("Authorization: ************\r\n"), std::string::npos);
  EXPECT_EQ(base::as_text(receipt.payload).find("s3cr3t"), std::string_view::npos);
}

TEST_F(HttpTest, https_is_verified) {
  const std::string file = folder_.path() + "/certificate.pem";
  testing::TlsServer server("IP:127.0.0.1", file);
  const HeardReceipt unknown = run(1, get(server.url()));
  EXPECT_EQ(unknown.code(), "http.tls") << unknown.json();
  make({.hosts = kLoopback, .authorities = file});
  EXPECT_EQ(run(2, get(server.url())).text("body"), "hello");

  const std::string other = folder_.path() + "/other.pem";
  testing::TlsServer wrong_name("DNS:example.com", other);
  make({.hosts = kLoopback, .authorities = other});
  EXPECT_EQ(run(3, get(wrong_name.url())).code(), "http.tls");
}

TEST_F(HttpTest, the_first_version_has_its_bodies_in_blobs) {
  Server server([](const std::string& request) {
    return request.ends_with("ping") ? answer("pong") : answer("");
  });
  const base::Hash ping = blobs_.put(base::as_bytes("ping"));
  const std::string rest = R"("method":"POST","url":")" + server.url() + R"(","headers":{})";
  const HeardReceipt receipt = run(1, "{" + rest + R"(,"body_ref":")" + ping.to_text() + "\"}", 1);
  ASSERT_EQ(receipt.code(), "ok") << receipt.json();
  EXPECT_EQ(base::as_text(blobs_.get(base::Hash::parse(receipt.text("body_ref")).value()).value()),
            "pong");
  EXPECT_GE(blobs_.syncs, 1);
  EXPECT_TRUE(run(2, "{" + rest + "}", 1).view().find("body_ref")->is_null());
  EXPECT_EQ(run(3, "{" + rest + R"(,"body_ref":")" + name(9).to_text() + "\"}", 1).code(),
            "http.params");
  blobs_.fails = true;
  EXPECT_EQ(run(4, "{" + rest + R"(,"body_ref":")" + ping.to_text() + "\"}", 1).code(),
            "http.blob");
}

TEST_F(HttpTest, options_that_cannot_be_used_are_refused) {
  EXPECT_FALSE(http_executor({.hosts = {{"Example.com"}}}, {*clock_}));
  EXPECT_FALSE(http_executor({.hosts = {{"http://example.com"}}}, {*clock_}));
  EXPECT_FALSE(http_executor({.hosts = {{""}}}, {*clock_}));
  EXPECT_FALSE(http_executor({.response_bytes = std::size_t{16} << 20}, {*clock_}));
}

}  // namespace
}  // namespace holdfast::executors
