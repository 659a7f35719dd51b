// SPDX-License-Identifier: Apache-2.0
// A server as clients see it, with a real engine behind it.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/testing_greeting.h"
#include "env/posix_disk.h"
#include "env/testing.h"
#include "gateway/route.h"
#include "gateway/server.h"
#include "gateway/testing_client.h"
#include "gateway/tokens.h"

namespace holdfast::gateway {
namespace {

using engine::testing::Greeting;
using engine::testing::Say;
using std::chrono::milliseconds;
using testing::Client;
using testing::Reply;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    EngineOptions options;
    options.dir = world_;
    options.modules = {Module::of<Greeting>("test/code@1")};
    options.handlers = {handle<Say>([this](const Say::Params& params, const Call& call) {
      while (is_mute_ && !call.stopped()) std::this_thread::sleep_for(milliseconds(1));
      return Performed<Say>(Say::Receipt{params.text});
    })};
    options.any_file_system = true;
    auto opened = Engine::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }

 public:
  ~ServerTest() override {
    is_mute_ = false;
    server_.reset();
  }

 protected:
  void start(Limits limits = {}, std::string address = "127.0.0.1") {
    ServerOptions options;
    options.address = std::move(address);
    options.port = 0;
    options.world = world_;
    options.limits = limits;
    auto place = Server::reserve(std::move(options));
    ASSERT_TRUE(place) << place.error().to_string();
    auto started = Server::start(*engine_, std::move(*place));
    ASSERT_TRUE(started) << started.error().to_string();
    server_ = std::move(*started);
  }
  std::uint16_t port() const { return server_->port(); }
  // For servers that have little patience: who is held up between connecting and asking may find
  // that nobody listens any more, and comes again.
  Reply ask(std::string_view request) const {
    for (int tries = 1;; ++tries) {
      Client client(port());
      client.send(request);
      Reply reply = client.receive();
      if (reply.status != 0 || tries == 50) return reply;
    }
  }

  const env::testing::TemporaryFolder folder_;
  const std::string world_ = folder_.path() + "/world";
  std::atomic<bool> is_mute_ = false;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Server> server_;
};

constexpr char kAda[] = "/v1/instances/test/Greeting@1/Ada";

TEST_F(ServerTest, nobody_goes_back_to_the_past_for_those_who_have_left) {
  std::atomic<int> questions = 0;
  std::atomic<bool> holds = false;
  Limits limits;
  limits.gone_time = milliseconds(1);
  limits.past.stopped = [&] {
    ++questions;
    while (holds) std::this_thread::sleep_for(milliseconds(1));
    return false;
  };
  is_mute_ = true;
  start(limits);
  Client client(port());
  client.post("/v1/events", R"({"schema":"test/Greet@1","value":{"name":"Ada"}})");
  for (int i = 0; i < 200; ++i)
    client.post("/v1/events", R"({"schema":"test/Nudge@1","value":{"name":"Ada"}})");
  const std::string path = std::string(kAda) + "/state?at=200";
  ASSERT_EQ(client.get(path).status, 200);
  const int of_one = questions;
  ASSERT_GT(of_one, 1);
  holds = true;
  {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    Client first(port());
    first.send(request);
    while (questions == of_one) std::this_thread::sleep_for(milliseconds(1));
    Client second(port());
    second.send(request);
    while (!client.get("/metrics").has("holdfast_http_connections 3"))
      std::this_thread::sleep_for(milliseconds(1));
  }
  while (!client.get("/metrics").has("holdfast_http_connections 1"))
    std::this_thread::sleep_for(milliseconds(1));
  holds = false;
  EXPECT_EQ(client.get(path).status, 200);
  EXPECT_EQ(questions, of_one + 1 + of_one) << "one had begun, and one had not";
}

