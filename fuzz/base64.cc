// SPDX-License-Identifier: Apache-2.0
// An accepted text is the only one for its bytes; a refused one leaves the output alone.
#include "base/check.h"
#include "base/testing_base64.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::base;
  const std::string_view text = as_text({data, size});
  Bytes out = {1, 2, 3};
  if (base64_decode_append(text, out)) {
    CHECK(testing::to_base64(ByteView(out).subspan(3)) == text);
  } else {
    CHECK(out == (Bytes{1, 2, 3}));
  }
  CHECK(from_base64(testing::to_base64({data, size})).value() == Bytes(data, data + size));
  return 0;
}
