// SPDX-License-Identifier: Apache-2.0
// For random ticks: the world does what the model says; and however a run is cut, put away,
// replayed, repeated or squeezed, it stays the same run.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "kernel/testing_play.h"
#include "kernel/testing_teller.h"
#include "kernel/world.h"

namespace holdfast::kernel {
namespace {

using testing::Choice;
using testing::Input;
using testing::kPlayOptions;
using testing::MemoryBlobs;
using testing::Name;
using testing::Play;
using testing::Prepared;
using testing::ScriptMachines;
using testing::Teller;

// Cases per property, unless RC_PARAMS asks for another number.
const bool kCases = setenv("RC_PARAMS", "max_success=300", 0) == 0;

const ScriptMachines kMachines;

// Choices that rapidcheck makes and shrinks; when they run out, every further one is 0.
class Choices {
 public:
  Choices() : all_(*rc::gen::scale(4.0, rc::gen::arbitrary<std::vector<std::uint16_t>>())) {}

  bool over() const { return at_ >= all_.size(); }
  std::size_t below(std::size_t bound) {
    return bound == 0 || over() ? 0 : std::size_t{all_[at_++]} % bound;
  }

 private:
  std::vector<std::uint16_t> all_;
  std::size_t at_ = 0;
};

Input apply_first() {
  Input input;
  input.kind = Input::Kind::kApply;
  return input;
}

Input event(std::string schema, std::uint64_t number, std::string script) {
  Input input;
  input.event = {std::move(schema), "k" + std::to_string(number), number, std::move(script)};
  return input;
}

Input receipt(std::size_t intent) {
  Input input;
  input.kind = Input::Kind::kReceipt;
  input.intent = intent;
  return input;
}

// A random run, on which world and model agree. It ends when the choices do.
class Story {
 public:
  Story() {
    send(apply_first());
    const Choice choice = [this](std::size_t bound) { return choices_.below(bound); };
    while (!choices_.over()) {
      for (const Input& input : Teller(play_.model(), choice).tell()) send(input);
    }
  }

  void send(const Input& input) {
    const std::string difference = play_.send(input);
    RC_ASSERT(difference == "");
  }

  const Play& play() const { return play_; }
  std::size_t size() const { return play_.inputs().size(); }
  const base::Bytes& record(std::size_t at) const { return play_.records()[at]; }

  // The same tick again; another world knows its intents by the same hashes.
  Outcome send_again(World& world, std::size_t at) const {
    const Prepared prepared(play_.inputs()[at], play_.reporter().intents(), at);
    return world.reduce(prepared.tick());
  }

  // The same tick to a world that is as far as this one was then: the same comes of it.
  void repeat(World& world, std::size_t at) const {
    const Outcome outcome = send_again(world, at);
    RC_ASSERT(!outcome.failure.has_value());
    RC_ASSERT(outcome.record == record(at));
  }

  base::Bytes end() { return *play_.world().snapshot(); }
  MemoryBlobs& blobs() { return play_.blobs(); }

 private:
  Choices choices_;
  Play play_{kMachines};
};

RC_GTEST_PROP(WorldProperty, the_world_does_what_the_model_says, ()) { const Story story; }

RC_GTEST_PROP(WorldProperty, replaying_a_prefix_and_living_the_rest_is_the_same, ()) {
  Story story;
  const auto cut = *rc::gen::inRange<std::size_t>(0, story.size() + 1);
  MemoryBlobs blobs;
  World world(kMachines, blobs, kPlayOptions);
  for (std::size_t at = 0; at < story.size(); ++at) {
    if (at >= cut) {
      story.repeat(world, at);
    } else if (!story.record(at).empty()) {
      const auto replayed = world.replay(story.record(at));
      if (!replayed) RC_FAIL(replayed.error().to_string());
    }
  }
  RC_ASSERT(*world.snapshot() == story.end());
}

RC_GTEST_PROP(WorldProperty, a_snapshot_after_any_tick_is_invisible, ()) {
  Story story;
  const auto points =
      *rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, story.size()));
  MemoryBlobs blobs;
  World world(kMachines, blobs, kPlayOptions);
  for (std::size_t at = 0; at < story.size(); ++at) {
    story.repeat(world, at);
    if (!points.contains(at)) continue;
    auto restored = World::restore(kMachines, blobs, *world.snapshot(), kPlayOptions);
    if (!restored) RC_FAIL(restored.error().to_string());
    world = std::move(*restored);
  }
  RC_ASSERT(*world.snapshot() == story.end());
}

RC_GTEST_PROP(WorldProperty, what_is_not_accepted_changes_nothing, ()) {
  const Story story;
  MemoryBlobs blobs;
  World world(kMachines, blobs, kPlayOptions);
  base::Bytes before = *world.snapshot();
  for (std::size_t at = 0; at < story.size(); ++at) {
    story.repeat(world, at);
    base::Bytes after = *world.snapshot();
    RC_ASSERT((after == before) == story.record(at).empty());
    before = std::move(after);
  }
}