TEST_F(ServerTest, only_so_many_lists_are_sifted_at_once) {
  constexpr char kSifted[] = "/v1/instances?where=status=completed";
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}}) {
    Limits limits;
    limits.sifts = most;
    start(limits);
    Client client(port());
    for (int i = 0; i < 3; ++i) {
      const Reply reply = client.get(kSifted);
      EXPECT_EQ(reply.status, most == 0 ? 429 : 200) << reply.body;
      EXPECT_EQ(reply.has(R"("code":"full")"), most == 0);
      EXPECT_EQ(client.get(std::string(kSifted) + "&limit=x").status, 400);
    }
    EXPECT_EQ(client.get("/v1/instances").status, 200);
  }
}

TEST_F(ServerTest, an_event_is_durable_and_its_instance_can_be_seen) {
  start();
  Client client(port());
  Reply reply = client.post(
      "/v1/events", R"({"schema":"test/Greet@1","value":{"name":"Ada","times":2},"wait":true})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(reply.has(R"("status":"completed")")) << reply.body;
  EXPECT_TRUE(reply.has(R"("result":"hello Adaagain")")) << reply.body;
  reply = client.get(kAda);
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.has(R"("workflow":"test/Greeting@1","key":"Ada","status":"completed")"))
      << reply.body;
  EXPECT_TRUE(client.get("/v1/instances/test%2FGreeting@1/Ada/state").has(R"("left":0)"));
  EXPECT_TRUE(client.get(std::string(kAda) + "/why").has(R"("reasons":[])"));
  EXPECT_TRUE(client.get(std::string(kAda) + "/timeline").has(R"("next":null)"));
  EXPECT_TRUE(client.get("/v1/journal?from=2&limit=1").has(R"("schema":"test/Greet@1")"));
  EXPECT_TRUE(client.get("/v1/manifest").has(R"("test/Greeting@1")"));
  EXPECT_TRUE(client.get("/metrics").has("holdfast_records_total"));
  EXPECT_EQ(client.get("/readyz").status, 200);
  EXPECT_EQ(client.get("/openapi.json").status, 200);
  EXPECT_TRUE(client.get("/v1/limits").has("value_bytes"));
}

TEST_F(ServerTest, a_past_that_is_too_far_or_asked_for_by_too_many_is_refused) {
  const auto ask = [this](const Limits& limits) {
    server_.reset();
    start(limits);
    return Client(port()).get(std::string(kAda) + "/state?at=2");
  };
  start();
  Client(port()).post("/v1/events",
                      R"({"schema":"test/Greet@1","value":{"name":"Ada","times":1},"wait":true})");
  Reply reply = ask({});
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(reply.has(R"("at":2,"record":2,"status":"waiting")")) << reply.body;
  Limits limits;
  limits.past.records = 1;
  reply = ask(limits);
  EXPECT_EQ(reply.status, 413);
  EXPECT_TRUE(reply.has("the nearest snapshot is 2 records before it; at most 1 are replayed"))
      << reply.body;
  limits = {};
  limits.past.bytes = 10;
  reply = ask(limits);
  EXPECT_TRUE(reply.has("more than 10 bytes of records and blobs")) << reply.body;
  limits = {};
  limits.past.time = milliseconds(0);
  reply = ask(limits);
  EXPECT_TRUE(reply.has("going back that far takes too long")) << reply.body;
  limits = {};
  limits.waiting_looks_back = 0;
  reply = ask(limits);
  EXPECT_EQ(reply.status, 429);
  EXPECT_TRUE(reply.has("too many requests that go back to the past")) << reply.body;
}

TEST_F(ServerTest, the_same_id_happens_once) {
  start();
  Client client(port());
  const char* body = R"({"schema":"test/Greet@1","value":{"name":"Ada","times":1}})";
  Reply first = client.post("/v1/events", body, "Idempotency-Key: e-1\r\n");
  Reply again = client.post("/v1/events", body, "Idempotency-Key: e-1\r\n");
  EXPECT_TRUE(first.has(R"("repeated":false)")) << first.body;
  EXPECT_TRUE(again.has(R"("repeated":true)")) << again.body;
  const Reply other =
      client.post("/v1/events", R"({"schema":"test/Nudge@1","value":{"name":"Ada"}})",
                  "Idempotency-Key: e-1\r\n");
  EXPECT_EQ(other.status, 409);
  EXPECT_TRUE(other.has(R"("code":"conflict")"));
}

