// SPDX-License-Identifier: Apache-2.0
#include "gateway/door.h"

#include <algorithm>
#include <string>
#include <utility>

#include "env/descriptor_limit.h"
#include "env/posix_disk.h"
#include "gateway/access.h"
#include "gateway/descriptors.h"
#include "gateway/tls.h"

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 1024;

}  // namespace

base::Result<std::unique_ptr<Door>> Door::make(ServerOptions options) {
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return base::invalid(options.address, "it is not an address");
  std::unique_ptr<Door> door(new Door(std::move(options)));
  door->is_loopback = address.is_loopback();
  const auto disk = env::posix_disk();
  door->tokens = TRY(Tokens::read(*disk, tokens_file(door->options.world)));
  TRY(Access(door->tokens, door->is_loopback).check_setup());
  door->tls = TRY(make_tls(door->options.tls));
  Limits& limits = door->options.limits;
  const std::size_t wanted = limits.connections;
  limits.connections = connections_within(env::descriptor_limit(), wanted);
  door->lacks_descriptors = limits.connections < wanted;
  // A stream holds its connection for as long as it likes, and a wait for a minute: all of them
  // leave room for others.
  limits.streams = std::min(limits.streams, limits.connections / 2);
  limits.waits = std::min(limits.waits, limits.connections / 4);
  limits.streams_of_token = std::min(limits.streams_of_token, limits.connections / 4);
  limits.connections_of_token = std::min(limits.connections_of_token, limits.connections / 2);
  TRY(door->take_port(address));
  return door;
}

base::Error Door::not_taken(const error_code& error) const {
  const bool is_somebody_elses = error == asio::error::address_in_use;
  return {is_somebody_elses ? base::ErrorCode::kConflict : base::ErrorCode::kIo,
          options.address + ":" + std::to_string(options.port), error.message()};
}

// An address that may be used again, as it must be after a restart, can be bound by many at once:
// the port is somebody's own only when they listen.
base::Result<void> Door::take_port(const asio::ip::address& address) {
  error_code error;
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) return not_taken(error);
  port = acceptor.local_endpoint(error).port();
  if (error) return not_taken(error);
  return {};
}

}  // namespace holdfast::gateway
