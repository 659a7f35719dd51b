// SPDX-License-Identifier: Apache-2.0
#include "worker/link.h"

#include <curl/curl.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

template <class Value>
void link_set(CURL* easy, CURLoption option, Value value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

}  // namespace

// Its place does not change: curl points into it.
struct Link::Transfer {
  std::uint64_t id = 0;
  std::string url;
  std::string body;
  Answer answer = {};
  bool is_too_large = false;
  std::array<char, CURL_ERROR_SIZE> error{};
  HeaderList headers = {};
  Easy easy = make_easy();  // goes first

  static std::size_t take(const char* bytes, std::size_t, std::size_t count, void* of) {
    auto& transfer = *static_cast<Transfer*>(of);
    if (transfer.answer.body.size() + count > kMaxAnswerBytes) {
      transfer.is_too_large = true;
      return 0;
    }
    transfer.answer.body.append(bytes, count);
    return count;
  }
};

Link::Link(std::string url, ServerTls tls)
    : url_(std::move(url)), tls_(std::move(tls)), multi_(curl_multi_init()) {
  CHECK(multi_ != nullptr);
}

Link::~Link() {
  for (Transfer& transfer : transfers_) curl_multi_remove_handle(multi_, transfer.easy.get());
  transfers_.clear();
  curl_multi_cleanup(multi_);
}

base::Result<std::unique_ptr<Link>> Link::to(std::string url, const std::string& token,
                                             ServerTls tls) {
  std::string checked = TRY(checked_server(std::move(url), token));
  return std::unique_ptr<Link>(new Link(std::move(checked), std::move(tls)));
}

void Link::send(Request request) {
  Transfer& transfer = transfers_.emplace_back();
  transfer.id = request.id;
  transfer.url = url_ + request.path;
  transfer.body = std::move(request.body);
  add_header(transfer.headers, "Accept: application/json");
  add_header(transfer.headers, "Content-Type: application/json");
  add_header(transfer.headers, "Expect:");
  if (!request.credential.empty())
    add_header(transfer.headers, "Authorization: Bearer " + request.credential);
  CURL* const easy = transfer.easy.get();
  prepare_transfer(easy, transfer.url, tls_);
  link_set(easy, CURLOPT_PRIVATE, static_cast<void*>(&transfer));
  link_set(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  link_set(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
  link_set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
  link_set(easy, CURLOPT_POSTFIELDS, transfer.body.data());
  link_set(easy, CURLOPT_WRITEFUNCTION, &Transfer::take);
  link_set(easy, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  link_set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.patience_ms));
  link_set(easy, CURLOPT_TCP_NODELAY, 1L);
  CHECK(curl_multi_add_handle(multi_, easy) == CURLM_OK);
}

std::vector<Link::Done> Link::wait(std::vector<pollfd>& others, int timeout_ms) {
  std::vector<Done> done;
  int running = 0;
  CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
  take_ended(done);
  std::vector<curl_waitfd> waited;
  waited.reserve(others.size());
  for (const pollfd& other : others) {
    short events = 0;
    if ((other.events & POLLIN) != 0) events |= CURL_WAIT_POLLIN;
    if ((other.events & POLLOUT) != 0) events |= CURL_WAIT_POLLOUT;
    waited.push_back({other.fd, events, 0});
  }
  if (!done.empty()) timeout_ms = 0;
  CHECK(curl_multi_poll(multi_, waited.data(), static_cast<unsigned>(waited.size()), timeout_ms,
                        nullptr) == CURLM_OK);
  // curl tells readable and writable only; a descriptor that was closed at the other end is both.
  if (!others.empty()) ::poll(others.data(), others.size(), 0);
  CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
  take_ended(done);
  return done;
}

void Link::wake() noexcept { curl_multi_wakeup(multi_); }

void Link::take_ended(std::vector<Done>& done) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    CURL* const easy = message->easy_handle;
    void* of = nullptr;
    CHECK(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &of) == CURLE_OK);
    auto* const transfer = static_cast<Transfer*>(of);
    if (code == CURLE_OK) {
      curl_off_t retry_after = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &transfer->answer.status);
      curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after);
      transfer->answer.retry_after_s =
          retry_after > 0 ? static_cast<std::uint64_t>(retry_after) : 0;
      done.push_back({transfer->id, std::move(transfer->answer)});
    } else if (transfer->is_too_large) {
      done.push_back({transfer->id, base::Error(base::ErrorCode::kTooLarge, transfer->url,
                                                "the answer is too large")});
    } else {
      done.push_back({transfer->id, transfer_error(code, transfer->error.data(), url_)});
    }
    curl_multi_remove_handle(multi_, easy);
    transfers_.remove_if([&](const Transfer& one) { return &one == transfer; });
  }
}

}  // namespace holdfast::work
