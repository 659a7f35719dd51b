// SPDX-License-Identifier: Apache-2.0
// One program in several releases, with the whole command line of Holdfast around it. The variable
// RELEASE says which one it is:
//   first      two workflows
//   recoded    the same definitions; an order with the id "odd" is counted differently
//   migrating  orders have another state; those of before move, but for the one with the id "odd"
//   without    one of the workflows is gone
//   retyped    an event that is routed has another type
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/main.h"
#include "holdfast/workflow.h"

namespace {

using namespace holdfast;

struct Placed {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
};
struct RetypedPlaced {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
  std::uint64_t cents = 0;
};
struct Asked {
  static constexpr std::string_view kSchema = "shop/Asked@1";
  std::string id;
};

// Waits for ever.
template <class Begin, bool kRecoded>
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t count = 0;
    bool is_odd = false;
  };
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Context = holdfast::Context<Order>;
  static void step(State& state, const Begin& begin, Context&) {
    state.is_odd = begin.id == "odd";
    state.count += kRecoded && state.is_odd ? 2 : 1;
  }
};
using FirstOrder = Order<Placed, false>;

struct MigratingOrder {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t count = 0;
    std::string currency;
  };
  using Earlier = FirstOrder::State;
  using Events = holdfast::Events<On<Placed, &Placed::id>>;
  using Context = holdfast::Context<MigratingOrder>;
  static std::optional<State> migrate(const Earlier& earlier) {
    if (earlier.is_odd) return std::nullopt;
    return State{earlier.count, "EUR"};
  }
  static void step(State& state, const Placed&, Context&) { ++state.count; }
};

struct Question {
  static constexpr std::string_view kWorkflow = "shop/Question@1";
  struct State {
    std::uint64_t count = 0;
  };
  using Events = holdfast::Events<On<Asked, &Asked::id>>;
  using Context = holdfast::Context<Question>;
  static void step(State& state, const Asked&, Context&) { ++state.count; }
};

std::vector<Module> modules_of(std::string_view release) {
  const Module questions = Module::of<Question>("shop/questions@1");
  const Module first = Module::of<FirstOrder>("shop/orders@1");
  if (release == "first") return {first, questions};
  if (release == "recoded") return {Module::of<Order<Placed, true>>("shop/orders@1"), questions};
  if (release == "migrating")
    return {Module::of<MigratingOrder>("shop/orders@1").with_earlier(first), questions};
  if (release == "without") return {first};
  if (release == "retyped")
    return {Module::of<Order<RetypedPlaced, false>>("shop/orders@1").with_earlier(first),
            questions};
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const char* const release = std::getenv("RELEASE");
  return holdfast::main(argc, argv, {.modules = modules_of(release == nullptr ? "" : release)});
}
