// SPDX-License-Identifier: Apache-2.0
#include "gateway/exchange.h"

#include <charconv>

#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "gateway/append.h"
#include "gateway/body.h"

namespace holdfast::gateway {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kCbor = "application/cbor";
constexpr std::string_view kProblem = "application/problem+json";
constexpr std::string_view kEventStream = "text/event-stream";

// How soon a reader whose connection is lost should come again, in ms.
constexpr std::string_view kComeAgain = "retry: 1000\n\n";

// What is kept of an answer's memory from one request to the next.
constexpr std::size_t kKeptAnswerBytes = std::size_t{64} << 10;

// A body beyond this is sent in parts.
constexpr std::size_t kLargeBytes = std::size_t{64} << 10;

// An answer up to this is given whatever waits: it is no more than the connection itself takes.
constexpr std::size_t kSmallBytes = std::size_t{4} << 10;

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 202: return "Accepted";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "";
  }
}

void reuse(codec::Buffer& buffer) {
  if (buffer.size() > kKeptAnswerBytes) buffer = codec::Buffer();
  buffer.clear();
}

bool wants_cbor(const Request& request) {
  return request.field(Field::kAccept).find(kCbor) != std::string_view::npos;
}

std::string methods_of(std::uint8_t methods) {
  std::string text;
  for (const Method method : {Method::kGet, Method::kPost, Method::kPut, Method::kDelete}) {
    if ((unsigned{methods} >> static_cast<unsigned>(method) & 1u) == 0) continue;
    text.append(text.empty() ? "" : ", ").append(name_of(method));
    if (method == Method::kGet) text += ", HEAD";
  }
  return text;
}

}  // namespace

bool Exchange::begin(const Request& request) {
  ++number_;
  begun_ = std::chrono::steady_clock::now();
  request_ = &request;
  route_ = nullptr;
  is_answered_ = false;
  leaves_connection_ = true;
  reuse(document_);
  reuse(body_);
  large_.reset();
  more_fields_.clear();
  caching_ = kNotCached;
  answer_account_.clear();
  refused_ = {};
  if (const auto parsed = target_.parse(request.target); !parsed) {
    refuse({ProblemCode::kBadTarget, parsed.error().message()});
    return false;
  }
  const Found found = find_route(request.method, target_, values_);
  if (found.route == nullptr && found.methods != 0) {
    add_field("Allow", methods_of(found.methods));
    refuse({ProblemCode::kMethod, "it has " + methods_of(found.methods)});
    return false;
  }
  if (found.route == nullptr) {
    const bool names_instance = request.target.starts_with("/v1/instances/");
    refuse({ProblemCode::kNoRoute,
            names_instance ? "a key that has a slash is written with %2F, as in "
                             "/v1/instances/shop/Order@1/a%2Fb; GET /openapi.json lists "
                             "the routes"
                           : "GET /openapi.json says what there is"});
    return false;
  }
  route_ = found.route;
  return true;
}

void Exchange::handle() {
  for (std::size_t i = 0; i < target_.parameters(); ++i) {
    bool is_known = false;
    for (const QueryParameter& known : route_->query) is_known |= known.name == target_.name(i);
    if (!is_known)
      return refuse({ProblemCode::kBadTarget, "there is no parameter '" + target_.name(i) + "'"});
  }
  if (!request_->field(Field::kContentEncoding).empty())
    return refuse({ProblemCode::kMediaType, "a body that is encoded is not taken"});
  // Many who have nothing to say to a POST say it as an empty object.
  if (route_->takes == Takes::kNothing && !request_->body.empty() && !read_body(*this, {})) return;
  service_.refresh();
  route_->handle(*this);
}

void Exchange::refuse_before(const Problem& problem) {
  ++number_;
  begun_ = std::chrono::steady_clock::now();
  request_ = nullptr;
  route_ = nullptr;
  more_fields_.clear();
  caching_ = kNotCached;
  leaves_connection_ = false;
  refuse(problem);
}