TEST_F(ServerTest, an_instance_is_started_once_and_its_end_can_be_waited_for) {
  start();
  Client client(port());
  const char* path = "/v1/workflows/test/Greeting@1/start";
  Reply reply = client.post(path, R"({"input":{"name":"Ada","times":1}})");
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(client.post(path, R"({"input":{"name":"Ada","times":1}})").status, 409);
  reply = client.post(path, R"({"input":{"name":"Bo","times":1},"key":"Eve","wait":true})");
  EXPECT_EQ(reply.status, 400) << reply.body;  // the event says another one
  reply = client.post(path, R"({"input":{"name":"Bo","times":1},"key":"Bo","wait":true})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(reply.has(R"("key":"Bo","status":"completed")")) << reply.body;
  is_mute_ = true;
  reply = client.post(path, R"({"input":{"name":"Cy","times":1},"wait":1})");
  EXPECT_EQ(reply.status, 202) << reply.body;
  EXPECT_TRUE(reply.has(R"("status":"waiting")")) << reply.body;
  EXPECT_EQ(client.post("/v1/workflows/test/No@1/start", "{}").status, 404);
}

TEST_F(ServerTest, what_waits_says_why_and_can_be_controlled) {
  start();
  is_mute_ = true;
  Client client(port());
  client.post("/v1/events", R"({"schema":"test/Greet@1","value":{"name":"Ada","times":1}})");
  const std::string ada = kAda;
  Reply reply = client.get(ada + "/why");
  EXPECT_TRUE(reply.has(R"("kind":"receipt","effect":"test/say@1")")) << reply.body;
  EXPECT_EQ(client.post(ada + "/pause", R"({"reason":"lunch"})").status, 200);
  EXPECT_TRUE(client.get(ada).has(R"("paused":true)"));
  EXPECT_EQ(client.post(ada + "/resume", "").status, 200);
  reply = client.post(ada + "/signal", R"({"schema":"test/Nudge@1","value":{"name":"x"}})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(client.get(ada + "/state").has(R"("heard":"!")"));
  EXPECT_EQ(client.post(ada + "/cancel", R"({"reason":"enough"})").status, 200);
  EXPECT_TRUE(client.get(ada).has(R"("status":"cancelled")"));
  EXPECT_EQ(client.post(ada + "/cancel", "").status, 409);
  EXPECT_EQ(client
                .post("/v1/instances/test/Greeting@1/No/signal",
                      R"({"schema":"test/Nudge@1","value":{"name":"x"}})")
                .status,
            404);
  EXPECT_EQ(client.get("/v1/instances/test/Greeting@1/No").status, 404);
  EXPECT_EQ(client.get("/v1/instances/test/No@1/No").status, 404);
}

TEST_F(ServerTest, a_value_that_does_not_fit_is_refused_with_its_place_and_journals_nothing) {
  start();
  Client client(port());
  const auto records = engine_->figures().records;
  Reply reply = client.post("/v1/events",
                            R"({"schema":"test/Greet@1","value":{"name":"Ada","times":"many"}})");
  EXPECT_EQ(reply.status, 422);
  EXPECT_TRUE(reply.has(R"("code":"schema")")) << reply.body;
  EXPECT_TRUE(reply.has(R"("path":"$.value.times")")) << reply.body;
  EXPECT_NE(reply.head.find("application/problem+json"), std::string::npos);
  EXPECT_EQ(client.post("/v1/events", R"({"schema":"test/No@1","value":1})").status, 404);
  EXPECT_EQ(client.post("/v1/events", "{", "").status, 400);
  EXPECT_EQ(client.post("/v1/events", "{}", "", "text/plain").status, 415);
  EXPECT_EQ(client.get("/v1/journal?from=99999").status, 404);
  EXPECT_EQ(client.get("/v1/journal?form=1").status, 400);
  EXPECT_EQ(client.get("/v1/journal?from=x").status, 400);
  EXPECT_EQ(client.get("/v1/events").status, 405);
  EXPECT_EQ(client.get("/v2").status, 404);
  EXPECT_EQ(engine_->figures().records, records);
}

TEST_F(ServerTest, values_are_cbor_where_that_is_asked_for) {
  start();
  Client client(port());
  // {"schema": "test/Greet@1", "value": {"name": "Ada", "times": 1}}
  const std::string body =
      "\xa2\x66schema\x6ctest/Greet@1\x65value\xa2\x64name\x63"
      "Ada\x65times\x01";
  const Reply reply =
      client.post("/v1/events", body, "Accept: application/cbor\r\n", "application/cbor");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_NE(reply.head.find("Content-Type: application/cbor"), std::string::npos);
  EXPECT_EQ(reply.body.substr(0, 3), "\xd9\xd9\xf7");
}

TEST_F(ServerTest, requests_that_come_together_are_answered_in_their_order) {
  start();
  Client client(port());
  const std::string event = R"({"schema":"test/Greet@1","value":{"name":"Ada","times":0}})";
  client.send(
      "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(event.size()) + "\r\n\r\n" + event +
      "GET /v1/instances/test/Greeting@1/Ada HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.receive().has("ok"));
  EXPECT_TRUE(client.receive().has("deliveries"));
  EXPECT_TRUE(client.receive().has(R"("key":"Ada")"));
  EXPECT_FALSE(client.has_ended());  // the head of the last one is there
}

TEST_F(ServerTest, what_is_no_request_is_answered_and_the_connection_ends) {
  start();
  Client client(port());
  client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET /healthz HTTP/1.1\r\n");
  const Reply reply = client.receive();
  EXPECT_EQ(reply.status, 400);
  EXPECT_TRUE(reply.has(R"("code":"malformed")"));
  EXPECT_TRUE(client.has_ended());
}

TEST_F(ServerTest, without_tokens_only_this_machine_is_served) {
  start();
  Client client(port());
  client.send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_EQ(client.get("/healthz", "Origin: http://evil.example\r\n").status, 403);
  ServerOptions options;
  options.address = "0.0.0.0";
  options.port = 0;
  options.world = world_;
  const auto refused = Server::reserve(std::move(options));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), base::ErrorCode::kInvalid);
}

TEST_F(ServerTest, a_place_is_for_one_and_whoever_comes_early_waits_there) {
  const auto reserve = [this](std::uint16_t port) {
    ServerOptions options;
    options.port = port;
    options.world = world_;
    return Server::reserve(std::move(options));
  };
  auto first = reserve(0);
  ASSERT_TRUE(first) << first.error().to_string();
  const std::uint16_t port = first->port();
  const auto second = reserve(port);
  ASSERT_FALSE(second) << "though the first does not serve yet";
  EXPECT_EQ(second.error().code(), base::ErrorCode::kConflict);
  Client early(port);
  auto answer = std::async(std::launch::async, [&] { return early.get("/healthz").status; });
  const auto server = Server::start(*engine_, std::move(*first));
  ASSERT_TRUE(server) << server.error().to_string();
  EXPECT_EQ(answer.get(), 200);
  EXPECT_FALSE(reserve(port));
}

TEST_F(ServerTest, a_place_that_is_given_up_is_free_and_whoever_waits_there_is_cut_off) {
  const auto reserve = [this](std::uint16_t port) {
    ServerOptions options;
    options.port = port;
    options.world = world_;
    return Server::reserve(std::move(options));
  };
  std::optional<base::Result<Server::Place>> place = reserve(0);
  ASSERT_TRUE(*place) << place->error().to_string();
  const std::uint16_t port = (*place)->port();
  Client early(port);
  place.reset();
  EXPECT_TRUE(early.has_ended());
  EXPECT_FALSE(Client::is_heard_at(port));
  EXPECT_TRUE(reserve(port));
}

// Every route, with no token, a wrong one, a revoked one, and one of each role.
TEST_F(ServerTest, every_route_is_shut_to_those_who_may_not) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  Tokens tokens;
  const std::string revoked = tokens.add(*random, Role::kAdmin, "", 0).take();
  ASSERT_TRUE(tokens.revoke(tokens.all()[0].id));
  std::vector<std::pair<Role, std::string>> shown;
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin, Role::kWorker})
    shown.emplace_back(role, tokens.add(*random, role, "", 0).take());
  tokens.write(*disk, tokens_file(world_)).take();
  start();
  const auto ask = [&](const Route& route, const std::string& token) {
    Client client(port());  // of its own: a stream does not end
    std::string path(route.path);
    for (const auto& [word, value] :
         {std::pair<std::string, std::string>{"{workflow}", "test/Greeting@1"}, {"{key}", "Zoe"}}) {
      if (const std::size_t at = path.find(word); at != std::string::npos)
        path.replace(at, word.size(), value);
    }
    const std::string fields = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return route.method == Method::kGet ? client.get(path, fields).status
                                        : client.post(path, "{}", fields).status;
  };
  const auto records = engine_->figures().records;
  for (const Route& route : routes()) {
    const bool is_for_all = route.role == Role::kAnybody;
    for (const std::string& token : {std::string(), std::string("hf_0"), revoked}) {
      const int status = ask(route, token);
      EXPECT_EQ(status == 401, !is_for_all) << route.path << " " << status;
    }
    for (const auto& [role, token] : shown) {
      const int status = ask(route, token);
      if (route.role == Role::kEnrolled) {  // a worker shows its own secret, and no token is one
        EXPECT_EQ(status, 401) << route.path << " " << name_of(role);
        continue;
      }
      EXPECT_NE(status, 401) << route.path;
      EXPECT_EQ(status == 403, !allows(role, route.role)) << route.path << " " << name_of(role);
    }
  }
  EXPECT_EQ(engine_->figures().records, records);
}

