// SPDX-License-Identifier: Apache-2.0
#include "gateway/server.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <optional>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cursors/cursor_book.h"
#include "env/memory.h"
#include "env/posix_disk.h"
#include "env/quiet_thread.h"
#include "gateway/connection.h"
#include "gateway/door.h"
#include "gateway/tls.h"
#include "gateway/token_watch.h"
#include "workers/desk.h"

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

// Trouble that may come a thousand times a second is logged this often.
constexpr std::chrono::seconds kBetweenComplaints{60};

// When there are no descriptors left, though the server has no more than its share of them, the
// engine may need some as well: so many connections make room at once.
constexpr std::size_t kShedAtOnce = 16;

// When so many connections have given their buffers away, the allocator is asked to do so, too.
constexpr std::size_t kManyCooled = 64;

// A client that has taken nothing for so long is cut off if others need the memory of its answer.
constexpr std::chrono::seconds kTakesNothing{1};

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
               Queries(engine, [this] { asio::post(io, [this] { ask_queries(); }); }), options.log,
               options.log_lines, options.logs_requests},
              Access(std::move(door->tokens), door->is_loopback)},
        tokens_file(options.world, floor.service.helper, floor.service.wake, options.log) {
    floor.left = [this](Connection& connection) { forget(connection); };
    tokens_file.tell([this](std::optional<Tokens> now) { use_tokens(std::move(now)); });
    tokens_file.tell_when_known([this] { let_go_on(); });
    floor.tls = door->tls;
    floor.service.make_room = [this](std::size_t bytes, const std::string& account) {
      return make_room_to_answer(bytes, account);
    };
    floor.service.desk = options.desk.get();
    floor.service.more_metrics = options.more_metrics;
    floor.service.kill = options.kill;
    floor.service.caller_of = [this](const Request& request) {
      return floor.access.caller_of(request);
    };
  }

  void run();
  void reload();
  void stop();

  const std::unique_ptr<Door> door;
  std::unique_ptr<cursors::CursorBook> cursors;
  const ServerOptions& options = door->options;
  asio::io_context& io = door->io;
  tcp::acceptor& acceptor = door->acceptor;
  asio::steady_timer beat{io};
  asio::steady_timer retry{io};
  asio::steady_timer end{io};
  Floor floor;
  TokenWatch tokens_file;
  std::unordered_map<Connection*, std::shared_ptr<Connection>>
      connections;      // order does not matter
  Time called{};        // when it was last asked who is there
  std::size_t cut = 0;  // of the connections: they are closed, and have yet to hear of it
  std::vector<std::pair<std::weak_ptr<Connection>, Time>> spare;  // to make room, the next one last
  Time found_no_spare{};
  Time complained{};
  std::uint64_t last_number = 0;  // of a connection
  bool is_reloading = false;
  bool reloads_again = false;  // what was read may be from before it was asked for
  bool beats = false;
  const bool began_open = floor.access.is_open();
  std::thread thread;

 private:
  void ask_queries() { floor.service.queries.ask_all(floor.service.wake); }
  // To walk along while they may end.
  std::vector<std::shared_ptr<Connection>> all_connections() const;
  void accept();
  void accept_later(const error_code& error);
  void add(tcp::socket socket);
  bool shed_one();
  void gather_spare();
  bool make_room_to_answer(std::size_t bytes, const std::string& account);
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
  if (door->lacks_descriptors)
    log("at most " + std::to_string(options.limits.connections) +
        " connections: the process may open no more files (ulimit -n)");
  floor.now = std::chrono::steady_clock::now();
  floor.date = date_text();
  accept();
  thread = env::quiet_thread([this] { io.run(); });
}

void Server::Body::accept() {
  acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (error) return accept_later(error);
    add(std::move(socket));
    accept();
  });
}

// Most likely there are no descriptors left. Whoever connects waits in the line of the system.
void Server::Body::accept_later(const error_code& error) {
  const Time now = std::chrono::steady_clock::now();
  if (now - complained >= kBetweenComplaints) {
    complained = now;
    log("a connection could not be accepted: " + error.message());
  }
  const bool lacks_descriptors = error == boost::system::errc::too_many_files_open ||
                                 error == boost::system::errc::too_many_files_open_in_system;
  for (std::size_t i = 0; lacks_descriptors && i < kShedAtOnce && shed_one(); ++i) continue;
  retry.expires_after(kAfterFailedAccept);
  retry.async_wait([this](const error_code& stopped) {
    if (!stopped && acceptor.is_open()) accept();
  });
}

