// SPDX-License-Identifier: Apache-2.0
#include "cli/http_client.h"

#include <curl/curl.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "cli/progress.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostBodyBytes = std::size_t{64} << 20;
constexpr std::size_t kMostLineBytes = std::size_t{32} << 20;

// A server that streams says at least a comment within this time.
constexpr long kSilentSeconds = 60;

// An option that curl does not know would be one that does not protect.
template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
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

work::HeaderList fields_of(const HttpRequest& request, const std::string& token) {
  work::HeaderList list;
  work::add_header(list, "Accept: " + request.accept);
  work::add_header(list, "Expect:");
  if (request.body) work::add_header(list, "Content-Type: application/json");
  if (!token.empty()) work::add_header(list, "Authorization: Bearer " + token);
  return list;
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
  std::string checked = TRY(work::checked_server(std::move(url), token));
  return HttpClient(std::move(checked), std::move(token), std::move(tls));
}

base::Result<HttpAnswer> HttpClient::ask(const HttpRequest& request) const {
  return follow(request, {});
}

base::Result<HttpAnswer> HttpClient::follow(const HttpRequest& request,
                                            const LineReader& reader) const {
  const work::Easy easy = work::make_easy();
  Transfer transfer;
  transfer.easy = easy.get();
  transfer.reader = reader.line ? &reader : nullptr;
  std::array<char, CURL_ERROR_SIZE> detail{};
  const std::string whole = url_ + request.path;
  const auto fields = fields_of(request, token_);
  set(easy.get(), CURLOPT_ERRORBUFFER, detail.data());
  work::prepare_transfer(easy.get(), whole, tls_);
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
  if (code != CURLE_OK && !transfer.was_enough)
    return work::transfer_error(code, detail.data(), url_);
  transfer.begin();  // there may have been no body
  return std::move(transfer.answer);
}

}  // namespace holdfast::cli
