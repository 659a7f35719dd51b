// SPDX-License-Identifier: Apache-2.0
// Fields: reads one object of a definition field by field and collects what is wrong with it:
// fields that are missing, unknown or of another kind. A getter that refuses answers with an empty
// value, so that the rest is still looked at and all errors are reported.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "codec/type.h"
#include "codec/view.h"

namespace holdfast::defs {

using codec::Errors;
using codec::View;

class Fields {
 public:
  // `path` is where the object stands, for the errors.
  Fields(View object, std::string path, Errors& errors);

  // Each field may be asked for once; it counts as known from then on.
  std::optional<View> optional(std::string_view field);
  std::optional<View> required(std::string_view field);

  std::string text(std::string_view field);  // required, not empty
  std::string name(std::string_view field);  // required, the name of a definition
  std::optional<std::string> optional_text(std::string_view field);
  std::optional<std::string> optional_name(std::string_view field);
  std::optional<std::uint64_t> optional_nat(std::string_view field);
  // All zeros stand for "not known yet" and count as absent.
  std::optional<base::Hash> optional_hash(std::string_view field);
  std::vector<View> list(std::string_view field);  // required
  std::vector<View> optional_list(std::string_view field);

  // Reports the fields nobody asked for. `$comment` is always allowed, and means nothing.
  void finish();

  void refuse(std::string_view field, std::string message);
  std::string path_of(std::string_view field) const;
  Errors& errors() noexcept { return errors_; }

 private:
  std::vector<View> elements(std::string_view field, std::optional<View> value);
  std::string as_text(std::string_view field, View value);
  std::string as_name(std::string_view field, View value);

  View object_;
  std::string path_;
  Errors& errors_;
  std::vector<std::string> known_;
};

// The text of a name that stands alone, such as an element of a list; empty if it is refused.
std::string read_name(View value, const std::string& path, Errors& errors);

}  // namespace holdfast::defs
