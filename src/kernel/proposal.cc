// SPDX-License-Identifier: Apache-2.0
#include "kernel/proposal.h"

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {

void write_proposal(codec::Buffer& out, std::uint64_t id, const Proposal& proposal) {
  codec::write_list_head(out, 9);
  codec::write_nat(out, id);
  codec::write_nat(out, static_cast<std::uint64_t>(proposal.stage));
  codec::write_bytes(out, proposal.base.bytes);
  codec::write_bytes(out, proposal.manifest.bytes);
  codec::write_bytes(out, proposal.definitions.bytes);
  codec::write_text(out, proposal.description);
  codec::write_bytes(out, proposal.report);
  codec::write_text(out, proposal.by);
  codec::write_text(out, proposal.reason);
}

bool read_proposal(codec::View entry, std::uint64_t& id, Proposal& proposal) {
  ListReader list(entry);
  id = list.nat();
  proposal.stage = list.choice(Stage::kApplied);
  proposal.base = list.hash();
  proposal.manifest = list.hash();
  proposal.definitions = list.hash();
  proposal.description = list.text();
  const base::ByteView report = list.bytes();
  proposal.report.assign(report.begin(), report.end());
  proposal.by = list.text();
  proposal.reason = list.text();
  return list.done();
}

}  // namespace holdfast::kernel
