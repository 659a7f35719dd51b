// SPDX-License-Identifier: Apache-2.0
#include "worker/server_transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

namespace holdfast::work {
namespace {

constexpr long kConnectSeconds = 10;

struct FreeParsedUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};

// An option that curl does not know would be one that does not protect.
template <class Value>
void must_set(CURL* easy, CURLoption option, Value value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

}  // namespace

void FreeEasy::operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
void FreeList::operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }

Easy make_easy() {
  Easy easy(curl_easy_init());
  CHECK(easy != nullptr);
  return easy;
}

void add_header(HeaderList& list, const std::string& field) {
  curl_slist* const longer = curl_slist_append(list.get(), field.c_str());
  CHECK(longer != nullptr);
  static_cast<void>(list.release());
  list.reset(longer);
}

base::Result<std::string> checked_server(std::string url, const std::string& token) {
  static std::once_flag once;
  std::call_once(once, [] { CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
  const std::unique_ptr<CURLU, FreeParsedUrl> parsed(curl_url());
  CHECK(parsed != nullptr);
  const auto bad = [&](const std::string& why) { return base::invalid(url, why); };
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
    return bad("expected the address of a server, as http://127.0.0.1:7411");
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    std::string value;
    if (curl_url_get(parsed.get(), which, &text, 0) == CURLUE_OK) value = text;
    curl_free(text);
    return value;
  };
  const std::string scheme = part(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return bad("expected http:// or https://");
  const std::string path = part(CURLUPART_PATH);
  if ((path != "/" && !path.empty()) || !part(CURLUPART_QUERY).empty() ||
      !part(CURLUPART_USER).empty())
    return bad("expected nothing behind the host and its port, and no user");
  if (!token.empty() && scheme == "http" && !is_this_machine(part(CURLUPART_HOST)))
    return bad("a token is not sent in the clear to another machine: use https");
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; }))
    return base::invalid("token", "has characters that no token has");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void prepare_transfer(CURL* easy, const std::string& url, const ServerTls& tls) {
  must_set(easy, CURLOPT_NOSIGNAL, 1L);
  must_set(easy, CURLOPT_URL, url.c_str());
  must_set(easy, CURLOPT_PATH_AS_IS, 1L);
  must_set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  must_set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  must_set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  must_set(easy, CURLOPT_PROXY, "");
  must_set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  must_set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  must_set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  must_set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!tls.authorities.empty()) {
    must_set(easy, CURLOPT_CAINFO, tls.authorities.c_str());
    must_set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!tls.certificate.empty()) {
    must_set(easy, CURLOPT_SSLCERT, tls.certificate.c_str());
    must_set(easy, CURLOPT_SSLKEY, tls.key.c_str());
  }
  must_set(easy, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
}

base::Error transfer_error(int code, const char* detail, const std::string& url) {
  const auto known = static_cast<CURLcode>(code);
  const std::string message = *detail != '\0' ? detail : curl_easy_strerror(known);
  switch (known) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_UNSUPPORTED_PROTOCOL: return {base::ErrorCode::kIo, url, message};
    default: return {base::ErrorCode::kUnavailable, url, message};
  }
}

}  // namespace holdfast::work
