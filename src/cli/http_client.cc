// SPDX-License-Identifier: Apache-2.0
#include "cli/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "cli/progress.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostBodyBytes = std::size_t{64} << 20;
constexpr std::size_t kMostLineBytes = std::size_t{32} << 20;
constexpr long kConnectSeconds = 10;

// A server that streams says at least a comment within this time.
constexpr long kSilentSeconds = 60;

struct FreeEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct FreeList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

// An option that curl does not know would be one that does not protect.
template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

struct Transfer {
  CURL* easy = nullptr;
  HttpAnswer answer;
  const HttpClient::LineReader* reader = nullptr;
  std::string rest;  // of a line that has not ended
  bool has_begun = false;
  bool streams = false;
  bool is_too_large = false;
  bool was_enough = false;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  Progress progress{"waiting for the server, seconds", 0};

  void begin() {
    if (std::exchange(has_begun, true)) return;
    const char* type = nullptr;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    if (type != nullptr) answer.type = type;
    streams = reader != nullptr && reader->begun(answer.status, answer.type);
  }

  bool take(std::string_view bytes) {
    begin();
    std::string& held = streams ? rest : answer.body;
    if (held.size() + bytes.size() > (streams ? kMostLineBytes : kMostBodyBytes)) {
      is_too_large = true;
      return false;
    }
    held += bytes;
    return !streams || take_lines();
  }

  bool take_lines() {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      std::string_view line = std::string_view(rest).substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (reader->line(line)) continue;
      was_enough = true;
      return false;
    }
    rest.erase(0, begin);
    return true;
  }
};

std::size_t take_body(const char* bytes, std::size_t, std::size_t count, void* of) {
  return static_cast<Transfer*>(of)->take({bytes, count}) ? count : 0;
}

// Called about once a second, also while nothing comes. 0: it goes on.
int show_patience(void* of, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto* const transfer = static_cast<Transfer*>(of);
  const auto waited = std::chrono::steady_clock::now() - transfer->begun;
  transfer->progress.at(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(waited).count()));
  return 0;
}

base::Error error_of(CURLcode code, const char* detail, const std::string& url) {
  const std::string message = *detail != '\0' ? detail : curl_easy_strerror(code);
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_UNSUPPORTED_PROTOCOL: return {base::ErrorCode::kIo, url, message};
    default: return {base::ErrorCode::kUnavailable, url, message};
  }
}

std::unique_ptr<curl_slist, FreeList> fields_of(const HttpRequest& request,
                                                const std::string& token) {
  curl_slist* list = nullptr;
  const auto add = [&](const std::string& field) {
    curl_slist* longer = curl_slist_append(list, field.c_str());
    CHECK(longer != nullptr);
    list = longer;
  };
  add("Accept: " + request.accept);
  add("Expect:");
  if (request.body) add("Content-Type: application/json");
  if (!token.empty()) add("Authorization: Bearer " + token);
  return std::unique_ptr<curl_slist, FreeList>(list);
}

}  // namespace

std::string escaped(std::string_view part) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : part) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || std::strchr("-_.~@", c) != nullptr;
    if (is_plain && c != '\0') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

base::Result<HttpClient> HttpClient::to(std::string url, std::string token, ClientTls tls) {
  static std::once_flag once;
  std::call_once(once, [] { CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
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
  return HttpClient(std::move(url), std::move(token), std::move(tls));
}

base::Result<HttpAnswer> HttpClient::ask(const HttpRequest& request) const {
  return follow(request, {});
}

base::Result<HttpAnswer> HttpClient::follow(const HttpRequest& request,
                                            const LineReader& reader) const {
  const std::unique_ptr<CURL, FreeEasy> easy(curl_easy_init());
  CHECK(easy != nullptr);
  Transfer transfer;
  transfer.easy = easy.get();
  transfer.reader = reader.line ? &reader : nullptr;
  std::array<char, CURL_ERROR_SIZE> detail{};
  const std::string whole = url_ + request.path;
  const auto fields = fields_of(request, token_);
  set(easy.get(), CURLOPT_ERRORBUFFER, detail.data());
  set(easy.get(), CURLOPT_NOSIGNAL, 1L);
  set(easy.get(), CURLOPT_URL, whole.c_str());
  set(easy.get(), CURLOPT_PATH_AS_IS, 1L);
  set(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy.get(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy.get(), CURLOPT_FOLLOWLOCATION, 0L);
  set(easy.get(), CURLOPT_PROXY, "");
  set(easy.get(), CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(easy.get(), CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy.get(), CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy.get(), CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!tls_.authorities.empty()) {
    set(easy.get(), CURLOPT_CAINFO, tls_.authorities.c_str());
    set(easy.get(), CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!tls_.certificate.empty()) {
    set(easy.get(), CURLOPT_SSLCERT, tls_.certificate.c_str());
    set(easy.get(), CURLOPT_SSLKEY, tls_.key.c_str());
  }
  set(easy.get(), CURLOPT_HTTPHEADER, fields.get());
  if (request.body) {
    set(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    set(easy.get(), CURLOPT_POSTFIELDS, request.body->data());
  } else if (request.method == "POST") {
    set(easy.get(), CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t{0});
    set(easy.get(), CURLOPT_POSTFIELDS, "");
  }
  set(easy.get(), CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set(easy.get(), CURLOPT_WRITEFUNCTION, take_body);
  set(easy.get(), CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(easy.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  if (transfer.reader != nullptr) {
    set(easy.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(easy.get(), CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  } else {
    set(easy.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.patience.count()));
    set(easy.get(), CURLOPT_NOPROGRESS, 0L);
    set(easy.get(), CURLOPT_XFERINFOFUNCTION, show_patience);
    set(easy.get(), CURLOPT_XFERINFODATA, static_cast<void*>(&transfer));
  }
  const CURLcode code = curl_easy_perform(easy.get());
  if (transfer.is_too_large)
    return base::Error(base::ErrorCode::kTooLarge, whole, "the answer is too large");
  if (code != CURLE_OK && !transfer.was_enough) return error_of(code, detail.data(), url_);
  transfer.begin();  // there may have been no body
  return std::move(transfer.answer);
}

}  // namespace holdfast::cli
