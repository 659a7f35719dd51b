// SPDX-License-Identifier: Apache-2.0
// A TLS server of the loopback interface with a certificate of its own, which answers every request
// with "hello". For tests only.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>

#include "executors/testing_server.h"

namespace holdfast::executors::testing {

class TlsServer {
 public:
  // The certificate is for this name, "IP:127.0.0.1" or "DNS:...", and is written to `file`.
  TlsServer(const std::string& subject, const std::string& file) {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = make_certificate(key, subject);
    std::FILE* const out = std::fopen(file.c_str(), "w");
    EXPECT_EQ(PEM_write_X509(out, certificate), 1);
    std::fclose(out);
    context_ = SSL_CTX_new(TLS_server_method());
    EXPECT_EQ(SSL_CTX_use_certificate(context_, certificate), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    thread_ = std::thread([this] { serve_all(); });
  }
  ~TlsServer() {
    listens_.stop();
    thread_.join();
    SSL_CTX_free(context_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string url() const { return "https://127.0.0.1:" + std::to_string(listens_.port()) + "/"; }

 private:
  static X509* make_certificate(EVP_PKEY* key, const std::string& subject) {
    X509* const certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* const called = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(called, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("holdfast test"), -1, -1, 0);
    X509_set_issuer_name(certificate, called);
    for (const auto& [kind, text] :
         {std::pair{NID_subject_alt_name, subject.c_str()}, {NID_basic_constraints, "CA:TRUE"}}) {
      X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, text);
      EXPECT_NE(extension, nullptr);
      X509_add_ext(certificate, extension, -1);
      X509_EXTENSION_free(extension);
    }
    EXPECT_NE(X509_sign(certificate, key, EVP_sha256()), 0);
    return certificate;
  }
  void serve_all() {
    sigset_t broken;  // OpenSSL writes without MSG_NOSIGNAL
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    while (true) {
      const int connection = listens_.accept();
      if (connection < 0) return;
      SSL* const ssl = SSL_new(context_);
      SSL_set_fd(ssl, connection);
      char piece[4096];
      if (SSL_accept(ssl) == 1 && SSL_read(ssl, piece, sizeof piece) > 0) {
        const std::string response = answer("hello");
        SSL_write(ssl, response.data(), static_cast<int>(response.size()));
        SSL_shutdown(ssl);
      }
      SSL_free(ssl);
      ::close(connection);
    }
  }

  SSL_CTX* context_ = nullptr;
  Loopback listens_;
  std::thread thread_;
};

}  // namespace holdfast::executors::testing
