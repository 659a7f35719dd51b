// SPDX-License-Identifier: Apache-2.0
// World: one durable state machine. `reduce` is the whole of it: state and tick in, state and
// outcome out. It does no I/O, reads no clock, throws nothing, and comes to the same outcome for
// the same state and tick on every machine; so the journal of its records is its state.
//
// Invariants: (1) a terminal instance never changes; (2) an intent settles once; (3) a receipt
// reaches only the instance that opened its intent; (4) a step is kept whole or not at all; (5) a
// tick that is refused changes nothing.
#pragma once

#include <memory>

#include "kernel/blobs.h"
#include "kernel/cells.h"
#include "kernel/open_intents.h"
#include "kernel/outcome.h"
#include "kernel/program.h"
#include "kernel/tick.h"
#include "kernel/why.h"

namespace holdfast::kernel {

struct WorldState;

struct InstanceName {
  std::string workflow;
  base::Bytes key;
};

class World {
 public:
  // The blobs must outlive the world.
  World(std::shared_ptr<const Program> program, Blobs& blobs, CellLimits limits = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  // Values in the tick are canonical for their schemas, as the gateway made them.
  Outcome reduce(const Tick& tick);

  // Everything the world is, as one canonical value and the blobs it names. Between ticks only.
  base::Result<base::Bytes> snapshot();

  // Fails closed: another manifest, a missing blob, a damaged value.
  static base::Result<World> restore(std::shared_ptr<const Program> program, Blobs& blobs,
                                     base::ByteView snapshot, CellLimits limits = {});

  // What an instance waits for; nothing if it has ended, or is not there.
  std::vector<Reason> why(std::string_view workflow, base::ByteView key);

  // Instances that nothing can wake, at most `limit`. Looks at every instance.
  base::Result<std::vector<InstanceName>> orphans(std::size_t limit);

  const Program& program() const noexcept;
  std::uint64_t next_record() const noexcept;
  const Cell* find(std::string_view workflow, base::ByteView key);
  const OpenIntents& intents() const noexcept;

 private:
  std::unique_ptr<WorldState> state_;
};

}  // namespace holdfast::kernel
