// SPDX-License-Identifier: Apache-2.0
#include "cursors/cursor_state.h"

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/schema.h"

namespace holdfast::cursors {
namespace {

using codec::View;

constexpr std::uint64_t kVersion = 1;

base::Error damaged() { return {base::ErrorCode::kCorrupt, "this is not the state of a cursor"}; }

void put_id(codec::Buffer& out, const EventId& id) {
  codec::write_nat(out, id.record);
  codec::write_nat(out, id.index);
}

// Elements of a list, one after the other; one that is missing or of another kind makes it bad.
class Fields {
 public:
  Fields() = default;
  explicit Fields(View list) {
    if (list.kind() != codec::ViewKind::kList) return;
    for (const View each : list.elements()) fields_.push_back(each);
  }
  std::uint64_t nat() {
    return take([](View v) { return v.nat(); }).value_or(0);
  }
  bool flag() {
    return take([](View v) { return v.boolean(); }).value_or(false);
  }
  std::string text() {
    return std::string(take([](View v) { return v.text(); }).value_or(""));
  }
  base::Bytes value() {
    if (next_ >= fields_.size()) return is_good_ = false, base::Bytes();
    const base::ByteView bytes = fields_[next_++].encoded();
    return {bytes.begin(), bytes.end()};
  }
  EventId id() {
    const std::uint64_t record = nat();
    return {record, static_cast<std::uint32_t>(nat())};
  }
  Fields list() {
    if (next_ >= fields_.size()) return is_good_ = false, Fields();
    return Fields(fields_[next_++]);
  }
  std::size_t left() const noexcept { return fields_.size() - next_; }
  bool is_good() const noexcept { return is_good_ && next_ == fields_.size(); }

 private:
  template <class Read>
  auto take(Read read) -> decltype(read(std::declval<View>())) {
    if (next_ >= fields_.size()) return is_good_ = false, decltype(read(fields_[0]))();
    auto value = read(fields_[next_++]);
    is_good_ = is_good_ && value.has_value();
    return value;
  }

  std::vector<View> fields_;
  std::size_t next_ = 0;
  bool is_good_ = true;
};

}  // namespace

base::Bytes encode(const CursorState& state) {
  codec::Buffer out;
  codec::write_list_head(out, 6);
  codec::write_nat(out, kVersion);
  put_id(out, state.next);
  codec::write_nat(out, state.tries);
  codec::write_text(out, state.reason);
  codec::write_list_head(out, state.quarantine.size());
  for (const Quarantined& each : state.quarantine) {
    codec::write_list_head(out, 6);
    put_id(out, each.id);
    codec::write_text(out, each.reason);
    codec::write_nat(out, each.time_ns);
    codec::write_bool(out, each.is_replayed);
    out.append(each.document);
  }
  return out.to_bytes();
}

base::Result<CursorState> decode_cursor(base::ByteView bytes) {
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_cbor(codec::Schema::item(), bytes);
  if (!value) return damaged();
  const base::Bytes whole(value->begin(), value->end());
  Fields fields(View::of(whole));
  if (fields.nat() != kVersion) return damaged();
  CursorState state;
  state.next = fields.id();
  state.tries = static_cast<std::uint32_t>(fields.nat());
  state.reason = fields.text();
  for (Fields list = fields.list(); list.left() != 0;) {
    Fields one = list.list();
    Quarantined entry;
    entry.id = one.id();
    entry.reason = one.text();
    entry.time_ns = one.nat();
    entry.is_replayed = one.flag();
    entry.document = one.value();
    if (!one.is_good()) return damaged();
    state.quarantine.push_back(std::move(entry));
  }
  if (!fields.is_good()) return damaged();
  return state;
}

}  // namespace holdfast::cursors
