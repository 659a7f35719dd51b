// SPDX-License-Identifier: Apache-2.0
#include "gateway/tls.h"

#include <openssl/ssl.h>

#include <string>
#include <string_view>

namespace holdfast::gateway {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// Of TLS 1.2: whoever gets hold of the key later cannot read what was said before, and nothing is
// padded in ways that answers could tell of. All suites of TLS 1.3 are of this kind.
constexpr const char* kSuites = "ECDHE+AESGCM:ECDHE+CHACHA20";

// Files are named by the option that says them.
base::Error unfit(std::string_view option, const std::string& file, const error_code& error) {
  return {base::ErrorCode::kIo, std::string(option) + " " + file, error.message()};
}

base::Result<void> check_named(const TlsOptions& files) {
  if (files.certificate.empty()) {
    if (files.key.empty() && files.client_authorities.empty()) return {};
    return base::invalid("tls-certificate", files.key.empty()
                                                ? "it is missing; client-authorities are for TLS"
                                                : "it is missing, though there is a tls-key");
  }
  if (!files.key.empty()) return {};
  return base::invalid("tls-key", "it is missing; tls-certificate is nothing without it");
}

base::Result<void> set_up(ssl::context& context) {
  SSL_CTX* const native = context.native_handle();
  // Buffers of a connection that says nothing are given away; a client cannot make the server
  // negotiate again and again.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(
      native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1 &&
      SSL_CTX_set_cipher_list(native, kSuites) == 1)
    return {};
  return base::Error(base::ErrorCode::kIo, "TLS", "this OpenSSL does not have what is needed");
}

}  // namespace

base::Result<std::shared_ptr<ssl::context>> make_tls(const TlsOptions& files) {
  TRY(check_named(files));
  if (files.certificate.empty()) return std::shared_ptr<ssl::context>();
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  TRY(set_up(*context));
  error_code error;
  context->use_certificate_chain_file(files.certificate, error);
  if (error) return unfit("tls-certificate", files.certificate, error);
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return unfit("tls-key", files.key, error);
  if (SSL_CTX_check_private_key(context->native_handle()) != 1)
    return base::Error(base::ErrorCode::kIo, "tls-key " + files.key,
                       "it is not the key of the certificate");
  if (files.client_authorities.empty()) return context;
  context->load_verify_file(files.client_authorities, error);
  if (!error) context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  if (error) return unfit("client-authorities", files.client_authorities, error);
  return context;
}

}  // namespace holdfast::gateway
