// SPDX-License-Identifier: Apache-2.0
// Bodies that ask for what cannot be: they hear it at the call, with names.
#include <gtest/gtest.h>

#include "native/testing_steps.h"

namespace holdfast::native::step_misuse_test {
namespace {

using Lines = std::vector<std::string>;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
};
enum class Color : std::uint8_t { kRed, kBlue };
struct Place {
  std::string town;
  std::optional<std::map<std::string, std::string>> notes;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string id;
  std::string by;
  Place place;
  Color color{};
  std::variant<Part, Begin> what;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Misuse : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Misuse@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Answer, &Answer::id>>;
  using Stop = End;
  using Sends = holdfast::Sends<Part>;

  std::function<void(StepContext&)> does;

  End begin(const Begin&, StepContext& context) {
    does(context);
    return {"done"};
  }
  static void part(const Part&, StepContext&) {}
  static auto steps() {
    return StepsOf<Misuse>().step("begin", &Misuse::begin).step("part", &Misuse::part);
  }
};

Lines did(std::function<void(StepContext&)> does) {
  testing::BodyOf<Misuse> body;
  body.host->does = std::move(does);
  return body.run("begin", Begin{"k"});
}

TEST(StepMisuse, an_event_is_sent_only_to_a_step_that_takes_it) {
  EXPECT_EQ(did([](StepContext& c) { c.send(Part{1}, "begin"); }),
            Lines{"failed step.bad_send: step 'begin' does not take 'test/Part@1'"});
  EXPECT_EQ(did([](StepContext& c) { c.send(Part{1}, "nosuch"); }),
            Lines{"failed step.bad_send: there is no step 'nosuch'"});
  const Lines sent{"something else", R"(returned test/End@1{"text":"done"})"};
  EXPECT_EQ(did([](StepContext& c) { c.send(Part{1}, "part"); }), sent);
  EXPECT_EQ(did([](StepContext& c) { c.send(Part{1}); }), sent);
}

TEST(StepMisuse, what_ends_the_run_is_neither_sent_nor_waited_for) {
  const std::string end = "'test/End@1' ends the run: ";
  EXPECT_EQ(did([](StepContext& c) { c.send(End{"x"}); }),
            Lines{"failed step.bad_send: " + end + "it is returned by a step, and not sent"});
  EXPECT_EQ(did([](StepContext& c) { c.wait_for<End>(); }),
            Lines{"failed step.bad_wait: " + end + "nobody sends it"});
}

TEST(StepMisuse, a_wait_for_a_field_that_is_not_there_is_refused) {
  const auto waits = [](const char* field) {
    return did([field](StepContext& c) { c.wait_for<Answer>(WaitOptions{}.where(field, "x")); });
  };
  for (const char* good :
       {"by", "place", "place.town", "place.notes", "place.notes.any", "color.$tag", "what.$tag",
        "what.$value", "what.$value.n", "what.$value.id"})
    EXPECT_EQ(waits(good), Lines{"waits #1 test/Answer@1"}) << good;
  for (const std::string bad : {"byy", "", "by.x", "place.tow", "place.notes.any.more", "color.x",
                                "what.n", "what.$value.m", ".by"})
    EXPECT_EQ(waits(bad.c_str()),
              Lines{"failed step.bad_wait: 'test/Answer@1' has no field '" + bad + "'"});
}

TEST(StepMisuse, a_wait_that_the_body_has_caught_is_named) {
  const auto catching = [](StepContext& c) {
    try {
      c.wait_for<Answer>({.id = "first"});
    } catch (...) {
    }
  };
  const Lines caught{
      "failed step.wait_caught: the wait 'first' was caught by the body: what is thrown there is "
      "no error, and must pass"};
  EXPECT_EQ(did(catching), caught);
  EXPECT_EQ(did([&](StepContext& c) {
              catching(c);
              c.wait_for<Answer>({.id = "second"});
            }),
            caught);
}

TEST(StepMisuse, a_literal_is_a_text) {
  EXPECT_EQ(WaitOptions{}.where("by", "boss").wanted.at(0).value,
            WaitOptions{}.where("by", std::string("boss")).wanted.at(0).value);
  EXPECT_EQ(WaitOptions{}.where("by", std::string_view("boss")).wanted.at(0).value,
            WaitOptions{}.where("by", std::string("boss")).wanted.at(0).value);
}

struct Taking : Misuse {
  static constexpr std::string_view kWorkflow = "test/Taking@1";
  static auto steps() {
    return StepsOf<Taking>().step("begin", &Taking::begin, {.take = 7}).step("part", &Taking::part);
  }
};

TEST(StepMisuse, the_first_so_many_are_taken_of_a_list_only) {
  base::Errors errors;
  check_flow(Module::of<Taking>("test/code@1").flows().at(0), errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.begin()->to_string(),
            "test/Taking@1: step 'begin': it takes the first 7 of a list, and takes no list");
}

}  // namespace
}  // namespace holdfast::native::step_misuse_test
