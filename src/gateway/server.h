// SPDX-License-Identifier: Apache-2.0
// Server: an engine behind HTTP. One thread serves all connections and never waits for the engine
// or a disk; one reads files. Nothing here decides anything about workflows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gateway/limits.h"
#include "holdfast/engine.h"

namespace holdfast::workers {
class Desk;
}

namespace holdfast::gateway {

class MetricsText;

// PEM files. Without a certificate the server speaks plain HTTP.
struct TlsOptions {
  std::string certificate = {};  // and those between it and its root
  std::string key = {};
  std::string client_authorities = {};  // not empty: only clients with a certificate of these
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // a number, not a name
  std::uint16_t port = 7411;          // 0: any that is free
  std::string world;                  // the folder, for its tokens
  TlsOptions tls = {};
  Limits limits = {};
  std::shared_ptr<workers::Desk> desk = {};  // of the workers, which must be the engine's feed

  // Ends the process at once, for POST /v1/dev/kill; null: that is refused.
  std::function<void()> kill = {};

  // Adds to GET /metrics. From the serving thread.
  std::function<void(MetricsText&)> more_metrics = {};

  // Told, in one line each, what an operator would like to know. From the serving thread.
  std::function<void(std::string_view line)> log = {};

  // Requests that were refused, and with `logs_requests` all others, too. On the serving thread.
  LogSink log_lines = {};
  bool logs_requests = false;
};

struct Door;

class Server {
 public:
  // Where a server is going to be: everything about it that can be refused has been looked at, and
  // the port is its own. Whoever connects waits to be served; without a server they are cut off.
  class Place {
   public:
    Place(Place&&) noexcept;
    ~Place();
    std::uint16_t port() const noexcept;

   private:
    friend class Server;
    explicit Place(std::unique_ptr<Door> door) noexcept;
    std::unique_ptr<Door> door_;
  };

  // For before there is an engine, as that goes on with what was under way when it is opened.
  // kInvalid: the address is none, or others can reach it and there are no tokens, or what is said
  // about TLS is not enough. kConflict: somebody else has the port. kIo: a file cannot be read.
  static base::Result<Place> reserve(ServerOptions options);

  // Serves when this returns. The engine must outlive it.
  static base::Result<std::unique_ptr<Server>> start(Engine& engine, Place place);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const noexcept;
  bool is_open() const noexcept;  // it began without tokens

  // Reads the certificate, the key and the authorities again, for those who connect from now on. If
  // they cannot be used, which is logged, those of before stay. From any thread.
  void reload();

  // Takes nothing new, answers what is under way, and ends.
  void stop();

 private:
  struct Body;
  explicit Server(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace holdfast::gateway
