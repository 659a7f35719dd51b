// SPDX-License-Identifier: Apache-2.0
// For random types and values: every spelling of a value gives the bytes that a plain model of the
// rules gives; those bytes, and no others, pass a strict decode; and they print as JSON that reads
// back to them.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "codec/conforms.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/testing.h"
#include "codec/testing_spelling.h"
#include "codec/testing_writers.h"

namespace holdfast::codec {
namespace {

using testing::Choices;
using testing::RandomType;
using testing::Value;

constexpr std::string_view kTag("\xd9\xd9\xf7");

// One random type, compiled, with a value of it.
struct Subject {
  explicit Subject(Choices& choices)
      : types(testing::random_type(choices)),
        schema(compile(types)),
        value(testing::random_value(choices, types, types.type)),
        canonical(std::string(kTag) + testing::canonical(value)) {
    RC_LOG() << "canonical: " << hex(canonical) << "\n";
  }

  static std::string hex(std::string_view bytes) { return base::to_hex(base::as_bytes(bytes)); }

  // By way of its written form, so that members are in canonical order.
  static Type sorted(const Type& type) {
    Buffer written;
    write_type(written, type);
    Normaliser normaliser;
    const auto expression =
        normaliser.from_cbor(Schema::any(), written.view(), Strictness::kLenient);
    Errors errors;
    auto made = parse_type(View::of(*expression), "$", errors);
    RC_ASSERT(errors.empty());
    return std::move(*made);
  }

  static Schema compile(const RandomType& types) {
    Errors errors;
    testing::Types named;
    for (const std::string& name : types.names) named.add(name, sorted(*types.named->find(name)));
    auto schema = Schema::compile(sorted(types.type), named, "$", errors);
    RC_LOG() << testing::to_text(errors);
    RC_ASSERT(schema.has_value());
    return std::move(*schema);
  }

  std::string json(Choices& choices) const {
    testing::Speller speller(choices, testing::Route::kJson);
    return testing::JsonSpeller(choices).write(speller.spell(value));
  }

  std::string cbor(Choices& choices) const {
    testing::Speller speller(choices, testing::Route::kCbor);
    return testing::CborSpeller(choices).write(speller.spell(value));
  }

  RandomType types;
  Schema schema;
  Value value;
  std::string canonical;
};

std::string outcome(const base::Result<base::ByteView>& result) {
  return result ? Subject::hex(base::as_text(*result)) : result.error().to_string();
}

RC_GTEST_PROP(NormaliserProperty, every_json_spelling_gives_the_canonical_bytes, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  const std::string json = subject.json(choices);
  RC_LOG() << json << "\n";
  Normaliser normaliser;
  RC_ASSERT(outcome(normaliser.from_json(subject.schema, json)) == Subject::hex(subject.canonical));
}

RC_GTEST_PROP(NormaliserProperty, every_cbor_spelling_gives_the_canonical_bytes, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  const std::string cbor = std::string(choices.flip() ? kTag : "") + subject.cbor(choices);
  RC_LOG() << Subject::hex(cbor) << "\n";
  Normaliser normaliser;
  RC_ASSERT(outcome(normaliser.from_cbor(subject.schema, base::as_bytes(cbor),
                                         Strictness::kLenient)) == Subject::hex(subject.canonical));
}

RC_GTEST_PROP(NormaliserProperty, a_strict_decode_accepts_only_the_canonical_spelling, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  Normaliser normaliser;
  RC_ASSERT(outcome(normaliser.from_cbor(subject.schema, base::as_bytes(subject.canonical),
                                         Strictness::kStrict)) == Subject::hex(subject.canonical));
  const std::string cbor = std::string(kTag) + subject.cbor(choices);
  RC_LOG() << Subject::hex(cbor) << "\n";
  RC_CLASSIFY(cbor == subject.canonical);
  RC_ASSERT(
      normaliser.from_cbor(subject.schema, base::as_bytes(cbor), Strictness::kStrict).has_value() ==
      (cbor == subject.canonical));
}

RC_GTEST_PROP(NormaliserProperty, json_out_reads_back_to_the_same_bytes, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  Normaliser normaliser;
  for (const JsonStyle style : {JsonStyle::kCompact, JsonStyle::kIndented}) {
    const std::string json = to_json(View::of(base::as_bytes(subject.canonical)), style);
    RC_LOG() << json << "\n";
    RC_ASSERT(outcome(normaliser.from_json(subject.schema, json)) ==
              Subject::hex(subject.canonical));
  }
}

// Whatever strict takes is canonical for a generic reader too, and stays as it is.
RC_GTEST_PROP(NormaliserProperty, changed_bytes_are_refused_or_canonical_themselves, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  std::string bytes = subject.canonical;
  for (std::size_t i = 1 + choices.below(3); i > 0; --i) {
    const std::size_t at = kTag.size() + choices.below(bytes.size() - kTag.size());
    const char byte = static_cast<char>(choices.flip() ? choices.next() : bytes[at] ^ 1);
    switch (choices.below(4)) {
      case 0: bytes[at] = byte; break;
      case 1: bytes.insert(at, 1, byte); break;
      case 2:
        if (bytes.size() > kTag.size() + 1) bytes.erase(at, 1);
        break;
      default: std::swap(bytes[at], bytes.back()); break;
    }
  }
  RC_LOG() << Subject::hex(bytes) << "\n";
  Normaliser normaliser;
  const bool accepted =
      normaliser.from_cbor(subject.schema, base::as_bytes(bytes), Strictness::kStrict).has_value();
  RC_CLASSIFY(accepted && bytes != subject.canonical, "accepted as another value");
  const std::string lenient =
      outcome(normaliser.from_cbor(subject.schema, base::as_bytes(bytes), Strictness::kLenient));
  RC_ASSERT(accepted == (lenient == Subject::hex(bytes)));
  const bool sure = surely_conforms(subject.schema, base::as_bytes(bytes).subspan(kTag.size()));
  RC_CLASSIFY(sure, "surely canonical");
  RC_ASSERT(!sure || accepted);
  if (!accepted) return;
  const auto item =
      normaliser.from_cbor(Schema::item(), base::as_bytes(bytes), Strictness::kStrict);
  RC_ASSERT(outcome(item) == Subject::hex(bytes));
}

RC_GTEST_PROP(NormaliserProperty, a_part_of_a_value_is_never_a_value, ()) {
  Choices choices = Choices::any();
  const Subject subject(choices);
  const std::string cbor = choices.flip() ? subject.cbor(choices) : subject.canonical.substr(3);
  const std::string part = cbor.substr(0, choices.below(cbor.size()));
  Normaliser normaliser;
  RC_ASSERT_FALSE(
      normaliser.from_cbor(subject.schema, base::as_bytes(part), Strictness::kLenient).has_value());
  RC_ASSERT_FALSE(
      normaliser.from_cbor(Schema::item(), base::as_bytes(part), Strictness::kLenient).has_value());
}

RC_GTEST_PROP(TypeProperty, a_type_is_written_back_as_it_was_read, ()) {
  Choices choices = Choices::any();
  const RandomType types = testing::random_type(choices);
  const Type type = Subject::sorted(types.type);
  Buffer written;
  write_type(written, type);
  Normaliser normaliser;
  const std::string bytes = std::string(kTag) + std::string(base::as_text(written.view()));
  RC_ASSERT(outcome(normaliser.from_cbor(Schema::any(), base::as_bytes(bytes),
                                         Strictness::kStrict)) == Subject::hex(bytes));
}

}  // namespace
}  // namespace holdfast::codec
