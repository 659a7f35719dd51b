// SPDX-License-Identifier: Apache-2.0
// Event streams as their readers see them, where a server must be set up for it: how many there may
// be, and what becomes of one whose instance is forgotten.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "env/posix_disk.h"
#include "env/testing.h"
#include "gateway/server.h"
#include "gateway/testing_client.h"
#include "gateway/tokens.h"

namespace holdfast::gateway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Client;
using testing::Reply;

// Puts out `count` pages; 0 ends the book.
struct Write {
  static constexpr std::string_view kSchema = "test/Write@1";
  std::string name;
  std::uint64_t count = 0;
};

struct Page {
  static constexpr std::string_view kSchema = "test/Page@1";
  std::string letters;
};

struct Book {
  static constexpr std::string_view kWorkflow = "test/Book@1";
  struct State {
    std::uint64_t pages = 0;
  };
  using Entry = Page;
  using Events = holdfast::Events<On<Write, &Write::name>>;
  using Context = holdfast::Context<Book>;

  static void step(State& state, const Write& write, Context& context) {
    for (std::uint64_t i = 0; i < write.count; ++i) context.put(Page{std::string(60'000, 'x')});
    state.pages += write.count;
    if (write.count == 0) context.complete(state.pages);
  }
};

class StreamServerTest : public ::testing::Test {
 public:
  ~StreamServerTest() override { server_.reset(); }

 protected:
  void start(Limits limits = {}, seconds retention = seconds(0)) {
    EngineOptions options;
    options.dir = world_;
    options.modules = {Module::of<Book>("test/code@1")};
    options.any_file_system = true;
    options.retention = retention;
    auto opened = Engine::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
    ServerOptions serving;
    serving.port = 0;
    serving.world = world_;
    serving.limits = limits;
    auto place = Server::reserve(std::move(serving));
    ASSERT_TRUE(place) << place.error().to_string();
    auto started = Server::start(*engine_, std::move(*place));
    ASSERT_TRUE(started) << started.error().to_string();
    server_ = std::move(*started);
  }

  void write(const std::string& name, std::uint64_t count) {
    const auto sent = engine_->send(Write{name, count});
    ASSERT_TRUE(sent) << sent.error().message;
  }

  static std::string request(std::string_view path, const std::string& token = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
           (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
           "Accept: text/event-stream\r\n\r\n";
  }

  const env::testing::TemporaryFolder folder_;
  const std::string world_ = folder_.path() + "/world";
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Server> server_;
};

constexpr char kStream[] = "/v1/instances/test/Book@1/b/stream";

// More than the system keeps for a reader that takes nothing, so that some of it is still to be
// asked for when the instance is gone.
TEST_F(StreamServerTest, a_stream_whose_instance_is_forgotten_between_two_parts_ends) {
  Limits limits;
  limits.write_time = std::chrono::hours(1);  // the reader takes nothing for a while
  start(limits, seconds(1));
  for (int i = 0; i < 10; ++i) write("b", 7);
  Client reader(server_->port(), 4096);
  reader.send(request(kStream));
  ASSERT_EQ(reader.receive().status, 200);
  write("b", 0);  // the reader is there already: from now on it may be forgotten at any time
  Client client(server_->port());
  int status = 200;
  for (int i = 0; i < 2400 && status != 404; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    status = client.get("/v1/instances/test/Book@1/b").status;
  }
  ASSERT_EQ(status, 404) << "it is not forgotten";
  const std::string text = reader.rest();
  EXPECT_NE(text.find("data: {\"letters\""), std::string::npos) << "it read something before";
  EXPECT_NE(text.find("event: end\ndata: {\"status\":\"forgotten\"}"), std::string::npos)
      << text.substr(text.size() - std::min<std::size_t>(text.size(), 300));
}

TEST_F(StreamServerTest, there_are_so_many_streams_and_no_more) {
  Limits limits;
  limits.streams = 3;
  start(limits);
  write("b", 1);
  std::vector<std::unique_ptr<Client>> readers;
  for (const char* path : {kStream, kStream, "/v1/journal"}) {
    readers.push_back(std::make_unique<Client>(server_->port()));
    readers.back()->send(request(path));
    EXPECT_EQ(readers.back()->receive().status, 200);
  }
  Client late(server_->port());
  for (const char* path : {kStream, "/v1/journal"}) {
    late.send(request(path));
    const Reply refused = late.receive();
    EXPECT_EQ(refused.status, 429);
    EXPECT_TRUE(refused.has(R"("code":"too_many_streams")")) << refused.body;
  }
  // A question that is refused for another reason takes no place, and whoever leaves leaves one.
  late.send(request("/v1/instances/test/Book@1/nobody/stream"));
  EXPECT_EQ(late.receive().status, 429);
  readers.pop_back();
  int status = 429;
  for (int i = 0; i < 2400 && status == 429; ++i) {
    std::this_thread::sleep_for(milliseconds(50));
    late.send(request("/v1/instances/test/Book@1/nobody/stream"));
    status = late.receive().status;
  }
  EXPECT_EQ(status, 404);
  late.send(request(kStream));
  EXPECT_EQ(late.receive().status, 200);
}

TEST_F(StreamServerTest, one_token_leaves_streams_to_the_others) {
  const auto random = env::posix_random();
  const auto disk = env::posix_disk();
  Tokens tokens;
  const std::string first = tokens.add(*random, Role::kViewer, "", 0).take();
  const std::string second = tokens.add(*random, Role::kViewer, "", 0).take();
  ASSERT_TRUE(disk->make_directory(world_));
  tokens.write(*disk, tokens_file(world_)).take();
  Limits limits;
  limits.streams_of_token = 1;
  start(limits);
  write("b", 1);
  Client one(server_->port());
  one.send(request(kStream, first));
  EXPECT_EQ(one.receive().status, 200);
  Client again(server_->port());
  again.send(request(kStream, first));
  EXPECT_TRUE(again.receive().has("too_many_streams"));
  again.send(request(kStream, second));
  EXPECT_EQ(again.receive().status, 200);
}

}  // namespace
}  // namespace holdfast::gateway
