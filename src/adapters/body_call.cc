// SPDX-License-Identifier: Apache-2.0
#include "adapters/body_call.h"

#include <exception>
#include <utility>

#include "codec/view.h"

namespace holdfast::adapters {

std::optional<EffectError> perform(const detail::RawHandler& body, const Call& call,
                                   base::ByteView params, codec::Buffer& receipt) {
  try {
    Writer out(receipt);
    return body(Reader(params), call, out);
  } catch (const std::exception& thrown) {
    return EffectError{"handler.exception", thrown.what()};
  } catch (...) {
    return EffectError{"handler.exception", "something that is no std::exception was thrown"};
  }
}

base::ByteView results_of(base::ByteView receipt) {
  const auto results = codec::View::of(receipt).find("results");
  return results ? results->bytes().value_or(base::ByteView()) : base::ByteView();
}

}  // namespace holdfast::adapters
