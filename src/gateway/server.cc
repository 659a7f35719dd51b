// SPDX-License-Identifier: Apache-2.0
#include "gateway/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "env/posix_disk.h"
#include "env/quiet_thread.h"
#include "gateway/connection.h"
#include "gateway/token_watch.h"

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How often the time of connections is looked at, while there are any.
constexpr std::chrono::milliseconds kBeat{100};

constexpr std::chrono::milliseconds kAfterFailedAccept{100};
constexpr int kBacklog = 1024;

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[sizeof "Sun, 06 Nov 1994 08:49:37 GMT"];
  ::gmtime_r(&now, &parts);
  const std::size_t size = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

base::Error failed(std::string where, const error_code& error) {
  return {base::ErrorCode::kIo, std::move(where), error.message()};
}

}  // namespace

struct Server::Body {
  Body(Engine& engine, ServerOptions the_options, Definitions definitions, Tokens tokens,
       bool is_loopback)
      : options(std::move(the_options)),
        floor{{engine, options.limits, std::move(definitions), std::make_shared<Wake>([this] {
                 asio::post(io, [this] { floor.service.wake->run_all(); });
               }),
               Helper(options.limits.waiting_jobs),
               Queries(engine, [this] { asio::post(io, [this] { ask_queries(); }); }), options.log},
              Access(std::move(tokens), is_loopback)},
        tokens_file(options.world, options.log) {
    floor.left = [this](Connection& connection) { forget(connection); };
    floor.service.client_of = [this](const Request& request) {
      return floor.access.client_of(request);
    };
  }

  base::Result<void> listen(const asio::ip::address& address);
  base::Result<void> prepare_tls();
  void run();
  void stop();

  ServerOptions options;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer beat{io};
  asio::steady_timer retry{io};
  asio::steady_timer end{io};
  std::optional<asio::ssl::context> tls;
  Floor floor;
  TokenWatch tokens_file;
  std::unordered_map<Connection*, std::shared_ptr<Connection>>
      connections;  // order does not matter
  bool beats = false;
  bool began_open = false;
  std::uint16_t port = 0;
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
  void wind_up();
  void end_if_done();
  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }
};

base::Result<void> Server::Body::listen(const asio::ip::address& address) {
  error_code error;
  const tcp::endpoint endpoint(address, options.port);
  const std::string place = options.address + ":" + std::to_string(options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) return failed(place, error);
  port = acceptor.local_endpoint(error).port();
  return {};
}

base::Result<void> Server::Body::prepare_tls() {
  const TlsOptions& files = options.tls;
  if (files.certificate.empty()) {
    if (files.key.empty() && files.client_authorities.empty()) return {};
    return base::invalid("tls", "there is no certificate");
  }
  asio::ssl::context& context = tls.emplace(asio::ssl::context::tls_server);
  error_code error;
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1,
                      error);
  if (!error) context.use_certificate_chain_file(files.certificate, error);
  if (error) return failed(files.certificate, error);
  context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error) return failed(files.key, error);
  if (files.client_authorities.empty()) return {};
  context.load_verify_file(files.client_authorities, error);
  if (!error)
    context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  if (error) return failed(files.client_authorities, error);
  return {};
}

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
  if (tls) {
    connection = std::make_shared<TlsConnection>(floor, std::move(socket), *tls);
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

// Time passes only while somebody is connected: an idle server does nothing at all.
void Server::Body::start_beating() {
  if (std::exchange(beats, true)) return;
  look_at_time();
}

void Server::Body::look_at_time() {
  floor.now = std::chrono::steady_clock::now();
  floor.date = date_text();
  const std::uint64_t changes = floor.access.changes();
  tokens_file.look(floor.now, floor.access);
  if (floor.access.changes() != changes) {
    for (const auto& connection : all_connections()) connection->check_access();
  }
  floor.service.timers.run_until(floor.now);
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

void Server::Body::stop() {
  if (!thread.joinable()) return;
  asio::post(io, [this] { wind_up(); });
  thread.join();
  floor.service.wake->close();
  floor.service.helper.stop();
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

base::Result<std::unique_ptr<Server>> Server::start(Engine& engine, ServerOptions options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return base::invalid(options.address, "it is not an address");
  const auto disk = env::posix_disk();
  Tokens tokens = TRY(Tokens::read(*disk, gateway::tokens_file(options.world)));
  Definitions definitions = TRY(Definitions::load(engine.definitions()));
  auto body = std::make_unique<Body>(engine, std::move(options), std::move(definitions),
                                     std::move(tokens), address.is_loopback());
  TRY(body->floor.access.check_setup());
  body->began_open = body->floor.access.is_open();
  TRY(body->prepare_tls());
  TRY(body->listen(address));
  body->run();
  return std::unique_ptr<Server>(new Server(std::move(body)));
}

std::uint16_t Server::port() const noexcept { return body_->port; }
bool Server::is_open() const noexcept { return body_->began_open; }
void Server::stop() { body_->stop(); }

}  // namespace holdfast::gateway
