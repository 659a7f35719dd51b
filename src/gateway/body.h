// SPDX-License-Identifier: Apache-2.0
// What handlers do with bodies: those that cannot be read are answered here.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "gateway/envelope.h"
#include "gateway/exchange.h"

namespace holdfast::gateway {

void refuse_body(Exchange& exchange, const base::Error& error);

// The body as a map of these members. Nothing: it is answered already.
std::optional<Envelope> read_body(Exchange& exchange,
                                  std::initializer_list<std::string_view> members);

// A value in canonical form, by a schema; `place` is where it stands in the body. It holds until
// the next one is read. Nothing: it is answered already.
std::optional<base::ByteView> read_value(Exchange& exchange, const codec::Schema& schema,
                                         const Written& written, std::string_view place);
// The same, by the name that the schema has in the manifest.
std::optional<base::ByteView> read_value(Exchange& exchange, std::string_view schema,
                                         const Written& written, std::string_view place);

// A member of any form, or what else is said. Nothing: it is answered already.
std::optional<Bytes> needed_any(Exchange& exchange, const Envelope& envelope,
                                std::string_view name);

// A text that may be missing: empty then. Nothing: it is answered already.
std::optional<std::string> text_in(Exchange& exchange, const Envelope& envelope,
                                   std::string_view name);

// A number that must be there. Nothing: it is answered already.
std::optional<std::uint64_t> needed_number(Exchange& exchange, const Envelope& envelope,
                                           std::string_view name);

// A number from 1 that may be missing: 0 then. Nothing: it is answered already.
std::optional<std::uint64_t> number_from_1(Exchange& exchange, const Envelope& envelope,
                                           std::string_view name);

// The effect that a body names. Nothing: it is answered already.
std::optional<Hash> needed_intent(Exchange& exchange, const Envelope& envelope);

}  // namespace holdfast::gateway
