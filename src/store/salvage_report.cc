// SPDX-License-Identifier: Apache-2.0
// What a salvage came to, as a document.
#include "codec/cbor_writer.h"
#include "store/salvage.h"

namespace holdfast::store {
namespace {

void write_range(codec::Buffer& out, RecordNumber first, RecordNumber last) {
  codec::write_text(out, "first");
  codec::write_nat(out, first);
  codec::write_text(out, "last");
  codec::write_nat(out, last);
}

}  // namespace

base::Bytes document_of(const SalvageReport& report, bool is_complete) {
  codec::Buffer out;
  codec::write_map_head(out, 8);
  codec::write_text(out, "effect_blobs");
  codec::write_nat(out, report.effect_blobs);
  codec::write_text(out, "complete");
  codec::write_bool(out, is_complete);
  write_range(out, report.first, report.last);
  codec::write_text(out, "aside");
  codec::write_list_head(out, report.aside.size());
  for (const SalvageReport::Aside& aside : report.aside) {
    codec::write_map_head(out, 3);
    write_range(out, aside.first, aside.last);
    codec::write_text(out, "file");
    codec::write_text(out, aside.file);
  }
  codec::write_text(out, "snapshots");
  codec::write_list_head(out, report.snapshots.size());
  for (const SalvageReport::Snapshot& snapshot : report.snapshots) {
    codec::write_map_head(out, 2);
    codec::write_text(out, "next_record");
    codec::write_nat(out, snapshot.next_record);
    codec::write_text(out, "left_out");
    if (snapshot.left_out.empty()) {
      codec::write_null(out);
    } else {
      codec::write_text(out, snapshot.left_out);
    }
  }
  codec::write_text(out, "lost_records");
  codec::write_list_head(out, report.lost.records.size());
  for (const LostRecords& lost : report.lost.records) {
    codec::write_map_head(out, 2);
    write_range(out, lost.first, lost.last);
  }
  codec::write_text(out, "lost_bytes");
  codec::write_list_head(out, report.lost.bytes.size());
  for (const LostBytes& lost : report.lost.bytes) {
    codec::write_map_head(out, 4);
    codec::write_text(out, "file");
    codec::write_text(out, lost.path);
    codec::write_text(out, "begin");
    codec::write_nat(out, lost.begin);
    codec::write_text(out, "end");
    codec::write_nat(out, lost.end);
    codec::write_text(out, "why");
    codec::write_text(out, lost.why);
  }
  return out.to_bytes();
}

}  // namespace holdfast::store