TEST_F(ServerTest, a_token_that_is_revoked_is_refused_by_a_server_that_runs) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  Tokens tokens;
  const std::string token =
      "Authorization: Bearer " + tokens.add(*random, Role::kViewer, "", 0).take() + "\r\n";
  tokens.write(*disk, tokens_file(world_)).take();
  start();
  Client client(port());
  EXPECT_EQ(client.get("/v1/limits", token).status, 200);
  ASSERT_TRUE(tokens.revoke(tokens.all()[0].id));
  tokens.write(*disk, tokens_file(world_)).take();
  int status = 200;
  for (int i = 0; i < 2400 && status == 200; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    status = client.get("/v1/limits", token).status;
  }
  EXPECT_EQ(status, 401);
}

TEST_F(ServerTest, slow_clients_are_let_go) {
  Limits limits;
  limits.header_time = limits.body_time = milliseconds(200);
  start(limits);
  Client silent(port());
  EXPECT_TRUE(silent.has_ended());
  EXPECT_EQ(ask("GET /healthz HTTP/1.1\r\nHo").status, 408);
  EXPECT_EQ(ask("POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: 10\r\n\r\n{")
                .status,
            408);
}

TEST_F(ServerTest, clients_that_have_nothing_more_to_ask_are_let_go) {
  Limits limits;
  limits.idle_time = milliseconds(200);
  start(limits);
  Client idle(port());
  EXPECT_EQ(idle.get("/healthz").status, 200);
  EXPECT_TRUE(idle.has_ended());
}