void Exchange::write_body() {
  reuse(body_);
  if (request_ != nullptr && wants_cbor(*request_)) {
    codec::Normaliser normaliser;
    if (const auto made = normaliser.from_cbor(codec::Schema::item(), document_.view(),
                                               codec::Strictness::kLenient)) {
      type_ = kCbor;
      return body_.append(*made);
    }
  }
  type_ = kJson;
  if (document_.size() > kLargeBytes) {
    large_ = std::make_unique<LargeBody>(std::exchange(document_, codec::Buffer()),
                                         LargeBody::Form::kJsonOfCbor);
    return;
  }
  codec::write_json(body_, codec::View::of(document_.view()));
}

void Exchange::hold_large_body() {
  if (large_ != nullptr || body_.size() <= kLargeBytes) return;
  large_ =
      std::make_unique<LargeBody>(std::exchange(body_, codec::Buffer()), LargeBody::Form::kBytes);
}

bool Exchange::has_room_for(std::size_t bytes) {
  if (bytes <= kSmallBytes) return true;
  if (answer_account_.empty() && request_ != nullptr) answer_account_ = account();
  if (service_.fits(bytes, answer_account_)) return true;
  return service_.make_room && service_.make_room(bytes, answer_account_);
}

void Exchange::refuse_for_room(std::size_t bytes) {
  refuse({ProblemCode::kFull, service_.fits(bytes, {}) ? "too much waits to be sent with this token"
                                                       : "too much waits to be sent to clients"});
}

std::string Exchange::account() const {
  if (route_ != nullptr && route_->role == Role::kEnrolled) return "worker " + path_value(0);
  return caller().token;
}

void Exchange::answer(unsigned status) {
  if (!has_room_for(document_.size())) {
    const std::size_t bytes = document_.size();
    reuse(document_);
    return refuse_for_room(bytes);
  }
  status_ = status;
  write_body();
  hold_large_body();
  finish();
}

void Exchange::answer_text(unsigned status, std::string_view type, std::string_view text) {
  status_ = status;
  type_ = type;
  reuse(body_);
  if (!has_room_for(text.size())) return refuse_for_room(text.size());
  append(body_, text);
  hold_large_body();
  finish();
}

void Exchange::refuse(const Problem& problem) {
  ++service_.traffic.problems;
  const ProblemKind& kind = kind_of(problem.code);
  if (kind.status == 401) add_field("WWW-Authenticate", "Bearer realm=\"holdfast\"");
  if (kind.status == 429 || kind.status == 503) add_field("Retry-After", "1");
  document_.clear();
  write_document(document_, problem);
  large_.reset();
  reuse(body_);
  codec::write_json(body_, codec::View::of(document_.view()));
  type_ = kProblem;
  status_ = kind.status;
  ++service_.traffic.refused[kind.name];
  refused_ = kind.name;
  refused_detail_ = problem.path.empty() ? problem.detail : problem.path + ": " + problem.detail;
  finish();
}

Problem Exchange::problem_for(const Error& error, ProblemCode unreadable) {
  Problem problem = problem_of(error, service_.engine.condition());
  const bool is_storage =
      problem.code == ProblemCode::kStorage || problem.code == ProblemCode::kInternal;
  if (!is_storage && !error.names_files) return problem;
  // Places on our disk are nobody else's affair.
  if (service_.log) service_.log("a request failed: " + error.message);
  if (is_storage && unreadable != ProblemCode::kInternal) problem.code = unreadable;
  problem.detail = "the log of the server says more";
  return problem;
}

void Exchange::refuse(const Error& error, ProblemCode unreadable) {
  refuse(problem_for(error, unreadable));
}

