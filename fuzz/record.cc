// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a record, as a snapshot or as a blob that it names give an error, never a
// crash. The first byte chooses what they are, and whether they replace a part of something good.
#include <algorithm>
#include <deque>
#include <vector>

#include "base/check.h"
#include "kernel/record_view.h"
#include "kernel/references.h"
#include "kernel/testing_play.h"

namespace {

using namespace holdfast;
using namespace holdfast::kernel;
using kernel::testing::Input;
using kernel::testing::MemoryBlobs;
using kernel::testing::Play;
using kernel::testing::Prepared;
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
    find_blobs(BlobKind::kSnapshot, snapshot);
    Input receipt;
    receipt.kind = Input::Kind::kReceipt;
    CHECK(play.send(receipt).empty());
    record = play.last().record;
    CHECK(!record.empty());
    prepare_inputs();
  }

  // Everything that the snapshot reaches.
  void find_blobs(BlobKind kind, base::ByteView bytes) {
    const auto references = references_of(kind, bytes);
    CHECK(references.has_value());
    for (const BlobReference& reference : *references) {
      blobs.push_back(reference.hash);
      if (reference.kind != BlobKind::kPlain)
        find_blobs(reference.kind, *play.blobs().get(reference.hash));
    }
  }

  // One of each kind that comes to what was read back, for everything that is there.
  void prepare_inputs() {
    Input input;
    input.event = {"t/Both@1", "k0", 0, "b(a)"};
    inputs.push_back(input);
    for (std::size_t i = 0; i < play.reporter().intents().size(); ++i) {
      input = {};
      input.kind = Input::Kind::kProgress;
      input.intent = i;
      input.sequence = 1;
      inputs.push_back(input);
      input.kind = Input::Kind::kReceipt;
      inputs.push_back(input);
    }
    for (const auto& [name, instance] : play.model().instances()) {
      for (const Control control : {Control::kPause, Control::kResume, Control::kCancel}) {
        input = {};
        input.kind = Input::Kind::kControl;
        input.control = control;
        input.workflow = name.first;
        input.key = name.second;
        inputs.push_back(input);
      }
    }
    for (const Input::Kind kind :
         {Input::Kind::kContinue, Input::Kind::kPropose, Input::Kind::kApply}) {
      input = {};
      input.kind = kind;
      inputs.push_back(input);
    }
  }

  Play play;
  base::Bytes snapshot;
  base::Bytes record;
  std::vector<base::Hash> blobs;
  std::deque<Input> inputs;
};

// The blobs of the subject, one of them with other bytes. It keeps its name: that is the same to
// the kernel, which hashes nothing that it reads, as a new name in everything that leads to it.
class ChangedBlobs : public Blobs {
 public:
  explicit ChangedBlobs(const Blobs& good) : good_(good) {}
  void change(const base::Hash& hash, base::Bytes bytes) {
    changed_ = hash;
    bytes_ = std::move(bytes);
  }
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    if (hash == changed_) return bytes_;
    auto own = own_.get(hash);
    return own ? std::move(own) : good_.get(hash);
  }
  base::Result<base::Hash> put(base::ByteView bytes) override { return own_.put(bytes); }

 private:
  const Blobs& good_;
  MemoryBlobs own_;
  base::Hash changed_;
  base::Bytes bytes_;
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
  auto world =
      World::restore(kMachines, subject.play.blobs(), subject.snapshot, testing::kPlayOptions);
  CHECK(world.has_value());
  const auto view = read_record(record);
  const auto outcome = world->replay(record);
  if (outcome) CHECK(base::equal(outcome->record, record) && view.has_value());
}

// If it opens, it can be used, up to the failure that it may come to. `first` says with what to
// begin: each input is the first to meet what is wrong once.
void open(Subject& subject, Blobs& blobs, base::ByteView snapshot, std::size_t first) {
  auto world = World::restore(kMachines, blobs, snapshot, testing::kPlayOptions);
  if (!world) return;
  for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
    const Input& input = subject.inputs[(first + i) % subject.inputs.size()];
    const Prepared prepared(input, subject.play.reporter().intents(), 100 + i);
    if (world->reduce(prepared.tick()).failure) return;
    if (input.kind == Input::Kind::kControl)
      (void)world->why(input.workflow, base::as_bytes(input.key));
  }
  (void)world->visit_instances([](std::string_view, const Cell&) { return true; });
  (void)world->visit_intents([](const base::Hash&, const Intent&) { return true; });
  (void)world->snapshot();
}

void open(Subject& subject, base::ByteView snapshot, std::size_t first) {
  ChangedBlobs blobs(subject.play.blobs());
  open(subject, blobs, snapshot, first);
}

// One byte says which blob.
void open_changed(Subject& subject, base::ByteView bytes, bool whole, std::size_t first) {
  if (bytes.empty()) return;
  const base::Hash& hash = subject.blobs[bytes[0] % subject.blobs.size()];
  bytes = bytes.subspan(1);
  ChangedBlobs blobs(subject.play.blobs());
  blobs.change(hash, whole ? base::Bytes(bytes.begin(), bytes.end())
                           : changed(*subject.play.blobs().get(hash), bytes));
  open(subject, blobs, subject.snapshot, first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Subject subject;
  if (size == 0) return 0;
  const base::ByteView bytes(data + 1, size - 1);
  const std::size_t first = data[0] / 6;
  switch (data[0] % 6) {
    case 0: replay(subject, bytes); break;
    case 1: replay(subject, changed(subject.record, bytes)); break;
    case 2: open(subject, bytes, first); break;
    case 3: open(subject, changed(subject.snapshot, bytes), first); break;
    case 4: open_changed(subject, bytes, true, first); break;
    default: open_changed(subject, bytes, false, first); break;
  }
  return 0;
}
