// SPDX-License-Identifier: Apache-2.0
#include "gateway/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <string>
#include <utility>

#include "gateway/chunk_reader.h"
#include "gateway/target.h"

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
    case http::field::accept_encoding: return Field::kAcceptEncoding;
    case http::field::if_none_match: return Field::kIfNoneMatch;
    case http::field::authorization: return Field::kAuthorization;
    case http::field::origin: return Field::kOrigin;
    default: break;
  }
  for (const auto& [known, field] : kNamed)
    if (boost::beast::iequals(name, string_view(known.data(), known.size()))) return field;
  return std::nullopt;
}

// Lists: the last line counts.
bool may_be_repeated(Field field) {
  return field == Field::kAccept || field == Field::kAcceptEncoding || field == Field::kIfNoneMatch;
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

// Beast reads the header; this keeps what we want of it, and refuses more. Bodies are read here, as
// Beast asserts what a client can break: that no chunk is cut behind the first bytes of its last
// line.
class Reader final : public http::basic_parser<true> {
 public:
  Reader(const Limits& limits, std::string& text) : text_(text) {
    header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    body_limit(limits.body_bytes);
    eager(false);
    text_.clear();
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
  Place place_of(std::string_view kept) const {
    return {static_cast<std::size_t>(kept.data() - text_.data()), kept.size()};
  }

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
    if (++field_count_ > kMaxFields)
      return refuse(ProblemCode::kHeaderTooLarge, "more than 100 fields", error);
    if (number == http::field::content_length) {
      if (std::exchange(has_length_, true) || !is_decimal(value))
        return refuse(ProblemCode::kMalformed, "Content-Length must be one number", error);
      request.has_body = value.find_first_not_of('0') != string_view::npos;
      return;
    }
    if (number == http::field::transfer_encoding) {
      if (std::exchange(has_coding_, true) || !boost::beast::iequals(value, "chunked"))
        return refuse(ProblemCode::kNotImplemented, "Transfer-Encoding can only be chunked", error);
      if (request.minor_version == 0)
        return refuse(ProblemCode::kMalformed, "HTTP/1.0 has no Transfer-Encoding", error);
      request.has_body = true;
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
    if (std::exchange(request.has[index], true) && !may_be_repeated(*field))
      return refuse(ProblemCode::kMalformed, "a field that can be there once is there twice",
                    error);
    places_[index] = keep(value);
  }

  void on_header_impl(error_code& error) override {
    if (has_length_ && has_coding_)
      return refuse(ProblemCode::kMalformed, "Content-Length and Transfer-Encoding", error);
    if (request.minor_version == 1 && !request.has_field(Field::kHost))
      return refuse(ProblemCode::kMalformed, "there is no Host", error);
    if (const auto absolute = split_absolute(at(target_))) {
      if (absolute->authority.empty())
        return refuse(ProblemCode::kMalformed, "the target names no host", error);
      constexpr auto kHost = static_cast<std::size_t>(Field::kHost);
      request.has[kHost] = true;
      places_[kHost] = place_of(absolute->authority);
      // A path must be there, also where none is written: a slash, and then the query.
      const std::string path =
          (absolute->rest.starts_with('/') ? "" : "/") + std::string(absolute->rest);
      target_ = keep(path);
    }
    request.keep_alive = keep_alive();
    request.target = at(target_);
    for (std::size_t i = 0; i < kFields; ++i) request.fields[i] = at(places_[i]);
  }

  // Never called: it is not asked for bodies.
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, string_view, int, error_code&) override {}

  std::string& text_;
  Place target_;
  std::array<Place, kFields> places_{};
  std::size_t field_count_ = 0;
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
    reader.emplace(limits, text);
    chunks.reset();
    content.clear();
    if (content.capacity() > kKeptBodyBytes) content.shrink_to_fit();
    state = State::kHeader;
    problem = {};
    looked_at = 0;
    left = 0;
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
  std::size_t looked_at = 0;          // of the bytes of a header that is not whole
  std::optional<ChunkReader> chunks;  // of a body that has some
  std::uint64_t left = 0;             // of one that has a length
};

RequestParser::RequestParser(const Limits& limits) : body_(std::make_unique<Body>(limits)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

std::size_t RequestParser::take(std::string_view bytes) {
  std::size_t taken = 0;
  // All of a header at once, so that it does not matter how its bytes were cut.
  if (body_->state == State::kHeader && take_header(bytes)) taken = read_header(bytes);
  if (body_->state == State::kBody) taken += take_body(bytes.substr(taken));
  return taken;
}

std::size_t RequestParser::read_header(std::string_view bytes) {
  Body& body = *body_;
  error_code error;
  const std::size_t count =
      body.reader->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) {
    body.refuse(body.reader->problem ? *body.reader->problem : problem_of(error));
  } else if (!body.reader->is_header_done()) {
    // The header is whole, but not for somebody who looks for more of it.
    body.refuse({ProblemCode::kMalformed, "the first line is not whole"});
  } else if (body.reader->chunked()) {
    body.chunks.emplace();
    body.state = State::kBody;
  } else {
    const auto length = body.reader->content_length();
    body.left = length ? *length : 0;
    body.content.reserve(std::min<std::uint64_t>(body.left, kKeptBodyBytes));
    body.state = body.left == 0 ? State::kWhole : State::kBody;
  }
  return count;
}

std::size_t RequestParser::take_body(std::string_view bytes) {
  Body& body = *body_;
  std::size_t count = 0;
  if (body.chunks) {
    count = body.chunks->take(bytes, body.content, body.limits.body_bytes);
    if (const char* const why = body.chunks->problem()) {
      const bool is_too_large = body.chunks->is_too_large();
      body.refuse({is_too_large ? ProblemCode::kTooLarge : ProblemCode::kMalformed, why});
      return count;
    }
    if (!body.chunks->is_whole()) return count;
  } else {
    count = static_cast<std::size_t>(std::min<std::uint64_t>(body.left, bytes.size()));
    body.content.append(bytes.substr(0, count));
    body.left -= count;
    if (body.left != 0) return count;
  }
  body.reader->request.body = body.content;
  body.state = State::kWhole;
  return count;
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
void RequestParser::release_memory() {
  body_->text.shrink_to_fit();
  body_->content.clear();
  body_->content.shrink_to_fit();
}

}  // namespace holdfast::gateway
