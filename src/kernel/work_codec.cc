// SPDX-License-Identifier: Apache-2.0
#include "kernel/work_codec.h"

#include "codec/cbor_writer.h"
#include "kernel/limits.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

void write_lease(codec::Buffer& out, const Lease& lease) {
  codec::write_list_head(out, 7);
  codec::write_text(out, lease.worker);
  codec::write_nat(out, lease.dispatch);
  codec::write_nat(out, lease.leased_ns);
  write_optional_nat(out, lease.time_limit_ns);
  codec::write_bool(out, lease.fails_if_lost);
  codec::write_bool(out, lease.is_stopping);
  codec::write_bytes(out, lease.detail);
}

bool read_lease(codec::View view, Lease& lease) {
  ListReader list(view);
  lease.worker = list.text();
  lease.dispatch = list.nat();
  lease.leased_ns = list.nat();
  lease.time_limit_ns = list.optional_nat();
  lease.fails_if_lost = list.boolean();
  lease.is_stopping = list.boolean();
  const base::ByteView detail = list.bytes();
  lease.detail.assign(detail.begin(), detail.end());
  return list.done() && lease.dispatch != 0 && !lease.worker.empty() &&
         detail.size() <= kMaxLeaseDetailBytes;
}

}  // namespace

void write_work(codec::Buffer& out, const Work& work) {
  codec::write_list_head(out, 6);
  codec::write_nat(out, work.queued_ns);
  codec::write_nat(out, work.losses);
  codec::write_nat(out, work.leases);
  codec::write_list_head(out, work.lost_by.size());
  for (const std::string& worker : work.lost_by) codec::write_text(out, worker);
  codec::write_bytes(out, work.resume);
  if (work.lease) {
    write_lease(out, *work.lease);
  } else {
    codec::write_null(out);
  }
}

std::shared_ptr<const Work> read_work(codec::View view) {
  const auto work = std::make_shared<Work>();
  ListReader list(view);
  work->queued_ns = list.nat();
  work->losses = list.nat();
  work->leases = list.nat();
  ListReader lost_by(list.next());
  while (lost_by.good() && !lost_by.at_end()) work->lost_by.emplace_back(lost_by.text());
  const base::ByteView resume = list.bytes();
  work->resume.assign(resume.begin(), resume.end());
  const codec::View lease = list.next();
  if (!lease.is_null()) list.require(read_lease(lease, work->lease.emplace()));
  const bool good = list.done() && lost_by.done() && work->lost_by.size() <= kMaxLostByListed &&
                    resume.size() <= kMaxResumeBytes && work->losses <= work->leases;
  return good ? work : nullptr;
}

}  // namespace holdfast::kernel
