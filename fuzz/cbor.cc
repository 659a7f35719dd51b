// SPDX-License-Identifier: Apache-2.0
// Foreign CBOR, as any item and as a JSON value.
#include "codec_invariants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const codec::Schema item = codec::Schema::item();
  static const codec::Schema any = codec::Schema::any();
  static codec::Normaliser normaliser;
  fuzz::check_cbor(normaliser, item, fuzz::Json::kForPeople, {data, size});
  fuzz::check_cbor(normaliser, any, fuzz::Json::kReadsBack, {data, size});
  return 0;
}
