// SPDX-License-Identifier: Apache-2.0
#include "executors/http.h"

#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <climits>
#include <list>
#include <utility>

#include "base/check.h"
#include "codec/limits.h"
#include "executors/address.h"
#include "executors/http_request.h"
#include "executors/http_response.h"
#include "executors/mask.h"
#include "executors/params.h"

namespace holdfast::executors {
namespace {

// A receipt holds the headers and some more.
constexpr std::size_t kMaxResponseBytes = codec::kMaxValueBytes - (std::size_t{1} << 20);

struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
struct FreeEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};

// One request under way. Its place does not change: curl points into it.
struct Transfer {
  Transfer(kernel::OpenIntent the_intent, HttpRequest the_request, bool may_be_private)
      : intent(std::move(the_intent)),
        request(std::move(the_request)),
        private_addresses(may_be_private),
        response(request.response_bytes) {}

  kernel::OpenIntent intent;  // the body may be in its params
  HttpRequest request;
  bool private_addresses;
  HttpResponse response;
  std::uint64_t started_at_ns = 0;
  std::string refused_address;  // the last that was not connected to
  std::array<char, CURL_ERROR_SIZE> error{};
  std::unique_ptr<CURL, FreeEasy> easy;  // goes first
};

// Every socket that curl connects with is made here, for the address that it will connect to.
curl_socket_t open_socket(void* of, curlsocktype purpose, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(of);
  if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
  if (!transfer.private_addresses && !is_public(&address->addr)) {
    transfer.refused_address = address_text(&address->addr);
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t take_header(const char* bytes, std::size_t, std::size_t count, void* of) {
  return static_cast<Transfer*>(of)->response.add_header_line({bytes, count}) ? count : 0;
}

std::size_t take_body(const char* bytes, std::size_t, std::size_t count, void* of) {
  return static_cast<Transfer*>(of)->response.add_body({bytes, count}) ? count : 0;
}

// An option that curl does not know would be one that does not protect.
template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

void set_up(Transfer& transfer, const HttpOptions& options) {
  CURL* const easy = transfer.easy.get();
  const HttpRequest& request = transfer.request;
  set(easy, CURLOPT_PRIVATE, static_cast<void*>(&transfer));
  set(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // who aborts does not wait for a name server

  set(easy, CURLOPT_CURLU, request.url.get());
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, "");
  set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  set(easy, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&transfer));

  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options.authorities.empty()) {
    set(easy, CURLOPT_CAINFO, options.authorities.c_str());
    set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }

  set(easy, CURLOPT_HTTPHEADER, request.headers.get());
  if (request.has_body) {
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(easy, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
  } else if (request.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
  } else if (request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t{0});  // says that there is nothing
    set(easy, CURLOPT_POSTFIELDS, "");
  }
  set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());

  set(easy, CURLOPT_HEADERFUNCTION, take_header);
  set(easy, CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(easy, CURLOPT_WRITEFUNCTION, take_body);
  set(easy, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  // No CURLOPT_MAXFILESIZE: it goes by what is said of a body, also where none will come. What
  // does come is counted.
  const std::uint64_t limit_ms = std::max<std::uint64_t>(1, request.time_limit_ns / kMillisecond);
  set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(std::min<std::uint64_t>(limit_ms, INT_MAX)));
}

Receipt failure_of(const Transfer& transfer, CURLcode code) {
  const HttpRequest& request = transfer.request;
  if (code == CURLE_OPERATION_TIMEDOUT)
    return timed_out("http.timeout", request.host + " had not answered after " +
                                         std::to_string(request.time_limit_ns / kMillisecond) +
                                         " ms");
  if (transfer.response.is_too_large())
    return failed("http.too_large", request.host + " answered with more than " +
                                        std::to_string(request.response_bytes) +
                                        " bytes, or with too many headers");
  if (code == CURLE_COULDNT_CONNECT && !transfer.refused_address.empty())
    return failed("http.address_refused", request.host + " has the address " +
                                              transfer.refused_address +
                                              ", which is not a public one");
  std::string message(transfer.error.data());
  if (message.empty()) message = curl_easy_strerror(code);
  mask(message, request.secrets);
  message = request.host + ": " + message;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return failed("http.resolve", message, Retry::kMayHelp);
    case CURLE_COULDNT_CONNECT: return failed("http.connect", message, Retry::kMayHelp);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER: return failed("http.tls", message);
    case CURLE_SSL_CONNECT_ERROR: return failed("http.tls", message, Retry::kMayHelp);
    default: return failed("http.transfer", message, Retry::kMayHelp);
  }
}

class HttpPerformer : public Performer {
 public:
  HttpPerformer(const HttpOptions& options, const HttpNeeds& needs,
                std::unique_ptr<CURLM, FreeMulti> multi)
      : options_(options), needs_(needs), multi_(std::move(multi)) {}
  ~HttpPerformer() override { abort_all(); }

  void perform(Desk& desk) override;
  void wake() noexcept override { curl_multi_wakeup(multi_.get()); }
  std::string share_of(const kernel::OpenIntent& intent) const override {
    return http_destination(intent);
  }
  std::optional<std::uint64_t> time_limit_ns(const kernel::OpenIntent& intent) const override {
    return asked_time_limit_ns(intent);
  }
  bool ends_late() const override { return true; }

