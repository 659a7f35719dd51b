// SPDX-License-Identifier: Apache-2.0
#include "gateway/media.h"

#include <algorithm>

namespace holdfast::gateway {
namespace {

bool is(std::string_view given, std::string_view type) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(given, type, {}, lower);
}

}  // namespace

Media media_of(const Request& request) noexcept {
  std::string_view type = request.field(Field::kContentType);
  if (type.empty() && request.body.empty()) return Media::kJson;
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  if (is(type, "application/json")) return Media::kJson;
  if (is(type, "application/cbor")) return Media::kCbor;
  if (is(type, "application/cloudevents+json")) return Media::kCloudEventJson;
  return Media::kOther;
}

std::optional<Form> form_of(const Request& request) noexcept {
  switch (media_of(request)) {
    case Media::kJson: return Form::kJson;
    case Media::kCbor: return Form::kCbor;
    default: return std::nullopt;
  }
}

}  // namespace holdfast::gateway
