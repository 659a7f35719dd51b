// SPDX-License-Identifier: Apache-2.0
// Ticks to the scripted world. Tame ones must come to what the model says; wild ones, made of
// arbitrary bytes, to any answer at all. Whatever is accepted leaves a record that is canonical,
// and a second world, without room and put away now and then, replays it to the same end.
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "codec/normaliser.h"
#include "kernel/testing_play.h"
#include "kernel/testing_teller.h"

namespace {

using namespace holdfast;
using namespace holdfast::kernel;
using kernel::testing::Choice;
using kernel::testing::Document;
using kernel::testing::Input;
using kernel::testing::MemoryBlobs;
using kernel::testing::Play;
using kernel::testing::ScriptMachines;
using kernel::testing::Teller;

constexpr std::size_t kMostTicks = 48;

const ScriptMachines& machines() {
  static const ScriptMachines all;
  return all;
}

// The bytes, and behind them, if the first is odd, numbers that follow from them: so that short
// inputs tell long stories too.
class Source {
 public:
  explicit Source(base::ByteView bytes) : rest_(bytes), goes_on_(!bytes.empty() && bytes[0] % 2) {
    for (const std::uint8_t byte : bytes) state_ = (state_ ^ byte) * 0x100000001b3;
  }

  bool over() const { return rest_.empty() && !goes_on_; }
  std::size_t below(std::size_t bound) {
    if (bound == 0) return 0;
    std::size_t number = next();
    if (bound > 256) number = number << 8 | next();
    return number % bound;
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (std::size_t i = below(9); i > 0; --i) value = value << 8 | next();
    return value;
  }
  base::Bytes bytes() {
    base::Bytes taken(below(64));
    for (std::uint8_t& byte : taken) byte = static_cast<std::uint8_t>(next());
    return taken;
  }

 private:
  std::size_t next() {
    if (rest_.empty()) {
      if (!goes_on_) return 0;
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      return static_cast<std::size_t>(state_ >> 56);
    }
    const std::size_t byte = rest_[0];
    rest_ = rest_.subspan(1);
    return byte;
  }

  base::ByteView rest_;
  bool goes_on_;
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// A tick that nobody would send. It owns its bytes.
class WildTick {
 public:
  WildTick(Source& source, const std::vector<base::Hash>& intents) : source_(source) {
    intent_.bytes.fill(7);
    if (const std::size_t which = source.below(intents.size() + 1); which < intents.size())
      intent_ = intents[which];
    tick_.time_ns = source.word();
    tick_.entropy.fill(static_cast<std::uint8_t>(source.below(256)));
    name_ = name();
    text_ = source.below(2) == 0 ? base::Bytes() : source.bytes();
    value_ = value();
    key_ = source.below(2) == 0 ? base::Bytes{0x62, 'k', '0'} : source.bytes();
    number_ = source.below(4) == 0 ? source.word() : source.below(16);
    fill();
  }
  WildTick(const WildTick&) = delete;
  WildTick& operator=(const WildTick&) = delete;

  const Tick& tick() const { return tick_; }

 private:
  static constexpr const char* kNames[] = {
      "t/Text@1",         "t/Number@1",    "t/Both@1",
      "t/Plain@1",        "t/Nobody@1",    "t/State@1",
      "t/FullEvent@1",    "t/SomeEvent@1", "t/Name@1",
      "t/WholeEvent@1",   "w/Full@1",      "w/Some@1",
      "w/Deaf@1",         "w/Whole@1",     "sys/EffectReceiptEnvelope@1",
      "sys/EffectError@1"};

  std::string name() {
    const std::size_t which = source_.below(std::size(kNames) + 1);
    if (which < std::size(kNames)) return kNames[which];
    return std::string(base::as_text(source_.bytes()));
  }

  // Arbitrary, or something good with a few bytes changed.
  base::Bytes value() {
    base::Bytes made;
    switch (source_.below(6)) {
      case 0: return source_.bytes();
      case 1: made = kernel::testing::documents()[Document::kFirst]; break;
      case 2: made = kernel::testing::documents()[Document::kPatch]; break;
      case 3: made = kernel::testing::documents().pretended_receipt(); break;
      default: {
        codec::Buffer out;
        kernel::testing::write_script_event(
            out, {"t/Both@1", "k0", 0, std::string(base::as_text(source_.bytes()))});
        made = out.to_bytes();
      }
    }
    for (std::size_t i = source_.below(4); i > 0; --i)
      made[source_.below(made.size())] = static_cast<std::uint8_t>(source_.below(256));
    return made;
  }

