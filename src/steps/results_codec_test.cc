// SPDX-License-Identifier: Apache-2.0
#include "steps/results_codec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codec/schema.h"
#include "steps/testing_body.h"
#include "steps/testing_graph.h"

namespace holdfast::steps::testing {
namespace {

// The graph with the names that bodies use.
Graph named_graph() {
  const Graph plain = graph_of("work: A -> B \n end: B -> Stop \n ask: Start -> Ask");
  std::vector<EventType> types = plain.types();
  for (EventType& type : types) type.schema = full_name(type.schema);
  return {types, plain.steps()};
}

class Results : public ::testing::Test {
 protected:
  base::Result<std::vector<Did>> read(const Doing& doing) {
    bytes_ = doing.results();
    return read_results(bytes_, graph_, arena_);
  }
  std::string refused(const Doing& doing) {
    const auto did = read(doing);
    return did ? "good" : did.error().to_string();
  }

  Graph graph_ = named_graph();
  Arena arena_;
  base::Bytes bytes_;
};

TEST_F(Results, everything_that_a_body_can_do_is_read) {
  Doing doing;
  doing.collects("A", 3, "pairs")
      .empties("pairs")
      .sends("A", 4, "work")
      .sends("A", 5)
      .streams("B", 6)
      .stores("n", 7, true)
      .cancels("end")
      .cancels_run("enough")
      .saw("pairs")
      .cancels_untold("end")
      .returns("B", 1);
  const auto did = read(doing);
  ASSERT_TRUE(did) << did.error().to_string();
  ASSERT_EQ(did->size(), 11U);
  EXPECT_EQ(std::get<AddCollected>((*did)[0]).buffer, "pairs");
  EXPECT_EQ(std::get<DeleteCollected>((*did)[1]).buffer, "pairs");
  EXPECT_EQ(std::get<Sent>((*did)[2]).target, graph_.step_named("work"));
  EXPECT_FALSE(std::get<Sent>((*did)[3]).target);
  EXPECT_EQ(number_in(std::get<Streamed>((*did)[4]).event.value), 6U);
  EXPECT_TRUE(std::get<StoreEdit>((*did)[5]).is_transactional);
  EXPECT_EQ(std::get<CancelStep>((*did)[6]).step, *graph_.step_named("end"));
  EXPECT_TRUE(std::get<CancelStep>((*did)[6]).stops);
  EXPECT_EQ(std::get<CancelRun>((*did)[7]).reason, "enough");
  EXPECT_EQ(std::get<SawCollected>((*did)[8]).buffer, "pairs");
  EXPECT_FALSE(std::get<CancelStep>((*did)[9]).stops);
  EXPECT_EQ(number_in(std::get<Returned>((*did)[10]).event->value), 1U);
}

TEST_F(Results, every_end_of_a_body_is_read) {
  EXPECT_FALSE(std::get<Returned>(read(Doing().returns_nothing())->at(0)).event);
  EXPECT_EQ(std::get<ReturnedList>(read(Doing().returns_list("A", {1, 2}))->at(0)).events.size(),
            2U);
  const auto retries = std::get<Failed>(read(Doing().fails("oops", 7))->at(0));
  EXPECT_EQ(retries.retry_ns, 7U);
  EXPECT_TRUE(retries.is_judged);
  EXPECT_FALSE(std::get<Failed>(read(Doing().fails("oops"))->at(0)).retry_ns);
  const auto waiter = std::get<AddWaiter>(read(Doing().waits("w", "A", 9, "Ask"))->at(0));
  EXPECT_EQ(waiter.id, "w");
  EXPECT_EQ(waiter.timeout_ns, 9U);
  EXPECT_EQ(graph_.type(waiter.asks->type).schema, "t/Ask@1");
}

TEST_F(Results, a_body_ends_once) {
  EXPECT_EQ(refused(Doing().returns("B", 1).returns_nothing()), "results: a body returns once");
  EXPECT_EQ(refused(Doing().returns("B", 1).returns_list("A", {1})),
            "results: a body returns once");
  EXPECT_EQ(refused(Doing().waits("v", "A").waits("w", "A")),
            "results: a body waits or fails once");
  EXPECT_EQ(refused(Doing().fails("v").fails("w")), "results: a body waits or fails once");
}

TEST_F(Results, a_failure_has_a_code) {
  EXPECT_EQ(refused(Doing().fails("")), "results: they are not of the form of results");
}

TEST_F(Results, that_name_what_is_not_there_are_refused) {
  EXPECT_EQ(refused(Doing().returns("X", 1)), "results: no event of the workflow is a 't/X@1'");
  EXPECT_EQ(refused(Doing().sends("A", 1, "rest")), "results: there is no step 'rest'");
  EXPECT_EQ(refused(Doing().cancels("rest")), "results: there is no step 'rest'");
  EXPECT_EQ(refused(Doing().waits("w", "X")), "results: no event of the workflow is a 't/X@1'");
}

TEST_F(Results, a_value_must_fit_the_schema_of_its_type) {
  std::vector<EventType> types = graph_.types();
  for (EventType& type : types) type.form = codec::Schema::any();
  const Graph strict(types, graph_.steps());
  codec::Buffer out;
  codec::write_list_head(out, 1);
  codec::write_list_head(out, 3);
  codec::write_nat(out, 0);
  codec::write_text(out, "t/B@1");
  const std::uint8_t bytes[] = {0x41, 0x01};  // a byte string, which JSON does not have
  codec::write_bytes(out, bytes);
  EXPECT_TRUE(read_results(out.view(), graph_, arena_));
  const auto did = read_results(out.view(), strict, arena_);
  ASSERT_FALSE(did);
  EXPECT_TRUE(did.error().to_string().starts_with("t/B@1: ")) << did.error().to_string();
}

TEST_F(Results, a_text_that_is_too_long_or_no_text_is_refused) {
  EXPECT_EQ(refused(Doing().cancels_run(std::string(4097, 'x'))),
            "results: they are not of the form of results");
  EXPECT_EQ(refused(Doing().cancels_run("\xff")), "results: they are not of the form of results");
  EXPECT_EQ(refused(Doing().stores(std::string(1025, 'x'), 1)),
            "results: they are not of the form of results");
}

TEST_F(Results, a_name_that_is_no_text_is_refused_wherever_it_stands) {
  // A byte that is no UTF-8, in the names of a step, an event, a buffer, a wait.
  const auto with_bad_text = [](const Doing& doing, std::string_view text) {
    base::Bytes bytes = doing.results();
    const auto at = std::search(bytes.begin(), bytes.end(), text.begin(), text.end());
    EXPECT_NE(at, bytes.end());
    *at = 0xff;
    return bytes;
  };
  for (const base::Bytes& bytes : {with_bad_text(Doing().sends("A", 1, "work"), "work"),
                                   with_bad_text(Doing().cancels("work"), "work"),
                                   with_bad_text(Doing().returns("A", 1), "t/A@1"),
                                   with_bad_text(Doing().collects("A", 1, "some"), "some"),
                                   with_bad_text(Doing().waits("some", "A"), "some"),
                                   with_bad_text(Doing().fails("oops"), "oops")}) {
    const auto did = read_results(bytes, graph_, arena_);
    ASSERT_FALSE(did);
    EXPECT_EQ(did.error().to_string(), "results: they are not of the form of results");
  }
}

// The failure was told by the receipt before it: whoever counts failures counts it once.
TEST_F(Results, a_verdict_is_read_as_a_failure_and_is_none_of_its_own) {
  const auto results = [](bool is_verdict) {
    codec::Buffer out;
    codec::write_list_head(out, 1);
    codec::write_list_head(out, is_verdict ? 6 : 5);
    codec::write_nat(out, 2);
    codec::write_text(out, "effect.timeout");
    codec::write_text(out, "late");
    codec::write_bool(out, true);
    codec::write_list_head(out, 1);
    codec::write_nat(out, 7);
    if (is_verdict) codec::write_bool(out, true);
    return out.to_bytes();
  };
  for (const bool is_verdict : {false, true}) {
    const base::Bytes bytes = results(is_verdict);
    const auto did = read_results(bytes, graph_, arena_);
    ASSERT_TRUE(did);
    const auto* const failed = std::get_if<Failed>(&did->front());
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->retry_ns, 7U);
    EXPECT_EQ(failure_in(bytes).has_value(), !is_verdict);
  }
}

TEST_F(Results, a_body_that_does_too_much_is_refused) {
  Doing doing;
  for (int i = 0; i < 16'385; ++i) doing.empties();
  EXPECT_EQ(refused(doing), "results: they are not of the form of results");
}

TEST_F(Results, bytes_that_are_wrong_are_refused_and_do_no_harm) {
  Doing doing;
  doing.returns_list("A", {1, 2}).waits("w", "A", 9, "Ask").stores("n", 7).fails("x", 1);
  const base::Bytes good = doing.results();
  ASSERT_TRUE(read_results(good, graph_, arena_));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(read_results(base::ByteView(good).first(size), graph_, arena_)) << size;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 1; bit < 256; bit *= 2) {
      base::Bytes bad = good;
      bad[at] = static_cast<std::uint8_t>(bad[at] ^ bit);
      static_cast<void>(read_results(bad, graph_, arena_).has_value());
    }
  }
}

}  // namespace
}  // namespace holdfast::steps::testing