bool Exchange::takes_place_of_stream() {
  const Limits& limits = service_.limits;
  std::string token = caller().token;
  if (service_.traffic.streams >= limits.streams) {
    refuse({ProblemCode::kTooManyStreams,
            std::to_string(limits.streams) + " streams are read already"});
    return false;
  }
  std::uint64_t& of_token = service_.streams_of[token];
  if (!token.empty() && of_token >= limits.streams_of_token) {
    refuse({ProblemCode::kTooManyStreams,
            std::to_string(limits.streams_of_token) + " streams are read with this token"});
    return false;
  }
  ++of_token;
  ++service_.traffic.streams;
  place_of_stream_ = std::move(token);
  return true;
}

void Exchange::leave_place_of_stream() noexcept {
  if (!place_of_stream_) return;
  --service_.traffic.streams;
  const auto of_token = service_.streams_of.find(*place_of_stream_);
  if (--of_token->second == 0) service_.streams_of.erase(of_token);
  place_of_stream_.reset();
}

void Exchange::begin_events(std::shared_ptr<EventSource> source) {
  status_ = 200;
  type_ = kEventStream;
  source_ = std::move(source);
  is_asking_ = true;  // what the source has now comes as if it had been asked
  has_ended_ = false;
  leaves_connection_ = false;
  reuse(body_);
  events_.clear();
  append(events_, kComeAgain);
  finish();
}

void Exchange::events_are_there() {
  if (has_ended_) return;
  is_asking_ = false;
  // The source has nothing to say just yet, but may be asked again.
  if (events_.size() == 0) return ask_for_events();
  wake_reader();
}

void Exchange::end_events() {
  has_ended_ = true;
  wake_reader();
}

void Exchange::fail_events(const Error& error, ProblemCode unreadable) {
  if (has_ended_) return;
  write_problem_event(events_, problem_for(error, unreadable));
  end_events();
}

void Exchange::ask_for_events() {
  if (has_ended_ || std::exchange(is_asking_, true)) return;
  source_->next(*this);
}

void Exchange::say_that_it_lives() {
  write_comment(events_, "still there");
  wake_reader();
}

void Exchange::break_off() {
  if (!goes_on()) return;
  source_->stop();
  end_events();
}

void Exchange::give_up() {
  if (is_answered_) return;
  forget();
  if (const auto stop = std::exchange(stop_, nullptr)) stop();
  leaves_connection_ = false;
  is_answered_ = true;
  wake_reader();
}

void Exchange::revoke(const Problem& problem) {
  if (is_answered_ || request_ == nullptr) return;
  forget();
  if (const auto stop = std::exchange(stop_, nullptr)) stop();
  refuse(problem);
}

void Exchange::release_memory() {
  document_ = codec::Buffer();
  body_ = codec::Buffer();
  events_ = codec::Buffer();
  more_fields_ = {};
  target_ = {};
  values_ = {};
}

void Exchange::let_go() noexcept {
  ++number_;
  is_let_go_ = true;
  request_ = nullptr;
  waiter_ = nullptr;
  if (const auto stop = std::exchange(stop_, nullptr)) stop();
  if (goes_on()) std::exchange(source_, nullptr)->stop();
  leave_place_of_stream();
}

void Exchange::wake_reader() {
  if (auto waiter = std::exchange(waiter_, nullptr)) waiter.resume();
}

bool Exchange::wants_events() const noexcept {
  return request_->field(Field::kAccept).find(kEventStream) != std::string_view::npos;
}

void Exchange::add_field(std::string_view name, std::string_view value) {
  more_fields_.append(name).append(": ").append(value).append("\r\n");
}

std::optional<std::uint64_t> Exchange::number_in_query(std::string_view name,
                                                       std::uint64_t otherwise,
                                                       std::uint64_t most) {
  const std::string* text = target_.find(name);
  if (text == nullptr) return otherwise;
  std::uint64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec == std::errc() && read.ptr == end && number <= most) return number;
  refuse({ProblemCode::kBadTarget,
          "'" + std::string(name) + "' must be a number up to " + std::to_string(most)});
  return std::nullopt;
}

