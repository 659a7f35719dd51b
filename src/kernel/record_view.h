// SPDX-License-Identifier: Apache-2.0
// RecordView: a record taken apart, without the code of its workflows. All of it borrows from the
// record's bytes. Whether the record is true is another question: World::replay asks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "kernel/record.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

// Values are canonical, without the self-describe tag.
struct OpenedView {
  base::Hash intent;
  std::string_view effect;
  base::ByteView params;
};

struct SettledView {
  base::Hash intent;
  std::string_view status;
};

// An instance that the tick touched, as it was afterwards. One that was deleted and began again
// stands there once for each life, with the same previous record.
struct InstanceView {
  std::string_view workflow;
  base::ByteView key;          // empty if the workflow has no key
  std::uint64_t previous = 0;  // the record that touched it before; 0: it begins here
  std::string_view status;
  bool paused = false;
  base::ByteView state;                  // empty: there is none, or only its hash is recorded
  std::optional<base::Hash> state_hash;  // of a large state, as a value that stands alone
  base::ByteView outcome;                // the result or the error; empty: it did not end here
  std::uint64_t steps = 0;
  std::uint64_t ignored = 0;
  std::vector<OpenedView> opened;
  std::vector<SettledView> settled;
  std::vector<base::ByteView> annotations;
};

struct EmittedView {
  std::string_view schema;
  base::ByteView value;
};

struct RecordView {
  std::uint64_t number = 0;
  Tick tick;
  std::vector<InstanceView> instances;
  std::vector<EmittedView> emitted;
  std::vector<std::vector<std::string_view>> notes;

  TickKind kind() const noexcept { return static_cast<TickKind>(tick.input.index()); }
};

// kCorrupt: the bytes are no record. kConflict: it is of another version.
base::Result<RecordView> read_record(base::ByteView record);

// A key as people read it: JSON, nothing for a workflow without key. Who wrote it is not known:
// what is no value is shown in hex.
std::string key_text(base::ByteView key);

// An instance as commands and the HTTP API name it: WORKFLOW/KEY (codec/key_word.h), with "-" for a
// workflow without key.
std::string instance_name(std::string_view workflow, base::ByteView key);
std::string key_name(base::ByteView key);

// An instance as messages name it that stand in records: they stay as they are.
std::string instance_text(std::string_view workflow, base::ByteView key);

// The tick alone.
base::Result<Tick> tick_of(base::ByteView record);

}  // namespace holdfast::kernel
