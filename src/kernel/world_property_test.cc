// SPDX-License-Identifier: Apache-2.0
// For random ticks: the world does what the model says, and what holds for every sequence of ticks
// holds for this one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <string>

#include "kernel/testing_story.h"
#include "kernel/world.h"

namespace holdfast::kernel {
namespace {

using testing::Choice;
using testing::Input;
using testing::MemoryBlobs;
using testing::Model;
using testing::Prediction;
using testing::Prepared;
using testing::Reporter;
using testing::ScriptMachines;
using testing::Teller;

// Cases per property, unless RC_PARAMS asks for another number.
const bool kCases = setenv("RC_PARAMS", "max_success=100", 0) == 0;

const ScriptMachines kMachines;

// A story that rapidcheck tells and makes shorter: it ends when the choices do.
class Story {
 public:
  static Story any() {
    return Story(*rc::gen::scale(4.0, rc::gen::arbitrary<std::vector<std::uint16_t>>()));
  }

  explicit Story(std::vector<std::uint16_t> choices) : choices_(std::move(choices)) {
    Input first;
    first.kind = Input::Kind::kApply;
    send(first);
    const Choice choice = [this](std::size_t bound) {
      if (bound == 0 || at_ >= choices_.size()) return std::size_t{0};
      return std::size_t{choices_[at_++]} % bound;
    };
    while (at_ < choices_.size()) {
      for (const Input& input : Teller(model_, choice).tell()) send(input);
    }
  }

 private:
  void send(const Input& input) {
    inputs_.push_back(input);
    const Prepared prepared(inputs_.back(), reporter_.intents(), inputs_.size());
    const Outcome outcome = world_.reduce(prepared.tick());
    RC_ASSERT(!outcome.failure.has_value());
    const Prediction expected = model_.reduce(inputs_.back());
    const Prediction told = reporter_.report(outcome);
    RC_ASSERT(told.answer == expected.answer);
    RC_ASSERT(told.commands == expected.commands);
    for (const auto& [name, standing] : model_.instances())
      RC_ASSERT(reporter_.describe(world_.find(name.first, base::as_bytes(name.second))) ==
                standing);
  }

  std::vector<std::uint16_t> choices_;
  std::size_t at_ = 0;
  MemoryBlobs blobs_;
  World world_{kMachines, blobs_};
  Reporter reporter_{blobs_};
  Model model_;
  std::deque<Input> inputs_;
};

RC_GTEST_PROP(WorldProperty, the_world_does_what_the_model_says, ()) { Story::any(); }

}  // namespace
}  // namespace holdfast::kernel
