// SPDX-License-Identifier: Apache-2.0
// Envelope: the map that a body is, member by member, each still as it was written: what a member
// is can depend on another one, as the schema of a value on its name. JSON or CBOR.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/normaliser.h"
#include "codec/schema.h"

namespace holdfast::gateway {

enum class Form : std::uint8_t { kJson, kCbor };

// A value as it was written, from a body that outlives it.
struct Written {
  Form form = Form::kJson;
  std::string_view text;
};

// In canonical form, without the self-describe tag; holds until the normaliser's next call.
base::Result<base::ByteView> normalise(codec::Normaliser& normaliser, const codec::Schema& schema,
                                       const Written& written);

class Envelope {
 public:
  static constexpr std::size_t kMaxMembers = 64;

  // An empty body is an empty map. Errors name a place below "$".
  static base::Result<Envelope> read(Form form, std::string_view body);

  // kInvalid: there is a member that is none of these.
  base::Result<void> check_members(std::initializer_list<std::string_view> names) const;

  std::optional<Written> find(std::string_view name) const;

  // The member if it is there, and not null. kInvalid: it is of another type.
  base::Result<std::optional<std::string>> text(std::string_view name) const;
  base::Result<std::string> needed_text(std::string_view name) const;

  // How long to wait: a number of milliseconds, or true for `most`. 0: it is not there, or false.
  base::Result<std::uint64_t> wait_ms(std::string_view name, std::uint64_t most) const;

 private:
  struct Member {
    std::string name;
    std::string_view text;
  };

  template <class Reader>
  base::Result<void> read_with(Reader& reader);

  Form form_ = Form::kJson;
  std::vector<Member> members_;
};

}  // namespace holdfast::gateway
