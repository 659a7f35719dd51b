// SPDX-License-Identifier: Apache-2.0
#include "kernel/forget_list.h"

#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/limits.h"
#include "kernel/list_reader.h"

namespace holdfast::kernel {

void write_forget_list(codec::Buffer& out, const std::vector<ForgetName>& names) {
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 3 * names.size());
  for (const ForgetName& name : names) {
    codec::write_text(out, name.workflow);
    codec::write_bytes(out, name.key);
    codec::write_nat(out, name.last_record);
  }
}

std::optional<std::vector<ForgetName>> read_forget_list(base::ByteView list) {
  if (!codec::is_well_formed(list)) return std::nullopt;
  ListReader reader(codec::View::of(list));
  std::vector<ForgetName> names;
  while (reader.good() && !reader.at_end()) {
    if (names.size() == kMaxForgottenPerTick) return std::nullopt;
    ForgetName& name = names.emplace_back();
    name.workflow = reader.text();
    name.key = reader.bytes();
    name.last_record = reader.nat();
  }
  if (!reader.done() || names.empty()) return std::nullopt;
  return names;
}

}  // namespace holdfast::kernel