// Every event that has an id, and every receipt, comes again right away and once more at the end.
RC_GTEST_PROP(WorldProperty, what_comes_twice_changes_nothing, ()) {
  Story story;
  MemoryBlobs blobs;
  World world(kMachines, blobs, kPlayOptions);
  std::vector<std::size_t> repeatable;
  const auto again = [&](std::size_t at) {
    const Outcome outcome = story.send_again(world, at);
    RC_ASSERT(std::holds_alternative<Repeated>(outcome.answer));
    RC_ASSERT(outcome.record.empty() && outcome.commands.empty());
  };
  for (std::size_t at = 0; at < story.size(); ++at) {
    story.repeat(world, at);
    const Input& input = story.play().inputs()[at];
    const bool can_repeat = input.kind == Input::Kind::kReceipt ||
                            (input.kind == Input::Kind::kEvent && !input.id.empty());
    if (!can_repeat || story.record(at).empty()) continue;
    repeatable.push_back(at);
    again(at);
  }
  for (const std::size_t at : repeatable) again(at);
  RC_ASSERT(*world.snapshot() == story.end());
}

RC_GTEST_PROP(WorldProperty, a_world_without_room_comes_to_the_same, ()) {
  Story story;
  MemoryBlobs blobs;
  World world(kMachines, blobs,
              WorldOptions{.cells = {1, 1}, .mail_per_instance = testing::kModelMail});
  for (std::size_t at = 0; at < story.size(); ++at) {
    story.repeat(world, at);
    // What is flushed may be let go of.
    if (at % 2 == 0) RC_ASSERT(world.snapshot().has_value());
  }
  RC_ASSERT(*world.snapshot() == story.end());
}

// The instances that a record touched.
std::set<Name> touched(base::ByteView record) {
  std::set<Name> names;
  auto at = codec::View::of(record).elements().begin();
  for (int i = 0; i < 5; ++i) ++at;
  for (const codec::View instance : (*at).elements()) {
    auto field = instance.elements().begin();
    const std::string workflow(*(*field).text());
    ++field;
    names.emplace(workflow, std::string(base::as_text(*(*field).bytes())));
  }
  return names;
}

// What must not depend on the order of receipts: how each instance stands, its state, its outcome,
// and what it has open by effect and params. Record numbers, times, and with them the identities of
// intents tell the order, and are left out.
std::string ends(World& world, const testing::Reporter& reporter, const std::set<Name>& names) {
  std::string text;
  for (const Name& name : names) {
    const Cell* cell = *world.find(name.first, base::as_bytes(name.second));
    text += testing::words(name);
    if (cell == nullptr) {
      text += " is gone\n";
      continue;
    }
    text += " " + testing::standing(cell->status(), cell->paused, {}, cell->mail.size()) + " " +
            base::to_hex(reporter.state_of(*cell)) + " " + base::to_hex(cell->outcome);
    for (const base::Hash& hash : std::vector(cell->intents.begin(), cell->intents.end())) {
      const Intent* intent = *world.find_intent(hash);
      text += " " + world.program().effect(intent->effect()).name + " " +
              base::to_hex(intent->params());
    }
    text += "\n";
  }
  return text;
}

// Receipts of two instances are independent if no instance is touched by both.
RC_GTEST_PROP(WorldProperty, independent_receipts_commute, ()) {
  Story story;
  Choices more;
  const Choice choice = [&](std::size_t bound) { return more.below(bound); };
  const auto a_script = [&] { return Teller(story.play().model(), choice).any_script(); };
  story.send(event("t/Text@1", 7, "a(" + a_script() + ")"));
  story.send(event("t/Number@1", 8, "b(" + a_script() + ")"));
  const std::size_t opened = story.play().model().intents().size();
  RC_PRE(opened >= 2 && !story.play().model().has_left_over());
  const Input inputs[] = {receipt(opened - 1), receipt(opened - 2)};
  const base::Bytes begin = story.end();

  std::string told[2];
  std::set<Name> names[2];
  for (const std::size_t first : {0u, 1u}) {
    auto world = World::restore(kMachines, story.blobs(), begin, kPlayOptions);
    RC_ASSERT(world.has_value());
    for (const std::size_t which : {first, 1 - first}) {
      const Prepared prepared(inputs[which], story.play().reporter().intents(), which);
      const Outcome outcome = world->reduce(prepared.tick());
      RC_ASSERT(!outcome.record.empty());
      if (first == 0) names[which] = touched(outcome.record);
    }
    std::set<Name> all = names[0];
    all.insert(names[1].begin(), names[1].end());
    told[first] = ends(*world, story.play().reporter(), all);
  }
  for (const Name& name : names[0]) RC_PRE(!names[1].contains(name));
  RC_ASSERT(told[0] == told[1]);
}

}  // namespace
}  // namespace holdfast::kernel
