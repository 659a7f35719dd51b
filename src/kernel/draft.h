// SPDX-License-Identifier: Apache-2.0
// Draft: what happens during one tick, gathered for its record. Each instance that is touched has
// one entry, in the order in which they were touched first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/cell.h"
#include "kernel/outcome.h"

namespace holdfast::kernel {

struct Opened {
  base::Hash intent;
  std::string effect;
  base::Bytes params;
};

struct Settled {
  base::Hash intent;
  ReceiptStatus status;
};

struct Emitted {
  std::string schema;
  base::Bytes value;
};

struct Touched {
  std::string workflow;
  base::Bytes key;
  std::uint64_t previous_record = 0;
  Cell* cell = nullptr;  // null once it is deleted
  std::uint32_t steps = 0;
  std::uint32_t ignored = 0;  // messages that came after its end
  std::vector<Opened> opened;
  std::vector<Settled> settled;
  std::vector<base::Bytes> annotations;
};

// Something worth knowing that is not about an instance's state: what it is, and the details.
struct Note {
  std::string_view what;
  std::vector<std::string> details;
};

struct Draft {
  std::vector<Touched> touched;
  std::vector<Emitted> emitted;
  std::vector<Note> notes;
  std::vector<Command> commands;
  std::uint32_t deliveries = 0;  // messages put in mailboxes
  std::uint32_t ignored = 0;     // messages to instances that had ended
  std::uint32_t steps = 0;

  void clear();
};

}  // namespace holdfast::kernel
