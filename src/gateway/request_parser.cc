// SPDX-License-Identifier: Apache-2.0
#include "gateway/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::gateway {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

// What is kept of a body's memory from one request to the next.
constexpr std::size_t kKeptBodyBytes = std::size_t{64} << 10;

constexpr std::size_t kMaxFields = 100;
constexpr std::size_t kMaxTargetBytes = std::size_t{8} << 10;

// Names that Beast has no number for.
constexpr std::pair<std::string_view, Field> kNamed[] = {
    {"idempotency-key", Field::kIdempotencyKey},
    {"traceparent", Field::kTraceparent},
    {"last-event-id", Field::kLastEventId},
    {"ce-specversion", Field::kCeSpecVersion},
    {"ce-id", Field::kCeId},
    {"ce-source", Field::kCeSource},
    {"ce-type", Field::kCeType},
};

std::optional<Field> field_of(http::field number, string_view name) {
  switch (number) {
    case http::field::host: return Field::kHost;
    case http::field::content_type: return Field::kContentType;
    case http::field::content_encoding: return Field::kContentEncoding;
    case http::field::accept: return Field::kAccept;
    case http::field::authorization: return Field::kAuthorization;
    case http::field::origin: return Field::kOrigin;
    default: break;
  }
  for (const auto& [known, field] : kNamed)
    if (boost::beast::iequals(name, string_view(known.data(), known.size()))) return field;
  return std::nullopt;
}

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::kGet;
    case http::verb::head: return Method::kHead;
    case http::verb::post: return Method::kPost;
    case http::verb::put: return Method::kPut;
    case http::verb::delete_: return Method::kDelete;
    default: return Method::kOther;
  }
}

bool is_decimal(string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

enum class HeaderBytes : std::uint8_t { kMore, kWhole, kRefused };

// Looks at the bytes of a header as they were written, from `from` on, before anybody takes them
// apart. What some readers pass over and others do not is refused at once: lines that end with one
// character, lines that go on in the next one, control characters. `size` is that of a whole one.
HeaderBytes look_at(std::string_view bytes, std::size_t from, std::size_t& size, const char*& why) {
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const bool begins_line = i >= 2 && bytes[i - 2] == '\r' && bytes[i - 1] == '\n';
    if (byte > 0x20 && byte != 0x7f && (i == 0 || bytes[i - 1] != '\r')) continue;
    if (byte == '\n' && i != 0 && bytes[i - 1] == '\r') {
      size = i + 1;
      if (i >= 3 && bytes[i - 3] == '\r' && bytes[i - 2] == '\n') return HeaderBytes::kWhole;
      continue;
    }
    if (byte == '\n' || (i != 0 && bytes[i - 1] == '\r')) {
      why = "a line does not end as lines do";
      return HeaderBytes::kRefused;
    }
    if (begins_line && (byte == ' ' || byte == '\t')) {
      why = "a field goes on in a second line";
      return HeaderBytes::kRefused;
    }
    if (byte != ' ' && byte != '\t' && byte != '\r') {
      why = "there is a control character";
      return HeaderBytes::kRefused;
    }
  }
  return HeaderBytes::kMore;
}

// Beast reads; this keeps what we want of it, and refuses more.
class Reader final : public http::basic_parser<true> {
 public:
  Reader(const Limits& limits, std::string& text, std::string& body) : text_(text), body_(body) {
    header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    body_limit(limits.body_bytes);
    eager(true);
    text_.clear();
    body_.clear();
    if (body_.capacity() > kKeptBodyBytes) body_.shrink_to_fit();
  }

  Request request;
  std::optional<Problem> problem;
  bool expects_continue = false;

 private:
  void refuse(ProblemCode code, std::string detail, error_code& error) {
    problem = Problem{code, std::move(detail)};
    error = http::error::bad_value;
  }

  // A place in `text_`, which grows until the header is whole.
  struct Place {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  Place keep(string_view text) {
    text_.append(text.data(), text.size());
    return {text_.size() - text.size(), text.size()};
  }
  std::string_view at(Place place) const { return {text_.data() + place.begin, place.size}; }

  void on_request_impl(http::verb method, string_view, string_view target, int version,
                       error_code& error) override {
    if (version != 10 && version != 11)
      return refuse(ProblemCode::kVersion, "this version is not spoken here", error);
    if (target.size() > kMaxTargetBytes)
      return refuse(ProblemCode::kTargetTooLong, "more than 8192 bytes", error);
    request.method = method_of(method);
    request.minor_version = static_cast<unsigned>(version - 10);
    target_ = keep(target);
  }