  void fill() {
    const std::string_view text = base::as_text(text_);
    switch (source_.below(11)) {
      case 0: {
        workflow_ = source_.below(2) == 0 ? "" : name();
        tick_.input = EventArrived{name_, value_, text, workflow_, key_, source_.below(2) == 1};
        return;
      }
      case 1: {
        ReceiptArrived receipt{
            intent_, static_cast<ReceiptStatus>(source_.below(4)), value_, {}, {}};
        if (source_.below(2) == 1) receipt.cost_cents = number_;
        if (source_.below(4) == 3) receipt.signature = {key_, value_};
        tick_.input = receipt;
        return;
      }
      case 2: tick_.input = ProgressArrived{intent_, number_, text, value_}; return;
      case 3: tick_.input = Continue{}; return;
      case 4:
        tick_.input = ControlRequested{static_cast<Control>(source_.below(3)), name_, key_, text};
        return;
      case 5: tick_.input = ApplyManifest{value_}; return;
      case 6: tick_.input = Propose{value_, text}; return;
      case 7: tick_.input = ReportShadow{number_, value_}; return;
      case 8: tick_.input = Decide{number_, source_.below(2) == 1, name_, text}; return;
      case 9: tick_.input = ApplyProposal{number_}; return;
      default:
        if (source_.below(4) != 0) {
          codec::Buffer list;
          write_forget_list(list, {{name_, key_, number_}});
          value_ = list.to_bytes();
        }
        tick_.input = ForgetEnded{value_};
        return;
    }
  }

  Source& source_;
  base::Hash intent_;
  std::string name_;
  std::string workflow_;
  base::Bytes text_;
  base::Bytes value_;
  base::Bytes key_;
  std::uint64_t number_ = 0;
  Tick tick_;
};

// The second world.
class Follower {
 public:
  void follow(base::ByteView record) {
    codec::Normaliser normaliser;
    CHECK(normaliser.from_cbor(codec::Schema::item(), record, codec::Strictness::kStrict));
    const auto replayed = world_.replay(record);
    if (!replayed) std::fprintf(stderr, "%s\n", replayed.error().to_string().c_str());
    CHECK(replayed.has_value());
  }

  void put_away() {
    auto restored = World::restore(machines(), blobs_, *world_.snapshot(), kOptions);
    CHECK(restored.has_value());
    world_ = std::move(*restored);
  }

  base::Bytes end() { return *world_.snapshot(); }

 private:
  static constexpr WorldOptions kOptions{.cells = {1, 1}, .mail_per_instance = testing::kModelMail};
  MemoryBlobs blobs_;
  World world_{machines(), blobs_, kOptions};
};

class Run {
 public:
  explicit Run(base::ByteView bytes) : source_(bytes) {}

  void run() {
    Input first;
    first.kind = Input::Kind::kApply;
    tame(first);
    const Choice choice = [this](std::size_t bound) { return source_.below(bound); };
    for (std::size_t i = 0; i < kMostTicks && !source_.over(); ++i) {
      const std::size_t next = source_.below(16);
      if (next == 15) follower_.put_away();
      if (next >= 12 && next < 15) {
        wild();
      } else {
        for (const Input& input : Teller(play_.model(), choice).tell()) tame(input);
      }
    }
    CHECK(follower_.end() == *play_.world().snapshot());
  }

 private:
  // The model knows nothing of wild ticks: once one is accepted, it is not asked any more.
  void tame(const Input& input) {
    const std::string difference = play_.send(input);
    if (knows_all_ && !difference.empty()) {
      std::fprintf(stderr, "%s\n", difference.c_str());
      CHECK(difference.empty());
    }
    accept(play_.last());
  }

  void wild() {
    const WildTick wild(source_, play_.reporter().intents());
    const Outcome outcome = play_.world().reduce(wild.tick());
    if (!outcome.record.empty()) knows_all_ = false;
    accept(outcome);
  }

  void accept(const Outcome& outcome) {
    CHECK(!outcome.failure.has_value());
    CHECK(std::holds_alternative<Accepted>(outcome.answer) == !outcome.record.empty());
    if (!outcome.record.empty()) follower_.follow(outcome.record);
  }

  Source source_;
  Play play_{machines()};
  Follower follower_;
  bool knows_all_ = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run({data, size}).run();
  return 0;
}
