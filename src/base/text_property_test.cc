// SPDX-License-Identifier: Apache-2.0
// What hex and base64 have in common: text and bytes belong together one to one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/hex.h"
#include "base/testing_base64.h"

namespace holdfast::base {
namespace {

RC_GTEST_PROP(Hex, reads_back_what_it_wrote, (const Bytes& bytes)) {
  RC_ASSERT(from_hex(to_hex(bytes)).value() == bytes);
}

RC_GTEST_PROP(Base64, reads_back_what_it_wrote, (const Bytes& bytes)) {
  RC_ASSERT(from_base64(testing::to_base64(bytes)).value() == bytes);
}

// Texts that differ in one character from a good one are those which a lax reader would take.
RC_GTEST_PROP(Base64, accepts_no_second_text_for_the_same_bytes, (const Bytes& bytes)) {
  std::string text = testing::to_base64(bytes);
  text[*rc::gen::inRange<std::size_t>(0, text.size())] =
      *rc::gen::elementOf(std::string("ABQgwZ/+9=-_ "));
  Result<Bytes> read = from_base64(text);
  if (read) RC_ASSERT(testing::to_base64(*read) == text);
}

}  // namespace
}  // namespace holdfast::base