std::optional<std::uint64_t> Exchange::limit_in_query(std::uint64_t otherwise, std::uint64_t most) {
  const auto limit = number_in_query("limit", otherwise, most);
  if (!limit || *limit != 0) return limit;
  refuse({ProblemCode::kBadTarget, "'limit' must be from 1 to " + std::to_string(most)});
  return std::nullopt;
}

const std::string& Exchange::text_in_query(std::string_view name) const {
  static const std::string nothing;
  const std::string* text = target_.find(name);
  return text == nullptr ? nothing : *text;
}

Bytes Exchange::trace() const {
  const auto trace = base::TraceContext::parse(request_->field(Field::kTraceparent));
  return trace ? trace->to_bytes() : Bytes();
}

std::optional<Bytes> Exchange::key_in_path() {
  auto key = service_.definitions.key_of(path_value(0), path_value(1));
  if (key) return std::move(*key);
  refuse_key(key.error());
  return std::nullopt;
}

std::optional<std::vector<Bytes>> Exchange::keys_in_path() {
  auto keys = service_.definitions.keys_of(path_value(0), path_value(1));
  if (keys) return std::move(*keys);
  refuse_key(keys.error());
  return std::nullopt;
}

void Exchange::refuse_key(const base::Error& error) {
  refuse(error.code() == base::ErrorCode::kNotFound
             ? Problem{ProblemCode::kNotFound, error.message()}
             : Problem{ProblemCode::kInternal, error.to_string()});
}

// A client's mistakes are told, too: they may be an attack, or a program that was not tested.
void Exchange::log_request(std::uint64_t took_ns) const {
  const bool is_refused = status_ >= 400;
  if (request_ == nullptr || (!is_refused && !service_.logs_requests)) return;
  const std::string_view path = request_->target.substr(0, request_->target.find('?'));
  LogLine line{LogLevel::kInfo, is_refused ? "request.refused" : "request",
               is_refused ? "a request was refused" : "a request was answered"};
  if (status_ >= 500) line.level = LogLevel::kWarning;
  line.fields = {{"method", name_of(request_->method)},
                 {"path", path.substr(0, 200)},
                 {"status", status_},
                 {"took_us", took_ns / 1000}};
  if (is_refused && !refused_.empty()) {
    line.fields.emplace_back("code", refused_);
    line.fields.emplace_back("detail", std::string_view(refused_detail_).substr(0, 200));
  }
  if (const std::string by = asked_by(); !by.empty()) line.fields.emplace_back("by", by);
  service_.log_lines(line);
}

void Exchange::finish() {
  is_answered_ = true;
  stop_ = nullptr;
  if (!goes_on()) leave_place_of_stream();
  const auto took = std::chrono::steady_clock::now() - begun_;
  service_.routes.add(route_, status_, static_cast<std::uint64_t>(took.count()));
  if (service_.log_lines) log_request(static_cast<std::uint64_t>(took.count()));
  wake_reader();
}

void Exchange::write(codec::Buffer& out, std::string_view date, bool closes) const {
  append(out, "HTTP/1.1 ");
  append(out, status_);
  append(out, " ");
  append(out, reason_of(status_));
  append(out, "\r\nDate: ");
  append(out, date);
  append(out, "\r\nContent-Type: ");
  append(out, type_);
  if (!goes_on() && status_ != 304 && status_ != 204) {
    append(out, "\r\nContent-Length: ");
    append(out, large_ ? large_->size() : body_.size());
  }
  append(out, "\r\nCache-Control: ");
  append(out, caching_);
  append(out, "\r\nX-Content-Type-Options: nosniff\r\n");
  append(out, more_fields_);
  append(out, closes ? "Connection: close\r\n\r\n" : "\r\n");
  if (request_ == nullptr || request_->method != Method::kHead) out.append(body_.view());
}

}  // namespace holdfast::gateway
