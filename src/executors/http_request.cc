// SPDX-License-Identifier: Apache-2.0
#include "executors/http_request.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/trace_context.h"
#include "executors/http_fields.h"
#include "executors/params.h"

namespace holdfast::executors {
namespace {

constexpr std::size_t kMaxUrlBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxMethodBytes = 32;

// What frames the message, names its receiver or is ours to say.
constexpr std::array<std::string_view, 11> kReserved = {
    "connection", "content-length",    "expect",           "host", "idempotency-key", "keep-alive",
    "trailer",    "transfer-encoding", "proxy-connection", "te",   "upgrade"};

// A token of RFC 9110.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           (c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr);
  });
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

struct FreeCurl {
  void operator()(char* text) const noexcept { curl_free(text); }
};

std::optional<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return std::nullopt;
  const std::unique_ptr<char, FreeCurl> owned(text);
  return std::string(text);
}

base::Error wrong_url(const char* message) { return base::invalid("$.url", message); }

// The same parsed URL is what curl is given: there is no second parser to disagree.
base::Result<void> read_url(std::string_view text, HttpRequest& request) {
  if (text.size() > kMaxUrlBytes || !is_header_value(text)) return wrong_url("is not a URL");
  request.url.reset(curl_url());
  CURLU* const url = request.url.get();
  if (url == nullptr) return base::Error(base::ErrorCode::kUnavailable, "$.url", "no memory");
  if (curl_url_set(url, CURLUPART_URL, std::string(text).c_str(), CURLU_NON_SUPPORT_SCHEME) !=
      CURLUE_OK)
    return wrong_url("is not a URL");
  const auto scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return wrong_url("must begin with http or https");
  if (part_of(url, CURLUPART_USER) || part_of(url, CURLUPART_PASSWORD))
    return wrong_url("must not hold a user or a password: it is journaled");
  if (part_of(url, CURLUPART_ZONEID)) return wrong_url("must not name a zone");
  const auto host = part_of(url, CURLUPART_HOST);
  const auto port = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!host || host->empty() || !port) return wrong_url("has no host");
  request.host = lower(*host);
  if (request.host.front() == '[') request.host = request.host.substr(1, request.host.size() - 2);
  const char* const end = port->data() + port->size();
  const auto parsed = std::from_chars(port->data(), end, request.port);
  if (parsed.ec != std::errc() || parsed.ptr != end || request.port == 0)
    return wrong_url("has no port");
  return {};
}

base::Result<void> add_header(HttpRequest& request, std::string_view name, std::string_view value) {
  std::string line;
  line.reserve(name.size() + value.size() + 2);
  line.append(name);
  value.empty() ? line.append(";") : line.append(": ").append(value);  // ';' is curl's way
  curl_slist* const longer = curl_slist_append(request.headers.get(), line.c_str());
  wipe(line.data(), line.size());
  if (longer == nullptr)
    return base::Error(base::ErrorCode::kUnavailable, "$.headers", "no memory");
  static_cast<void>(request.headers.release());
  request.headers.reset(longer);
  return {};
}

// Takes out one that curl would add by itself.
base::Result<void> leave_out(HttpRequest& request, const char* name) {
  curl_slist* const longer = curl_slist_append(request.headers.get(), name);
  if (longer == nullptr)
    return base::Error(base::ErrorCode::kUnavailable, "$.headers", "no memory");
  static_cast<void>(request.headers.release());
  request.headers.reset(longer);
  return {};
}

base::Result<void> read_headers(const Params& params, const kernel::OpenIntent& intent,
                                const SecretSource* secrets, HttpRequest& request) {
  std::vector<std::string> names;
  std::size_t bytes = 0;
  if (const auto headers = params.find("headers")) {
    for (const auto [key, value] : headers->entries()) {
      const auto name = key.text();
      if (!name || !is_token(*name)) return base::invalid("$.headers", "is no name of a header");
      names.push_back(lower(*name));
      if (std::find(kReserved.begin(), kReserved.end(), names.back()) != kReserved.end())
        return base::invalid("$.headers", "'" + names.back() + "' is not yours to set");
      if (std::count(names.begin(), names.end(), names.back()) > 1)
        return base::invalid("$.headers", "'" + names.back() + "' stands there twice");
      const std::string_view text = TRY(revealed(value, "headers", secrets, request.secrets));
      bytes += name->size() + text.size();
      if (!is_header_value(text) || bytes > kMaxHeaderBytes)
        return base::invalid("$.headers", "the value of '" + names.back() + "' cannot be sent");
      TRY(add_header(request, *name, text));
    }
  }
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  TRY(add_header(request, "Idempotency-Key", intent.intent.to_text()));
  // The span is the effect's own: a request that is sent again belongs to the same one.
  if (auto trace = base::TraceContext::of(intent.trace); trace && !has("traceparent")) {
    std::copy_n(intent.intent.bytes.begin(), trace->span.size(), trace->span.begin());
    TRY(add_header(request, "traceparent", trace->to_text()));
  }
  if (!has("user-agent")) TRY(add_header(request, "User-Agent", "holdfast"));
  if (!has("content-type")) TRY(leave_out(request, "Content-Type:"));
  TRY(leave_out(request, "Expect:"));
  return {};
}

base::Result<void> read_body(const Params& params, const HttpNeeds& needs, HttpRequest& request) {
  if (const auto reference = TRY(params.optional_text("body_ref"))) {
    if (needs.blobs == nullptr)
      return base::Error(base::ErrorCode::kNotFound, "$.body_ref", "this node has no blobs");
    request.blob = TRY(needs.blobs->get(TRY(base::Hash::parse(*reference))));
    request.body = base::as_text(request.blob);
    request.has_body = true;
  } else if (const auto body = params.find("body")) {
    request.body = TRY(revealed(*body, "body", needs.secrets, request.secrets));
    request.has_body = true;
  }
  return {};
}

}  // namespace

void FreeHeaders::operator()(curl_slist* headers) const noexcept {
  for (const curl_slist* at = headers; at != nullptr; at = at->next)
    wipe(at->data, std::strlen(at->data));
  curl_slist_free_all(headers);
}

void FreeUrl::operator()(Curl_URL* url) const noexcept { curl_url_cleanup(url); }

std::string http_destination(const kernel::OpenIntent& intent) {
  const auto url = Params(intent.params).text("url");
  HttpRequest request;
  if (!url || !read_url(*url, request)) return {};
  return request.host + ":" + std::to_string(request.port);
}

base::Result<HttpRequest> read_http_request(const kernel::OpenIntent& intent,
                                            const HttpOptions& options, const HttpNeeds& needs) {
  const Params params(intent.params);
  HttpRequest request;
  request.method = TRY(params.text("method"));
  if (!is_token(request.method) || request.method.size() > kMaxMethodBytes ||
      lower(request.method) == "connect")
    return base::invalid("$.method", "is not a method");
  TRY(read_url(TRY(params.text("url")), request));
  TRY(read_headers(params, intent, needs.secrets, request));
  TRY(read_body(params, needs, request));
  if (request.method == "HEAD" && request.has_body)
    return base::invalid("$.body", "a HEAD request has no body");
  // A canonical record has all its fields, also those that are null: this is the shape, not the
  // body.
  request.answers_by_blob = codec::View::of(intent.params).find("body_ref").has_value();
  request.time_limit_ns =
      time_limit_ns(intent, TRY(params.optional_nat("timeout_ns")), options.time_limit_ns);
  request.response_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(
      TRY(params.optional_nat("max_response_bytes")).value_or(UINT64_MAX), options.response_bytes));
  return request;
}

}  // namespace holdfast::executors
