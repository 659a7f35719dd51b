// SPDX-License-Identifier: Apache-2.0
#include "gateway/body.h"

#include <utility>

#include "base/hash.h"
#include "codec/view.h"
#include "gateway/media.h"

namespace holdfast::gateway {
namespace {

std::string place_of(std::string_view name) { return "$." + std::string(name); }

std::optional<Written> needed(Exchange& exchange, const Envelope& envelope, std::string_view name) {
  auto written = envelope.find(name);
  if (!written) refuse_body(exchange, base::invalid(place_of(name), "it is missing"));
  return written;
}

}  // namespace

void refuse_body(Exchange& exchange, const base::Error& error) {
  exchange.refuse(problem_of(error, "$", ProblemCode::kBadBody));
}

std::optional<Envelope> read_body(Exchange& exchange,
                                  std::initializer_list<std::string_view> members) {
  const auto form = form_of(exchange.request());
  if (!form) {
    exchange.refuse({ProblemCode::kMediaType, "application/json or application/cbor"});
    return std::nullopt;
  }
  auto envelope = Envelope::read(*form, exchange.request().body);
  if (!envelope) {
    refuse_body(exchange, envelope.error());
    return std::nullopt;
  }
  if (const auto known = envelope->check_members(members); !known) {
    refuse_body(exchange, known.error());
    return std::nullopt;
  }
  return std::move(*envelope);
}

std::optional<base::ByteView> read_value(Exchange& exchange, const codec::Schema& schema,
                                         const Written& written, std::string_view place) {
  const auto value = normalise(exchange.service().normaliser, schema, written);
  if (value) return *value;
  exchange.refuse(problem_of(value.error(), place, ProblemCode::kSchema));
  return std::nullopt;
}

std::optional<base::ByteView> read_value(Exchange& exchange, std::string_view schema,
                                         const Written& written, std::string_view place) {
  const codec::Schema* found = exchange.service().definitions.schema(schema);
  if (found != nullptr) return read_value(exchange, *found, written, place);
  exchange.refuse(
      {ProblemCode::kNotFound, "the manifest has no schema '" + std::string(schema) + "'"});
  return std::nullopt;
}

std::optional<Bytes> needed_any(Exchange& exchange, const Envelope& envelope,
                                std::string_view name) {
  const auto written = needed(exchange, envelope, name);
  if (!written) return std::nullopt;
  const auto value = read_value(exchange, codec::Schema::any(), *written, place_of(name));
  if (!value) return std::nullopt;
  return Bytes(value->begin(), value->end());
}

std::optional<std::string> text_in(Exchange& exchange, const Envelope& envelope,
                                   std::string_view name) {
  auto text = envelope.text(name);
  if (text) return text->value_or("");
  refuse_body(exchange, text.error());
  return std::nullopt;
}

std::optional<std::uint64_t> needed_number(Exchange& exchange, const Envelope& envelope,
                                           std::string_view name) {
  const auto value = needed_any(exchange, envelope, name);
  if (!value) return std::nullopt;
  const auto number = codec::View::of(*value).nat();
  if (!number) refuse_body(exchange, base::invalid(place_of(name), "expected a number from 0"));
  return number;
}

std::optional<std::uint64_t> number_from_1(Exchange& exchange, const Envelope& envelope,
                                           std::string_view name) {
  if (!envelope.find(name)) return 0;
  const auto number = needed_number(exchange, envelope, name);
  if (!number || *number != 0) return number;
  refuse_body(exchange, base::invalid("$." + std::string(name), "expected a number from 1"));
  return std::nullopt;
}

std::optional<Hash> needed_intent(Exchange& exchange, const Envelope& envelope) {
  const auto text = envelope.needed_text("intent");
  if (!text) {
    refuse_body(exchange, text.error());
    return std::nullopt;
  }
  const auto hash = base::Hash::parse(*text);
  if (hash) return Hash{hash->bytes};
  refuse_body(exchange, base::invalid("$.intent", "expected sha256: and 64 hexadecimal digits"));
  return std::nullopt;
}

}  // namespace holdfast::gateway
