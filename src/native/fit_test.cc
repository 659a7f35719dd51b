// SPDX-License-Identifier: Apache-2.0
// Code that was compiled with other types than a world's definitions say.
#include "native/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "native/testing.h"

namespace holdfast::native::fit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Sent {
  static constexpr std::string_view kSchema = "fit/Sent@1";
  std::string id;
};
struct Said {
  static constexpr std::string_view kSchema = "fit/Said@1";
  std::uint64_t number = 0;
};
struct Call {
  static constexpr std::string_view kEffect = "fit/call@1";
  static constexpr Executor kExecutor = worker("calls");
  struct Params {
    std::string to;
  };
  struct Receipt {
    std::uint64_t cost = 0;
  };
};

struct Desk {
  static constexpr std::string_view kWorkflow = "fit/Desk@1";
  struct State {
    std::uint64_t calls = 0;
  };
  struct Entry {
    std::string note;
  };
  using Events = holdfast::Events<On<Sent, &Sent::id>>;
  using Effects = holdfast::Effects<Call>;
  using Emits = holdfast::Emits<Said>;
  static void step(State& state, const Sent&, Context<Desk>& context) {
    ++state.calls;
    context.open<Call>({"x"});
  }
  static void step(State&, const Received<Call>&, Context<Desk>&) {}
};

class FitTest : public ::testing::Test {
 protected:
  const Module module_ = Module::of<Desk>("fit/code@1");
  const Machines machines_{{&module_, 1}};

  // What a world says to definitions in which something is written otherwise.
  std::vector<std::string> details(const std::string& from, const std::string& to) {
    std::string definitions = definitions_of({&module_, 1});
    const std::size_t at = definitions.find(from);
    EXPECT_NE(at, std::string::npos) << from << definitions;
    definitions.replace(at, from.size(), to);
    kernel::testing::MemoryBlobs blobs;
    kernel::World world(machines_, blobs);
    const base::Bytes document = kernel::testing::document(definitions);
    kernel::Tick tick;
    tick.input = kernel::ApplyManifest{document};
    const kernel::Outcome outcome = world.reduce(tick);
    if (std::holds_alternative<kernel::Accepted>(outcome.answer)) return {};
    const auto& refusal = std::get<kernel::Refused>(outcome.answer);
    EXPECT_EQ(refusal.code, base::ErrorCode::kConflict);
    return refusal.details;
  }
};

TEST_F(FitTest, what_was_compiled_fits_itself) { EXPECT_THAT(details("", ""), ElementsAre()); }

TEST_F(FitTest, types_that_the_code_reads_or_writes_must_be_those_it_was_compiled_with) {
  struct Case {
    const char* from;
    const char* to;
    const char* difference;
  };
  const Case cases[] = {
      {R"("calls":{"nat":{}})", R"("calls":{"int":{}})", "fit/Desk.State@1"},
      {R"("id":{"text":{}})", R"("id":{"text":{}},"more":{"nat":{}})", "fit/Sent@1"},
      {R"("to":{"text":{}})", R"("to":{"nat":{}})", "fit/call.Params@1"},
      {R"("cost":{"nat":{}})", R"("cost":{"int":{}})", "fit/call.Receipt@1"},
      {R"("number":{"nat":{}})", R"("number":{"int":{}})", "fit/Said@1"},
      {R"("note":{"text":{}})", R"("note":{"nat":{}})", "fit/Desk.Entry@1"},
      {R"(,"annotations":"fit/Desk.Entry@1")", "", "the annotations"},
      {R"("effects_emitted":["fit/call@1"])", R"("effects_emitted":[])", "effects_emitted"},
  };
  for (const Case& each : cases) {
    EXPECT_THAT(details(each.from, each.to),
                ElementsAre(::testing::AllOf(HasSubstr("fit/Desk@1"), HasSubstr(each.difference))))
        << each.to;
  }
}

TEST_F(FitTest, who_performs_an_effect_does_not_matter_to_the_code) {
  EXPECT_THAT(details(R"("queue":"calls")", R"("queue":"others")"), ElementsAre());
}

}  // namespace
}  // namespace holdfast::native::fit_test
