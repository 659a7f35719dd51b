// SPDX-License-Identifier: Apache-2.0
#include "gateway/server.h"

#include <poll.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "env/quiet_thread.h"
#include "gateway/connection.h"
#include "gateway/door.h"
#include "gateway/token_watch.h"

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How often the time of connections is looked at, while there are any.
constexpr std::chrono::milliseconds kBeat{100};

// How often it is asked whether those are still there to whom nothing is said.
constexpr std::chrono::seconds kBetweenCalls{1};

constexpr std::chrono::milliseconds kAfterFailedAccept{100};

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[sizeof "Sun, 06 Nov 1994 08:49:37 GMT"];
  ::gmtime_r(&now, &parts);
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

}  // namespace

struct Server::Body {
  Body(Engine& engine, std::unique_ptr<Door> the_door, Definitions definitions)
      : door(std::move(the_door)),
        floor{{engine, options.limits, std::move(definitions), std::make_shared<Wake>([this] {
                 asio::post(io, [this] { floor.service.wake->run_all(); });
               }),
               Helper(options.limits.waiting_jobs),
               Helper(options.limits.waiting_looks_back, Helper::Pace::kYields),
               Queries(engine, [this] { asio::post(io, [this] { ask_queries(); }); }), options.log},
              Access(std::move(door->tokens), door->is_loopback)},
        tokens_file(options.world, floor.service.helper, floor.service.wake, options.log) {
    floor.left = [this](Connection& connection) { forget(connection); };
    tokens_file.tell([this](std::optional<Tokens> now) { use_tokens(std::move(now)); });
    tokens_file.tell_when_known([this] { let_go_on(); });
    floor.service.caller_of = [this](const Request& request) {
      return floor.access.caller_of(request);
    };
  }

  void run();
  void stop();

  const std::unique_ptr<Door> door;
  const ServerOptions& options = door->options;
  asio::io_context& io = door->io;
  tcp::acceptor& acceptor = door->acceptor;
  asio::steady_timer beat{io};
  asio::steady_timer retry{io};
  asio::steady_timer end{io};
  Floor floor;
  TokenWatch tokens_file;
  std::unordered_map<Connection*, std::shared_ptr<Connection>>
      connections;  // order does not matter
  Time called{};    // when it was last asked who is there
  bool beats = false;
  const bool began_open = floor.access.is_open();
  std::thread thread;

 private:
  void ask_queries() { floor.service.queries.ask_all(floor.service.wake); }
  // To walk along while they may end.
  std::vector<std::shared_ptr<Connection>> all_connections() const;
  void accept();
  void add(tcp::socket socket);
  void forget(Connection& connection);
  void start_beating();
  void look_at_time();
  void look_for_the_gone();
  void use_tokens(std::optional<Tokens> tokens);
  void let_go_on();
  void wind_up();
  void end_if_done();
  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }
};

void Server::Body::run() {
  floor.now = std::chrono::steady_clock::now();
  floor.date = date_text();
  accept();
  thread = env::quiet_thread([this] { io.run(); });
}

void Server::Body::accept() {
  acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (error) {
      // Most likely there are no descriptors left; they come back when connections end.
      log("a connection could not be accepted: " + error.message());
      retry.expires_after(kAfterFailedAccept);
      retry.async_wait([this](const error_code& stopped) {
        if (!stopped && acceptor.is_open()) accept();
      });
      return;
    }
    add(std::move(socket));
    accept();
  });
}

void Server::Body::add(tcp::socket socket) {
  Traffic& traffic = floor.service.traffic;
  if (connections.size() >= options.limits.connections) {
    ++traffic.refused_connections;
    return;  // it is closed with the socket
  }
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  start_beating();
  ++traffic.accepted;
  ++traffic.connections;
  std::shared_ptr<Connection> connection;
  if (door->tls) {
    connection = std::make_shared<TlsConnection>(floor, std::move(socket), *door->tls);
  } else {
    connection = std::make_shared<PlainConnection>(floor, std::move(socket));
  }
  connections.emplace(connection.get(), connection);
  connection->begin();
}

void Server::Body::forget(Connection& connection) {
  --floor.service.traffic.connections;
  connections.erase(&connection);
  end_if_done();
}

