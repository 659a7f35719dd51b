// SPDX-License-Identifier: Apache-2.0
#include "gateway/target.h"

#include <algorithm>
#include <optional>

#include "codec/utf8.h"

namespace holdfast::gateway {
namespace {

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

base::Error bad(const char* message) { return base::invalid("target", message); }

base::Result<void> decode(std::string_view text, std::string& into) {
  into.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 1 < text.size() ? digit_of(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? digit_of(text[i + 2]) : std::nullopt;
      if (!high || !low) return bad("'%' is not followed by two hexadecimal digits");
      c = static_cast<char>(*high << 4 | *low);
      i += 2;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return bad("there is a control character");
    into += c;
  }
  if (!codec::is_utf8(into)) return bad("it is not UTF-8");
  return {};
}

}  // namespace

base::Result<void> Target::parse(std::string_view target) {
  segment_count_ = parameter_count_ = 0;
  if (!target.starts_with('/')) return bad("it does not begin with '/'");
  if (target.find('#') != std::string_view::npos) return bad("a fragment is not for servers");
  const std::size_t mark = target.find('?');
  TRY(parse_path(target.substr(1, mark == std::string_view::npos ? mark : mark - 1)));
  if (mark == std::string_view::npos) return {};
  return parse_query(target.substr(mark + 1));
}

base::Result<void> Target::parse_path(std::string_view path) {
  if (path.empty()) return {};
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t slash = std::min(path.find('/', begin), path.size());
    if (segment_count_ == kMaxSegments) return bad("the path has too many parts");
    std::string& segment = segments_[segment_count_++];
    TRY(decode(path.substr(begin, slash - begin), segment));
    if (segment.empty()) return bad("a part of the path is empty");
    if (segment == "." || segment == "..") return bad("the path has dots in it");
    begin = slash + 1;
  }
  return {};
}

base::Result<void> Target::parse_query(std::string_view query) {
  if (query.empty()) return {};
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view part = query.substr(begin, end - begin);
    const std::size_t equals = std::min(part.find('='), part.size());
    if (parameter_count_ == kMaxParameters) return bad("the query has too many parameters");
    Parameter& parameter = parameters_[parameter_count_];
    TRY(decode(part.substr(0, equals), parameter.name));
    TRY(decode(equals < part.size() ? part.substr(equals + 1) : "", parameter.value));
    if (parameter.name.empty()) return bad("a parameter has no name");
    if (find(parameter.name) != nullptr) return bad("a parameter is there twice");
    ++parameter_count_;
    begin = end + 1;
  }
  return {};
}

std::optional<AbsoluteTarget> split_absolute(std::string_view target) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    const auto is_the_same = [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
    };
    if (target.size() < scheme.size() ||
        !std::equal(scheme.begin(), scheme.end(), target.begin(),
                    [&](char b, char a) { return is_the_same(a, b); }))
      continue;
    target.remove_prefix(scheme.size());
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    AbsoluteTarget found{target.substr(0, end), target.substr(end)};
    if (found.authority.find('@') != std::string_view::npos) found.authority = {};
    return found;
  }
  return std::nullopt;
}

const std::string* Target::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < parameter_count_; ++i)
    if (parameters_[i].name == name) return &parameters_[i].value;
  return nullptr;
}

}  // namespace holdfast::gateway
