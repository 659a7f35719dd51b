// SPDX-License-Identifier: Apache-2.0
#include "kernel/effect_error.h"

#include "codec/cbor_writer.h"
#include "kernel/text.h"

namespace holdfast::kernel {

// The fields stand in canonical order.
void write_effect_error(codec::Buffer& out, std::string_view code, std::string_view message) {
  codec::write_map_head(out, 4);
  codec::write_text(out, "code");
  codec::write_text(out, shown(code));
  codec::write_text(out, "details");
  codec::write_null(out);
  codec::write_text(out, "message");
  codec::write_text(out, shown(message));
  codec::write_text(out, "retryable");
  codec::write_bool(out, false);
}

}  // namespace holdfast::kernel