TEST_F(ServerTest, connections_in_use_keep_their_places_and_newcomers_get_in) {
  Limits limits;
  limits.connections = 4;
  is_mute_ = true;
  start(limits);
  Client waiting(port());
  const std::string body = R"({"input":{"name":"Ada","times":1},"wait":60000})";
  waiting.send(
      "POST /v1/workflows/test/Greeting@1/start HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  while (!engine_->query<Greeting>("Ada")) std::this_thread::sleep_for(milliseconds(1));
  Client one(port());
  EXPECT_EQ(one.get("/v1/journal", "Accept: text/event-stream\r\n").status, 200);
  Client two(port());
  EXPECT_EQ(two.get("/v1/journal", "Accept: text/event-stream\r\n").status, 200);
  {
    Client three(port());
    EXPECT_EQ(three.get("/v1/journal", "Accept: text/event-stream\r\n").status, 429)
        << "streams have half of the connections";
    std::vector<std::unique_ptr<Client>> others;
    for (int i = 0; i < 10; ++i) {
      others.push_back(std::make_unique<Client>(port()));
      EXPECT_EQ(others.back()->get("/healthz").status, 200);
    }
    EXPECT_TRUE(others.back()->get("/metrics").has("holdfast_http_streams 2"));
  }
  is_mute_ = false;
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST_F(ServerTest, waits_beyond_what_there_may_be_are_answered_at_once) {
  Limits limits;
  limits.waits = 0;
  is_mute_ = true;
  start(limits);
  Client client(port());
  const Reply reply = client.post("/v1/workflows/test/Greeting@1/start",
                                  R"({"input":{"name":"Ada","times":1},"wait":60000})");
  EXPECT_EQ(reply.status, 202) << reply.body;
  EXPECT_TRUE(reply.has(R"("status":"waiting")")) << reply.body;
}

TEST_F(ServerTest, strangers_make_room_for_newcomers_and_known_clients_stay) {
  Limits limits;
  limits.connections = 3;
  start(limits);
  Client known(port());
  EXPECT_EQ(known.get("/v1/limits").status, 200);
  for (int i = 0; i < 20; ++i) {
    Client silent(port());
    Client half(port());
    half.send("GET /healthz HTTP/1.1\r\nHo");
    Client newcomer(port());
    EXPECT_EQ(newcomer.get("/healthz").status, 200);
    EXPECT_EQ(known.get("/healthz").status, 200);
  }
}

TEST_F(ServerTest, answers_beyond_what_may_wait_are_refused_and_small_ones_are_not) {
  Limits limits;
  limits.all_answer_bytes = 10'000;
  start(limits);
  Client client(port());
  const Reply refused = client.get("/openapi.json");
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.has(R"("code":"full")")) << refused.body;
  EXPECT_NE(refused.head.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(client.get("/healthz").status, 200);
  EXPECT_EQ(client.get("/v1/limits").status, 200);
}

TEST_F(ServerTest, stopping_answers_what_is_under_way) {
  start();
  is_mute_ = true;
  Client waiting(port());
  Client idle(port());
  EXPECT_EQ(idle.get("/healthz").status, 200);
  const std::string body = R"({"input":{"name":"Ada","times":1},"wait":60000})";
  waiting.send(
      "POST /v1/workflows/test/Greeting@1/start HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  while (!idle.get(std::string(kAda)).has("waiting")) std::this_thread::sleep_for(milliseconds(5));
  server_->stop();
  const Reply reply = waiting.receive();
  EXPECT_EQ(reply.status, 202) << reply.body;
  EXPECT_NE(reply.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(idle.has_ended());
}

TEST_F(ServerTest, stopping_does_not_wait_for_those_who_do_not_read) {
  Limits limits;
  limits.stop_time = milliseconds(200);
  limits.header_time = limits.idle_time = std::chrono::hours(1);
  start(limits);
  Client half(port());
  half.send("GET /healthz HTTP/1.1\r\nHo");
  Client other(port());
  EXPECT_EQ(other.get("/healthz").status, 200);
  const auto begun = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::minutes(2));
  EXPECT_TRUE(half.has_ended());
}

TEST_F(ServerTest, many_clients_at_once_are_each_answered) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> completed = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Client client(port());
      for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        const Reply reply =
            client.post("/v1/workflows/test/Greeting@1/start",
                        R"({"input":{"name":")" + name + R"(","times":1},"wait":true})");
        if (reply.has("hello " + name)) ++completed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed, 160);
}

}  // namespace
}  // namespace holdfast::gateway
