// SPDX-License-Identifier: Apache-2.0
#include "kernel/step_context.h"

#include <algorithm>

#include "codec/cbor_writer.h"
#include "kernel/envelope.h"
#include "kernel/identity.h"

namespace holdfast::kernel {

std::uint64_t StepContext::logical_ns() const { return std::max(world_.latest_ns, time_ns()); }

base::Hash StepContext::entropy() const {
  return delivery_entropy(world_.tick->entropy, delivery_, world_.scratch);
}

void StepContext::write_event(const Mail& mail, codec::Buffer& out) const {
  kernel::write_event(*world_.program, workflow_, cell_.key, mail, out);
}

// The keys stand in canonical order: shorter first, then bytewise. A test holds them against the
// normaliser.
bool StepContext::write_context(const Mail& mail, codec::Buffer& out) const {
  if (!workflow_.has_context) return false;
  codec::Buffer event;
  write_event(mail, event);
  codec::write_map_head(out, 10);
  codec::write_text(out, "key");
  if (is_keyed()) {
    write_alone(out, key());
  } else {
    codec::write_null(out);
  }
  codec::write_text(out, "now_ns");
  codec::write_nat(out, time_ns());
  codec::write_text(out, "entropy");
  codec::write_bytes(out, entropy().bytes);
  codec::write_text(out, "workflow");
  codec::write_text(out, workflow());
  codec::write_text(out, "cell_mode");
  codec::write_bool(out, is_keyed());
  codec::write_text(out, "event_hash");
  codec::write_text(out, value_hash(event.view()).to_text());
  codec::write_text(out, "manifest_hash");
  codec::write_text(out, manifest_hash().to_text());
  codec::write_text(out, "workflow_hash");
  codec::write_text(out, workflow_hash().to_text());
  codec::write_text(out, "journal_height");
  codec::write_nat(out, record());
  codec::write_text(out, "logical_now_ns");
  codec::write_nat(out, logical_ns());
  return true;
}

}  // namespace holdfast::kernel
