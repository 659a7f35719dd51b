// SPDX-License-Identifier: Apache-2.0
// JsonPen: writes JSON member by member; the commas are its business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "codec/json_writer.h"
#include "codec/view.h"

namespace holdfast::work {

class JsonPen {
 public:
  JsonPen& open(char bracket) {
    comma();
    out_.push(static_cast<std::uint8_t>(bracket));
    is_first_ = true;
    return *this;
  }
  JsonPen& close(char bracket) {
    out_.push(static_cast<std::uint8_t>(bracket));
    is_first_ = false;
    return *this;
  }
  JsonPen& key(std::string_view name) {
    text(name);
    out_.push(':');
    is_first_ = true;  // no comma between a key and its value
    return *this;
  }
  JsonPen& text(std::string_view value) {
    comma();
    codec::write_string_json(out_, value);
    return *this;
  }
  JsonPen& nat(std::uint64_t value) {
    comma();
    codec::write_integer_json(out_, false, value);
    return *this;
  }
  JsonPen& flag(bool value) { return json(value ? "true" : "false"); }
  JsonPen& json(std::string_view written) {
    comma();
    out_.append(base::as_bytes(written));
    return *this;
  }
  JsonPen& value(base::ByteView canonical) {
    comma();
    codec::write_json(out_, codec::View::of(canonical));
    return *this;
  }
  JsonPen& texts(const std::vector<std::string>& all) {
    open('[');
    for (const std::string& each : all) text(each);
    return close(']');
  }
  std::string take() { return std::string(base::as_text(out_.view())); }

 private:
  void comma() {
    if (!is_first_) out_.push(',');
    is_first_ = false;
  }

  codec::Buffer out_;
  bool is_first_ = true;
};

}  // namespace holdfast::work
