// SPDX-License-Identifier: Apache-2.0
// The path of the place where a walk stands, read off its frames: it costs nothing until there is
// an error to report.
#include <algorithm>
#include <string>

#include "codec/json_writer.h"
#include "codec/workspace.h"

namespace holdfast::codec {
namespace {

constexpr std::size_t kShownKeyBytes = 64;

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kShownKeyBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '$' || c == '-';
         });
}

std::string key_step(base::ByteView encoded) {
  const View key = View::of(encoded);
  if (const auto text = key.text()) {
    if (is_plain_name(*text)) return "." + std::string(*text);
  }
  if (encoded.size() > kShownKeyBytes + 2)
    return "[a key of " + std::to_string(encoded.size()) + " bytes]";
  return "[" + to_json(key) + "]";
}

}  // namespace

std::string Workspace::path(const Schema& schema) const {
  std::string path = "$";
  for (std::size_t i = 0; i < depth; ++i) {
    const Frame& frame = frames[i];
    switch (frame.shape) {
      case Shape::kList:
      case Shape::kSet:
        if (frame.count > 0) path += "[" + std::to_string(frame.count - 1) + "]";
        break;
      case Shape::kMap:
        if (frame.in_value) {
          const Entry& entry = entries[frame.first + frame.count - 1];
          path += key_step(out.view(entry.begin, entry.key_end));
        }
        break;
      case Shape::kItemMap:
        if (frame.count > 0) {
          const Entry& entry = entries[frame.first + frame.count - 1];
          path += frame.awaits_value ? "[entry " + std::to_string(frame.count - 1) + "]"
                                     : key_step(out.view(entry.begin, entry.key_end));
        }
        break;
      case Shape::kRecord:
        if (frame.current != Frame::kNone)
          path += "." + schema.member(*frame.node, frame.current).name;
        break;
      case Shape::kVariant:
        if (frame.count == 1) {  // inside its value
          path += frame.sugar ? "." + schema.member(*frame.node, frame.current).name : ".$value";
        }
        break;
      case Shape::kTag: break;
    }
  }
  return path;
}

}  // namespace holdfast::codec