  void on_field_impl(http::field number, string_view name, string_view value,
                     error_code& error) override {
    if (is_header_whole_)
      return refuse(ProblemCode::kMalformed, "fields behind the body are not taken", error);
    if (++field_count_ > kMaxFields)
      return refuse(ProblemCode::kHeaderTooLarge, "more than 100 fields", error);
    if (number == http::field::content_length) {
      if (std::exchange(has_length_, true) || !is_decimal(value))
        return refuse(ProblemCode::kMalformed, "Content-Length must be one number", error);
      return;
    }
    if (number == http::field::transfer_encoding) {
      if (std::exchange(has_coding_, true) || !boost::beast::iequals(value, "chunked"))
        return refuse(ProblemCode::kNotImplemented, "Transfer-Encoding can only be chunked", error);
      if (request.minor_version == 0)
        return refuse(ProblemCode::kMalformed, "HTTP/1.0 has no Transfer-Encoding", error);
      return;
    }
    if (number == http::field::expect) {
      if (!boost::beast::iequals(value, "100-continue"))
        return refuse(ProblemCode::kExpectation, "only 100-continue can be expected", error);
      expects_continue = true;
      return;
    }
    const auto field = field_of(number, name);
    if (!field) return;
    const auto index = static_cast<std::size_t>(*field);
    if (std::exchange(request.has[index], true) && field != Field::kAccept)
      return refuse(ProblemCode::kMalformed, "a field that can be there once is there twice",
                    error);
    places_[index] = keep(value);
  }

  void on_header_impl(error_code& error) override {
    if (has_length_ && has_coding_)
      return refuse(ProblemCode::kMalformed, "Content-Length and Transfer-Encoding", error);
    if (request.minor_version == 1 && !request.has_field(Field::kHost))
      return refuse(ProblemCode::kMalformed, "there is no Host", error);
    request.keep_alive = keep_alive();
    request.target = at(target_);
    for (std::size_t i = 0; i < kFields; ++i) request.fields[i] = at(places_[i]);
    is_header_whole_ = true;
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    if (length) body_.reserve(std::min<std::uint64_t>(*length, kKeptBodyBytes));
  }
  std::size_t on_body_impl(string_view bytes, error_code&) override {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view extension, error_code& error) override {
    if (!extension.empty())
      refuse(ProblemCode::kMalformed, "chunks with extensions are not taken", error);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) override {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(error_code&) override { request.body = body_; }
  void on_response_impl(int, string_view, int, error_code&) override {}

  std::string& text_;
  std::string& body_;
  Place target_;
  std::array<Place, kFields> places_{};
  std::size_t field_count_ = 0;
  bool is_header_whole_ = false;
  bool has_length_ = false;
  bool has_coding_ = false;
};

Problem problem_of(const error_code& error) {
  if (error == http::error::header_limit)
    return {ProblemCode::kHeaderTooLarge, "the header has too many bytes"};
  if (error == http::error::body_limit)
    return {ProblemCode::kTooLarge, "the body has too many bytes"};
  if (error == http::error::bad_version)
    return {ProblemCode::kVersion, "this version is not spoken here"};
  return {ProblemCode::kMalformed, error.message()};
}

}  // namespace

struct RequestParser::Body {
  explicit Body(const Limits& the_limits) : limits(the_limits) { begin(); }

  void begin() {
    reader.emplace(limits, text, content);
    state = State::kHeader;
    problem = {};
    looked_at = 0;
  }
  void refuse(Problem why) {
    problem = std::move(why);
    state = State::kRefused;
  }

  const Limits& limits;
  std::string text;     // of the header, as far as it is kept
  std::string content;  // the body
  std::optional<Reader> reader;
  State state = State::kHeader;
  Problem problem;
  std::size_t looked_at = 0;  // of the bytes of a header that is not whole
};

RequestParser::RequestParser(const Limits& limits) : body_(std::make_unique<Body>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

std::size_t RequestParser::take(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && body_->state <= State::kBody) {
    const std::string_view rest = bytes.substr(taken);
    // All of a header at once, so that it does not matter how its bytes were cut.
    if (body_->state == State::kHeader && !take_header(rest)) break;
    error_code error;
    const std::size_t count =
        body_->reader->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    taken += count;
    if (error && error != http::error::need_more) {
      body_->refuse(body_->reader->problem ? *body_->reader->problem : problem_of(error));
      break;
    }
    if (body_->reader->is_done()) {
      body_->state = State::kWhole;
    } else if (body_->reader->is_header_done()) {
      body_->state = State::kBody;
    } else {  // the header is whole, but not for somebody who looks for more of it
      body_->refuse({ProblemCode::kMalformed, "the first line is not whole"});
      break;
    }
    if (error == http::error::need_more || count == 0) break;
  }
  return taken;
}

// Whether it is whole.
bool RequestParser::take_header(std::string_view bytes) {
  const char* why = nullptr;
  std::size_t size = 0;
  const HeaderBytes found = look_at(bytes, body_->looked_at, size, why);
  body_->looked_at = bytes.size();
  if (found != HeaderBytes::kWhole) size = bytes.size();
  if (size > body_->limits.header_bytes) {
    body_->refuse({ProblemCode::kHeaderTooLarge, "the header has too many bytes"});
  } else if (found == HeaderBytes::kRefused) {
    body_->refuse({ProblemCode::kMalformed, why});
  }
  return found == HeaderBytes::kWhole && body_->state == State::kHeader;
}

RequestParser::State RequestParser::state() const noexcept { return body_->state; }
const Request& RequestParser::request() const noexcept { return body_->reader->request; }
const Problem& RequestParser::problem() const noexcept { return body_->problem; }
std::size_t RequestParser::body_size() const noexcept { return body_->content.size(); }
bool RequestParser::wants_continue() noexcept {
  return body_->state == State::kBody && std::exchange(body_->reader->expects_continue, false);
}
void RequestParser::begin_next() { body_->begin(); }

}  // namespace holdfast::gateway