 private:
  std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, needs_.clock.wall_ns()));
  }
  void begin(kernel::OpenIntent intent, Desk& desk);
  void abort(const base::Hash& intent, Desk& desk);
  void end_late(const base::Hash& intent, Desk& desk);
  void abort_all() noexcept;
  bool finish_some(Desk& desk);
  Receipt receipt_of(Transfer& transfer, CURLcode code);
  void remove(Transfer* transfer);

  const HttpOptions options_;
  const HttpNeeds needs_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::list<Transfer> transfers_;
};

void HttpPerformer::perform(Desk& desk) {
  while (true) {
    Orders orders = desk.take(options_.queue.at_once - transfers_.size());
    if (orders.end) return abort_all();
    for (kernel::OpenIntent& intent : orders.starts) begin(std::move(intent), desk);
    for (const base::Hash& stopped : orders.stops) abort(stopped, desk);
    for (const base::Hash& late : orders.late) end_late(late, desk);
    int running = 0;
    if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return abort_all();
    if (finish_some(desk)) continue;  // there is room for others
    if (curl_multi_poll(multi_.get(), nullptr, 0, INT_MAX, nullptr) != CURLM_OK) return abort_all();
  }
}

void HttpPerformer::begin(kernel::OpenIntent intent, Desk& desk) {
  const base::Hash name = intent.intent;
  auto request = read_http_request(intent, options_, needs_);
  if (!request) return desk.done(name, failed("http.params", request.error()));
  const AllowedHost* const allowed = find_allowed(options_.hosts, request->host, request->port);
  if (allowed == nullptr)
    return desk.done(name,
                     failed("http.host_refused", "this node sends no requests to " + request->host +
                                                     " at port " + std::to_string(request->port)));
  Transfer& transfer =
      transfers_.emplace_back(std::move(intent), std::move(*request), allowed->private_addresses);
  transfer.started_at_ns = now_ns();
  transfer.easy.reset(curl_easy_init());
  if (transfer.easy == nullptr) {
    transfers_.pop_back();
    return desk.done(name, failed("http.transfer", "no memory", Retry::kMayHelp));
  }
  set_up(transfer, options_);
  CHECK(curl_multi_add_handle(multi_.get(), transfer.easy.get()) == CURLM_OK);
}

void HttpPerformer::abort(const base::Hash& intent, Desk& desk) {
  for (Transfer& transfer : transfers_) {
    if (transfer.intent.intent != intent) continue;
    remove(&transfer);
    break;
  }
  desk.done(intent, {});  // nobody hears of it
}

// One that has just ended by itself is not here any more.
void HttpPerformer::end_late(const base::Hash& intent, Desk& desk) {
  for (Transfer& transfer : transfers_) {
    if (transfer.intent.intent != intent) continue;
    const Receipt receipt = failure_of(transfer, CURLE_OPERATION_TIMEDOUT);
    remove(&transfer);
    return desk.done(intent, receipt);
  }
}

void HttpPerformer::abort_all() noexcept {
  for (const Transfer& transfer : transfers_)
    curl_multi_remove_handle(multi_.get(), transfer.easy.get());
  transfers_.clear();
}

void HttpPerformer::remove(Transfer* transfer) {
  curl_multi_remove_handle(multi_.get(), transfer->easy.get());
  transfers_.remove_if([&](const Transfer& one) { return &one == transfer; });
}

bool HttpPerformer::finish_some(Desk& desk) {
  bool any = false;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* of = nullptr;
    CHECK(curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &of) == CURLE_OK);
    auto* const transfer = static_cast<Transfer*>(of);
    const base::Hash intent = transfer->intent.intent;
    const Receipt receipt = receipt_of(*transfer, code);
    remove(transfer);
    desk.done(intent, receipt);
    any = true;
  }
  return any;
}

Receipt HttpPerformer::receipt_of(Transfer& transfer, CURLcode code) {
  if (code != CURLE_OK) return failure_of(transfer, code);
  long status = 0;
  CHECK(curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status) == CURLE_OK);
  transfer.response.hide(transfer.request.secrets);
  const HttpResponse::Times times{transfer.started_at_ns, now_ns()};
  if (!transfer.request.answers_by_blob) return transfer.response.receipt(status, times);
  if (needs_.blobs == nullptr) return failed("http.blob", "this node has no blobs");
  return transfer.response.receipt_by_blob(status, times, *needs_.blobs);
}

base::Result<void> check(const HttpOptions& options) {
  if (options.queue.at_once == 0) return base::invalid("http", "none at once is too few");
  if (options.response_bytes > kMaxResponseBytes)
    return base::invalid("http", "a receipt cannot hold a response of that size");
  for (const AllowedHost& host : options.hosts) {
    const bool has_upper = std::any_of(host.name.begin(), host.name.end(),
                                       [](char c) { return c >= 'A' && c <= 'Z'; });
    if (host.name.empty() || has_upper || host.name.find_first_of("[]/@ ") != std::string::npos)
      return base::invalid("http", "'" + host.name + "' is not a host that could be allowed");
  }
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Executor>> http_executor(const HttpOptions& options,
                                                      const HttpNeeds& needs) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK)
    return base::Error(base::ErrorCode::kUnavailable, "http", curl_easy_strerror(global));
  TRY(check(options));
  std::unique_ptr<CURLM, FreeMulti> multi(curl_multi_init());
  if (multi == nullptr) return base::Error(base::ErrorCode::kUnavailable, "http", "no memory");
  CHECK(curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS,
                          static_cast<long>(options.queue.at_once)) == CURLM_OK);
  return std::unique_ptr<Executor>(std::make_unique<ThreadExecutor>(
      std::make_unique<HttpPerformer>(options, needs, std::move(multi)), options.queue.waiting));
}

}  // namespace holdfast::executors
