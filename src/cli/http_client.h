// SPDX-License-Identifier: Apache-2.0
// HttpClient: asks a server. Certificates are verified, redirects not followed, the user's proxies
// and passwords not heeded; what comes back is bounded in size and time. A token is never sent in
// the clear beyond this machine.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/server_transfer.h"

namespace holdfast::cli {

struct HttpAnswer {
  long status = 0;
  std::string type;  // of the body
  std::string body;
};

struct HttpRequest {
  std::string method = "GET";
  std::string path;                      // as it goes out, escaped
  std::optional<std::string> body = {};  // JSON
  std::string accept = "application/cbor";
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

using ClientTls = work::ServerTls;

class HttpClient {
 public:
  // kInvalid: the address is none, or the token would be sent in the clear.
  static base::Result<HttpClient> to(std::string url, std::string token, ClientTls tls);

  // Whatever the server answers. kUnavailable: it cannot be reached, or does not answer; kIo: what
  // it answers cannot be taken, as a certificate that is not good.
  base::Result<HttpAnswer> ask(const HttpRequest& request) const;

  // Lines of an answer, as they come, until it ends or `line` says no. `begun` hears the status and
  // the type first, and says whether to go on; the body is in the answer if it says no.
  struct LineReader {
    std::function<bool(long status, const std::string& type)> begun;
    std::function<bool(std::string_view line)> line;
  };
  base::Result<HttpAnswer> follow(const HttpRequest& request, const LineReader& reader) const;

  const std::string& url() const noexcept { return url_; }

 private:
  HttpClient(std::string url, std::string token, ClientTls tls)
      : url_(std::move(url)), token_(std::move(token)), tls_(std::move(tls)) {}

  std::string url_;  // without a slash at the end
  std::string token_;
  ClientTls tls_;
};

// One part of a path.
std::string escaped(std::string_view part);

}  // namespace holdfast::cli