// Time passes only while somebody is connected: an idle server does nothing at all. So the first
// who comes again must not be let in by what was known before, and whoever needs no token does not
// wait for the disk that knows.
void Server::Body::start_beating() {
  if (std::exchange(beats, true)) return;
  if (tokens_file.look_after_pause(std::chrono::steady_clock::now())) floor.awaits_tokens = true;
  look_at_time();
}

void Server::Body::look_at_time() {
  floor.now = std::chrono::steady_clock::now();
  floor.date = date_text();
  tokens_file.look(floor.now);
  floor.service.timers.run_until(floor.now);
  look_for_the_gone();
  for (const auto& connection : all_connections()) connection->check_time();
  beat.expires_after(kBeat);
  beat.async_wait([this](const error_code& stopped) {
    if (stopped) return;
    if (connections.empty() && !floor.service.is_stopping) {
      beats = false;
      return;
    }
    look_at_time();
  });
}

// None: they cannot be read.
void Server::Body::use_tokens(std::optional<Tokens> tokens) {
  if (tokens) {
    floor.access.set_tokens(std::move(*tokens));
  } else {
    floor.access.shut();
  }
  for (const auto& connection : all_connections()) connection->check_access();
}

void Server::Body::let_go_on() {
  floor.awaits_tokens = false;
  for (const auto& connection : all_connections()) connection->go_on();
}

// All of them in one question: an operation for each that waits would cost more than most answers.
void Server::Body::look_for_the_gone() {
  if (floor.now - called < kBetweenCalls) return;
  called = floor.now;
  std::vector<std::shared_ptr<Connection>> asked;
  std::vector<pollfd> sockets;
  for (const auto& [place, connection] : connections) {
    const int socket = connection->silent_socket();
    if (socket < 0) continue;
    asked.push_back(connection);
    sockets.push_back({socket, POLLRDHUP, 0});
  }
  if (sockets.empty() || ::poll(sockets.data(), sockets.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < sockets.size(); ++i)
    if (sockets[i].revents != 0) asked[i]->hear_of_socket(sockets[i].revents);
}

void Server::Body::stop() {
  if (!thread.joinable()) return;
  asio::post(io, [this] { wind_up(); });
  thread.join();
  floor.service.wake->close();
  floor.service.helper.stop();
  floor.service.past.stop();
  // Whoever is left was too slow even for that.
  for (const auto& connection : all_connections()) connection->abandon();
  io.restart();
  io.poll();
}

std::vector<std::shared_ptr<Connection>> Server::Body::all_connections() const {
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections.size());
  for (const auto& [place, connection] : connections) all.push_back(connection);
  return all;
}

void Server::Body::wind_up() {
  floor.service.is_stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  retry.cancel();
  start_beating();
  floor.service.timers.run_all();  // whoever waits for an end is told how things stand
  for (const auto& connection : all_connections()) connection->wind_up();
  end.expires_after(options.limits.stop_time);
  end.async_wait([this](const error_code&) { io.stop(); });
  end_if_done();
}

void Server::Body::end_if_done() {
  if (floor.service.is_stopping && connections.empty()) io.stop();
}

Server::Server(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Server::~Server() { stop(); }

Server::Place::Place(std::unique_ptr<Door> door) noexcept : door_(std::move(door)) {}
Server::Place::Place(Place&&) noexcept = default;
Server::Place::~Place() = default;
std::uint16_t Server::Place::port() const noexcept { return door_->port; }

base::Result<Server::Place> Server::reserve(ServerOptions options) {
  return Place(TRY(Door::make(std::move(options))));
}

base::Result<std::unique_ptr<Server>> Server::start(Engine& engine, Place place) {
  Definitions definitions = TRY(Definitions::load(engine.definitions()));
  auto body = std::make_unique<Body>(engine, std::move(place.door_), std::move(definitions));
  body->run();
  return std::unique_ptr<Server>(new Server(std::move(body)));
}

std::uint16_t Server::port() const noexcept { return body_->door->port; }
bool Server::is_open() const noexcept { return body_->began_open; }
void Server::stop() { body_->stop(); }

}  // namespace holdfast::gateway
