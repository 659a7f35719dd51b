// SPDX-License-Identifier: Apache-2.0
#include "kernel/lease_list.h"

#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/limits.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {
namespace {

constexpr std::size_t kElements = 4;  // of an item, in both lists

template <class Item, class Write>
void write_items(codec::Buffer& out, const std::vector<Item>& items, const Write& write) {
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, kElements * items.size());
  for (const Item& item : items) write(item);
}

template <class Item, class Read>
std::optional<std::vector<Item>> read_items(base::ByteView bytes, const Read& read) {
  if (!codec::is_well_formed(bytes)) return std::nullopt;
  ListReader list(codec::View::of(bytes));
  std::vector<Item> items;
  while (list.good() && !list.at_end()) {
    if (items.size() == kMaxLeasesPerTick) return std::nullopt;
    read(list, items.emplace_back());
  }
  if (!list.done() || items.empty()) return std::nullopt;
  return items;
}

}  // namespace

void write_lease_list(codec::Buffer& out, const std::vector<LeaseItem>& items) {
  write_items(out, items, [&](const LeaseItem& item) {
    codec::write_bytes(out, item.intent.bytes);
    codec::write_bytes(out, item.detail);
    write_optional_nat(out, item.time_limit_ns);
    codec::write_bool(out, item.fails_if_lost);
  });
}

void write_return_list(codec::Buffer& out, const std::vector<ReturnItem>& items) {
  write_items(out, items, [&](const ReturnItem& item) {
    codec::write_bytes(out, item.intent.bytes);
    codec::write_nat(out, item.dispatch);
    codec::write_nat(out, static_cast<std::uint64_t>(item.reason));
    codec::write_bytes(out, item.resume);
  });
}

std::optional<std::vector<LeaseItem>> read_lease_list(base::ByteView list) {
  return read_items<LeaseItem>(list, [](ListReader& in, LeaseItem& item) {
    item.intent = in.hash();
    item.detail = in.bytes();
    item.time_limit_ns = in.optional_nat();
    item.fails_if_lost = in.boolean();
    in.require(item.detail.size() <= kMaxLeaseDetailBytes);
  });
}

std::optional<std::vector<ReturnItem>> read_return_list(base::ByteView list) {
  return read_items<ReturnItem>(list, [](ListReader& in, ReturnItem& item) {
    item.intent = in.hash();
    item.dispatch = in.nat();
    item.reason = in.choice(ReturnReason::kRefused);
    item.resume = in.bytes();
    in.require(item.resume.size() <= kMaxResumeBytes);
    in.require(item.resume.empty() || item.reason == ReturnReason::kYield);
  });
}

}  // namespace holdfast::kernel
