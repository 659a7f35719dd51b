// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a record or as a snapshot give an error, never a crash. The first byte chooses
// what they are, and whether they replace a part of something good.
#include <algorithm>

#include "base/check.h"
#include "kernel/record_view.h"
#include "kernel/testing_play.h"

namespace {

using namespace holdfast;
using namespace holdfast::kernel;
using kernel::testing::Input;
using kernel::testing::MemoryBlobs;
using kernel::testing::Play;
using kernel::testing::ScriptMachines;

const ScriptMachines kMachines;

// A world in the middle of its life, as a snapshot, with the record that comes next.
struct Subject {
  Subject() : play(kMachines) {
    Input apply;
    apply.kind = Input::Kind::kApply;
    CHECK(play.send(apply).empty());
    for (const char* script : {"aP", "b(a)w1(a)s2(c)", "W1(p)T"}) {
      Input input;
      input.event = {"t/Both@1", "k0", 0, script};
      input.id = script;
      CHECK(play.send(input).empty());
    }
    Input propose;
    propose.kind = Input::Kind::kPropose;
    CHECK(play.send(propose).empty());
    snapshot = *play.world().snapshot();
    Input receipt;
    receipt.kind = Input::Kind::kReceipt;
    CHECK(play.send(receipt).empty());
    record = play.last().record;
    CHECK(!record.empty());
  }
  Play play;
  base::Bytes snapshot;
  base::Bytes record;
};

// Two bytes say where to put the rest.
base::Bytes changed(base::Bytes good, base::ByteView bytes) {
  if (bytes.size() < 2) return good;
  std::size_t at = static_cast<std::size_t>(bytes[0]) << 8 | bytes[1];
  bytes = bytes.subspan(2);
  at %= good.size();
  const std::size_t count = std::min(good.size() - at, bytes.size());
  std::copy_n(bytes.begin(), count, good.begin() + static_cast<std::ptrdiff_t>(at));
  return good;
}

void replay(Subject& subject, base::ByteView record) {
  auto world = World::restore(kMachines, subject.play.blobs(), subject.snapshot);
  CHECK(world.has_value());
  const auto view = read_record(record);
  const auto outcome = world->replay(record);
  if (outcome) CHECK(base::equal(outcome->record, record) && view.has_value());
}

// If it opens, it can be used, up to the failure that it may come to.
void open(Subject& subject, base::ByteView snapshot) {
  auto world = World::restore(kMachines, subject.play.blobs(), snapshot);
  if (!world) return;
  const auto tick = tick_of(subject.record);
  const Outcome outcome = world->reduce(*tick);
  if (!outcome.failure) (void)world->snapshot();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Subject subject;
  if (size == 0) return 0;
  const base::ByteView bytes(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0: replay(subject, bytes); break;
    case 1: replay(subject, changed(subject.record, bytes)); break;
    case 2: open(subject, bytes); break;
    default: open(subject, changed(subject.snapshot, bytes)); break;
  }
  return 0;
}
