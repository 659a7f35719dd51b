// SPDX-License-Identifier: Apache-2.0
// A request, read from the params of an effect and checked: nothing in it can change what is sent
// around it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "executors/http.h"

struct curl_slist;
struct Curl_URL;

namespace holdfast::executors {

struct FreeHeaders {
  void operator()(curl_slist* headers) const noexcept;  // and wipes them
};
struct FreeUrl {
  void operator()(Curl_URL* url) const noexcept;
};

struct HttpRequest {
  std::string method;
  std::unique_ptr<Curl_URL, FreeUrl> url;
  std::string host;
  std::uint16_t port = 0;
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  bool has_body = false;
  std::string_view body;         // lives as long as the params, the secrets and the blob
  base::Bytes blob;              // that the body is
  bool answers_by_blob = false;  // as sys/http.request@1 does
  std::vector<Secret> secrets;
  std::uint64_t time_limit_ns = 0;
  std::size_t response_bytes = 0;
};

// Where a request goes, as "host:port"; empty: the params do not say.
std::string http_destination(const kernel::OpenIntent& intent);

// The params must outlive it. Whether the host is allowed is not asked here.
base::Result<HttpRequest> read_http_request(const kernel::OpenIntent& intent,
                                            const HttpOptions& options, const HttpNeeds& needs);

}  // namespace holdfast::executors
