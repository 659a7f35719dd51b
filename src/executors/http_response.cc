// SPDX-License-Identifier: Apache-2.0
#include "executors/http_response.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/utf8.h"
#include "executors/http_fields.h"
#include "executors/mask.h"

namespace holdfast::executors {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// What is not UTF-8 is taken for Latin-1, in which every byte means something.
std::string as_utf8(std::string_view text) {
  if (codec::is_utf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) codec::append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

}  // namespace

bool HttpResponse::add_header_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // what came before was an interim response
    headers_.clear();
    header_bytes_ = 0;
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;  // the line that ends them
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    too_large_ = true;
    return false;
  }
  const std::string_view value = trimmed(line.substr(colon + 1));
  auto [at, is_new] = headers_.emplace(lower(trimmed(line.substr(0, colon))), value);
  // Cookies are the ones that hold commas of their own.
  if (!is_new) at->second.append(at->first == "set-cookie" ? "\n" : ", ").append(value);
  return true;
}

bool HttpResponse::add_body(std::string_view piece) {
  if (piece.size() > most_bytes_ - body_.size()) {
    too_large_ = true;
    return false;
  }
  body_.append(piece);
  return true;
}

void HttpResponse::hide(const std::vector<Secret>& secrets) {
  if (secrets.empty()) return;
  mask(body_, secrets);
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : headers_) {
    std::pair<std::string, std::string> hidden(name, value);
    mask(hidden.first, secrets);
    mask(hidden.second, secrets);
    headers.insert(std::move(hidden));
  }
  headers_ = std::move(headers);
}

// All but the body.
void HttpResponse::write_head(codec::Buffer& out, long status, const Times& times) const {
  codec::write_map_head(out, 4);
  codec::write_text(out, "status");
  codec::write_int(out, status);
  codec::write_text(out, "headers");
  std::map<std::string, std::string> texts;  // two names may become one
  for (const auto& [name, value] : headers_) texts.emplace(as_utf8(name), as_utf8(value));
  codec::write_map_head(out, texts.size());
  for (const auto& [name, value] : texts) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  }
  codec::write_text(out, "timings");
  codec::write_map_head(out, 2);
  codec::write_text(out, "start_ns");
  codec::write_nat(out, times.start_ns);
  codec::write_text(out, "end_ns");
  codec::write_nat(out, times.end_ns);
}

Receipt HttpResponse::receipt(long status, const Times& times) const {
  codec::Buffer out;
  write_head(out, status, times);  // sys/HttpRequestReceipt@2
  codec::write_text(out, "body");
  codec::write_bytes(out, base::as_bytes(body_));
  return succeeded(out);
}

Receipt HttpResponse::receipt_by_blob(long status, const Times& times, EffectBlobs& blobs) const {
  codec::Buffer out;
  write_head(out, status, times);  // sys/HttpRequestReceipt@1
  codec::write_text(out, "body_ref");
  if (body_.empty()) {
    codec::write_null(out);
    return succeeded(out);
  }
  const base::ByteView body = base::as_bytes(body_);
  auto pin = blobs.keep(body);
  if (!pin) return failed("http.blob", pin.error());
  codec::write_text(out, base::sha256(body).to_text());
  return succeeded(out, std::move(*pin));
}

}  // namespace holdfast::executors
