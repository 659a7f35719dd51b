// SPDX-License-Identifier: Apache-2.0
// Bodies that collect while others do. Results come back in an order that the test chooses.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

#include "native/testing_steps.h"
#include "steps/live_run.h"

namespace holdfast::native::collect_test {
namespace {

struct Left {
  static constexpr std::string_view kSchema = "test/Left@1";
  std::string id;
};
struct Right {
  static constexpr std::string_view kSchema = "test/Right@1";
  std::string id;
};
struct Pair {
  static constexpr std::string_view kSchema = "test/Pair@1";
  std::string text;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Pairs : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Pairs@1";
  using Events = holdfast::Events<On<Left, &Left::id>, On<Right, &Right::id>>;
  using Stop = End;

  std::optional<Pair> pair(const std::variant<Left, Right>& either, StepContext& context) {
    const auto both =
        std::visit([&](const auto& one) { return context.collect<Left, Right>(one); }, either);
    if (!both) return std::nullopt;
    return Pair{std::get<0>(*both).id + std::get<1>(*both).id};
  }
  std::optional<End> keep(const Pair& pair, StepContext& context) {
    const auto two = context.collect(pair, 2);
    if (!two) return std::nullopt;
    return End{(*two)[0].text + " " + (*two)[1].text};
  }
  static auto steps() {
    return StepsOf<Pairs>().step("pair", &Pairs::pair, {.workers = 3}).step("keep", &Pairs::keep);
  }
};

class Collect : public ::testing::Test, private steps::EntrySink {
 protected:
  // Whoever is asked to run now runs at once, and reports when it is told to.
  template <class Event>
  void send(const Event& event) {
    const base::Bytes value = detail::bytes_of_value(event);
    run_.take_event(*bodies_.graph.type_named(Event::kSchema), value, 1);
    perform();
  }
  void report(std::uint64_t run) {
    ASSERT_TRUE(reports_.contains(run));
    run_.take_results(run, reports_.at(run), 1);
    reports_.erase(run);
    perform();
  }
  // Those that have not reported.
  std::vector<std::uint64_t> runs() const {
    std::vector<std::uint64_t> all;
    for (const auto& [run, results] : reports_) all.push_back(run);
    return all;
  }
  std::string result() const {
    if (!run_.ending()) return "none";
    std::string text(*codec::View::of(run_.ending()->result).find("text")->text());
    return text;
  }

 private:
  void perform() {
    const base::Bytes key = detail::bytes_of_value(std::string("k"));
    codec::Buffer params;
    while (const auto asked = run_.next_run(key, params)) {
      reports_[asked->run] = bodies_.perform(bodies_.graph.step(asked->step).name, params.view());
      params.clear();
    }
  }
  void add(const steps::Entry&) override {}

  testing::BodyOf<Pairs> bodies_;
  steps::LiveRun run_{bodies_.graph, *this};
  std::map<std::uint64_t, base::Bytes> reports_;
};

using Runs = std::vector<std::uint64_t>;

TEST_F(Collect, one_too_many_is_left_out) {
  send(Left{"a"});
  report(1);
  send(Left{"b"});
  report(2);
  send(Right{"c"});
  report(3);
  report(4);  // keep
  send(Right{"d"});
  report(5);
  EXPECT_EQ(runs(), Runs()) << "b was left out, so d waits";
  EXPECT_EQ(result(), "none");
}

TEST_F(Collect, one_too_many_is_judged_by_what_is_there_when_it_counts) {
  send(Left{"a"});
  report(1);
  send(Left{"b"});   // sees a, and is one too many
  send(Right{"c"});  // sees a, and takes it
  EXPECT_EQ(runs(), Runs({2, 3}));
  report(3);
  report(4);  // keep
  report(2);  // a is gone: it runs again, and waits for another
  EXPECT_EQ(runs(), Runs({5}));
  report(5);
  send(Right{"d"});
  report(6);
  report(7);  // keep
  EXPECT_EQ(result(), "ac bd");
}

}  // namespace
}  // namespace holdfast::native::collect_test