// Those that would be missed least, in the end of the list. They are found for many newcomers at
// once, so that a flood of these costs little each.
void Server::Body::gather_spare() {
  struct Candidate {
    Connection::Worth worth;
    Time quiet_since;
    std::uint64_t number;
    std::shared_ptr<Connection> connection;
  };
  std::vector<Candidate> found;
  for (const auto& [place, connection] : connections)
    if (const auto worth = connection->worth())
      found.push_back({*worth, connection->quiet_since(), connection->number(), connection});
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.worth, a.quiet_since, a.number) > std::tie(b.worth, b.quiet_since, b.number);
  });
  spare.clear();
  for (const Candidate& each : found) {
    // Of those who are known one at most: by the next time there may be strangers.
    if (each.worth == Connection::Worth::kIdle && &each != &found.back()) continue;
    spare.emplace_back(each.connection, each.quiet_since);
  }
}

// Ends the connection that would be missed least. False: all are in use.
bool Server::Body::shed_one() {
  for (int tries = 0; tries < 2; ++tries) {
    while (!spare.empty()) {
      const auto [kept, quiet_since] = std::move(spare.back());
      spare.pop_back();
      const auto connection = kept.lock();
      if (!connection || !connection->worth() || connection->quiet_since() != quiet_since) continue;
      ++floor.service.traffic.shed_connections;
      ++cut;
      connection->cut_off();
      return true;
    }
    // When all are in use, it is not looked again for each of a flood.
    const Time now = std::chrono::steady_clock::now();
    if (tries != 0 || now - found_no_spare < kBeat / 10) return false;
    gather_spare();
    if (spare.empty()) found_no_spare = now;
  }
  return false;
}

// Cuts off those who take nothing, strangers first, then who has taken nothing for longest. Where
// only the account's own share is used up, only its own readers.
bool Server::Body::make_room_to_answer(std::size_t bytes, const std::string& account) {
  struct Candidate {
    bool is_known;
    Time taken_since;
    Connection* connection;
  };
  std::vector<Candidate> found;
  const bool is_of_account = floor.service.fits(bytes, {});
  for (const auto& [place, connection] : connections) {
    const auto since = connection->taken_since();
    if (is_of_account && connection->answer_account() != account) continue;
    if (since && floor.now - *since >= kTakesNothing)
      found.push_back({connection->is_known(), *since, place});
  }
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.is_known, a.taken_since) < std::tie(b.is_known, b.taken_since);
  });
  const auto fits = [&] { return floor.service.fits(bytes, account); };
  for (const Candidate& each : found) {
    if (fits()) break;
    ++floor.service.traffic.cut_readers;
    ++cut;
    each.connection->cut_off();
  }
  return fits();
}

void Server::Body::add(tcp::socket socket) {
  Traffic& traffic = floor.service.traffic;
  if (connections.size() - cut >= options.limits.connections && !shed_one()) {
    ++traffic.refused_connections;
    return;  // it is closed with the socket
  }
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  start_beating();
  ++traffic.accepted;
  ++traffic.connections;
  std::shared_ptr<Connection> connection;
  if (floor.tls) {
    connection = std::make_shared<TlsConnection>(floor, ++last_number, std::move(socket));
  } else {
    connection = std::make_shared<PlainConnection>(floor, ++last_number, std::move(socket));
  }
  connections.emplace(connection.get(), connection);
  connection->begin();
}

void Server::Body::forget(Connection& connection) {
  --floor.service.traffic.connections;
  if (connection.is_cut_off()) --cut;
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
  if (floor.cooled >= kManyCooled && floor.service.helper.post([] { env::give_memory_back(); }))
    floor.cooled = 0;
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

// The files are read where files are read: a disk that hangs holds up nobody who is served.
void Server::Body::reload() {
  asio::post(io, [this] {
    if (!floor.tls) return log("there are no certificates to read again");
    if (std::exchange(is_reloading, true)) {
      reloads_again = true;
      return;
    }
    floor.service.helper.post_first([this, files = options.tls, wake = floor.service.wake] {
      using Made = base::Result<std::shared_ptr<asio::ssl::context>>;
      auto made = std::make_shared<Made>(make_tls(files));
      wake->post([this, made] {
        if (*made) {
          floor.tls = std::move(**made);
          log("the certificates were read again");
        } else {
          log("the certificates of before stay: " + made->error().to_string());
        }
        is_reloading = false;
        if (std::exchange(reloads_again, false)) reload();
      });
    });
  });
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
  if (options.desk) options.desk->stop();
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
  if (!body->options.world.empty()) {
    body->cursors =
        TRY(cursors::CursorBook::open(env::posix_disk(), body->options.world + "/cursors", engine));
    body->floor.service.cursors = body->cursors.get();
  }
  body->run();
  return std::unique_ptr<Server>(new Server(std::move(body)));
}

std::uint16_t Server::port() const noexcept { return body_->door->port; }
bool Server::is_open() const noexcept { return body_->began_open; }
void Server::reload() { body_->reload(); }
void Server::stop() { body_->stop(); }

}  // namespace holdfast::gateway
