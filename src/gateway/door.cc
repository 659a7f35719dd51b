// SPDX-License-Identifier: Apache-2.0
#include "gateway/door.h"

#include <string>
#include <utility>

#include "env/posix_disk.h"
#include "gateway/access.h"

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 1024;

// Files are named by the option that says them.
base::Error unfit(std::string_view option, const std::string& file, const error_code& error) {
  return {base::ErrorCode::kIo, std::string(option) + " " + file, error.message()};
}

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
  TRY(door->prepare_tls());
  TRY(door->take_port(address));
  return door;
}

base::Result<void> Door::prepare_tls() {
  const TlsOptions& files = options.tls;
  if (files.certificate.empty()) {
    if (files.key.empty() && files.client_authorities.empty()) return {};
    return base::invalid("tls-certificate", files.key.empty()
                                                ? "it is missing; client-authorities are for TLS"
                                                : "it is missing, though there is a tls-key");
  }
  if (files.key.empty())
    return base::invalid("tls-key", "it is missing; tls-certificate is nothing without it");
  asio::ssl::context& context = tls.emplace(asio::ssl::context::tls_server);
  error_code error;
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1,
                      error);
  if (!error) context.use_certificate_chain_file(files.certificate, error);
  if (error) return unfit("tls-certificate", files.certificate, error);
  context.use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error) return unfit("tls-key", files.key, error);
  if (files.client_authorities.empty()) return {};
  context.load_verify_file(files.client_authorities, error);
  if (!error)
    context.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert, error);
  if (error) return unfit("client-authorities", files.client_authorities, error);
  return {};
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
