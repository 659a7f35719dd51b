// SPDX-License-Identifier: Apache-2.0
// Parts of documents that several answers have.
#pragma once

#include <string_view>
#include <vector>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "holdfast/engine.h"
#include "steps/graph.h"

namespace holdfast::gateway {

inline void put(codec::Buffer& out, std::string_view name, std::string_view text) {
  codec::write_text(out, name);
  codec::write_text(out, text);
}
inline void put_number(codec::Buffer& out, std::string_view name, std::uint64_t number) {
  codec::write_text(out, name);
  codec::write_nat(out, number);
}
// 0 stands for nothing.
inline void put_number_or_null(codec::Buffer& out, std::string_view name, std::uint64_t number) {
  codec::write_text(out, name);
  if (number == 0) return codec::write_null(out);
  codec::write_nat(out, number);
}
inline void put_flag(codec::Buffer& out, std::string_view name, bool flag) {
  codec::write_text(out, name);
  codec::write_bool(out, flag);
}
// A canonical value; null if there is none.
inline void put_value(codec::Buffer& out, std::string_view name, const Bytes& value) {
  codec::write_text(out, name);
  if (value.empty()) return codec::write_null(out);
  out.append(value);
}

// Records, as documents.
inline void put_records(codec::Buffer& out, const std::vector<Bytes>& records) {
  codec::write_text(out, "records");
  codec::write_list_head(out, records.size());
  for (const Bytes& record : records) out.append(record);
}

std::string_view name_of(InstanceStatus status) noexcept;
bool has_ended(const RawInstance& instance) noexcept;

// A state. With the graph of its step workflow (null: it is none): as people read it, or as it is
// if it is a state of another graph.
// What became of applying definitions.
void put_applied(codec::Buffer& out, const Applied& applied);

// The same with what a rehearsal showed besides.
void put_rehearsed(codec::Buffer& out, const Rehearsed& rehearsed);

// Three members: moved, stays, staying.
void put_migrated(codec::Buffer& out, const Migrated& migrated);
void put_blocking(codec::Buffer& out, const Applied& applied);

void put_state(codec::Buffer& out, std::string_view name, const Bytes& state,
               const steps::Graph* graph);

void put_state_value(codec::Buffer& out, const Bytes& state, const steps::Graph* graph);

// What an instance is, as GET has it.
void put_instance(codec::Buffer& out, std::string_view workflow, const Bytes& key,
                  const RawInstance& instance, const steps::Graph* graph);

}  // namespace holdfast::gateway
