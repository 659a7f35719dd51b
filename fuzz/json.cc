// SPDX-License-Identifier: Apache-2.0
// JSON without a schema. What is accepted is JSON in the eyes of a plain walk too, and means the
// same when it is read as a CBOR item.
#include "codec_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const codec::Schema item = codec::Schema::item();
  static const codec::Schema any = codec::Schema::any();
  static codec::Normaliser normaliser;
  static codec::Normaliser other;
  const std::string_view text = base::as_text({data, size});
  const auto as_any = normaliser.from_json(any, text);
  const auto as_item = other.from_json(item, text);
  CHECK(as_any.has_value() == as_item.has_value());
  if (as_any) CHECK(fuzz::is_json(text) && base::equal(*as_any, *as_item));
  fuzz::check_json(normaliser, any, fuzz::Json::kReadsBack, text);
  return 0;
}
