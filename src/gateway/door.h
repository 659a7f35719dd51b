// SPDX-License-Identifier: Apache-2.0
// Door: where a server is, before anybody is served there: its address, who may come in, its
// certificates and its port. All that can be refused about these is refused here.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>

#include "gateway/server.h"
#include "gateway/tokens.h"

namespace holdfast::gateway {

struct Door {
  // See Server::reserve for what is refused.
  static base::Result<std::unique_ptr<Door>> make(ServerOptions options);

  ServerOptions options;
  boost::asio::io_context io{1};
  boost::asio::ip::tcp::acceptor acceptor{io};
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: plain HTTP
  Tokens tokens;
  bool is_loopback = true;
  bool lacks_descriptors = false;  // for as many connections as there might be
  std::uint16_t port = 0;

 private:
  explicit Door(ServerOptions the_options) : options(std::move(the_options)) {}

  base::Result<void> take_port(const boost::asio::ip::address& address);
  base::Error not_taken(const boost::system::error_code& error) const;
};

}  // namespace holdfast::gateway
