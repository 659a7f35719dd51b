// SPDX-License-Identifier: Apache-2.0
#include "workers/payloads.h"

#include "codec/buffer.h"
#include "codec/cbor_writer.h"

namespace holdfast::workers {
namespace {

Bytes taken(const codec::Buffer& out) {
  const base::ByteView bytes = out.view();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Bytes receipt_of_result(const Bytes& result) {
  codec::Buffer out;
  codec::write_map_head(out, 1);
  codec::write_text(out, "result");
  out.append(result);
  return taken(out);
}

Bytes receipt_of_failure(const TaskFailure& failure) {
  codec::Buffer out;
  codec::write_map_head(out, 4);  // in canonical order: shorter names first
  codec::write_text(out, "code");
  codec::write_text(out, failure.code);
  codec::write_text(out, "details");
  if (failure.details.empty()) {
    codec::write_null(out);
  } else {
    out.append(failure.details);
  }
  codec::write_text(out, "message");
  codec::write_text(out, failure.message);
  codec::write_text(out, "retryable");
  codec::write_bool(out, failure.is_retryable);
  return taken(out);
}

}  // namespace holdfast::workers
