// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: a few that are each about something else.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "steps/testing_stage.h"

namespace holdfast::steps::testing {

inline std::uint64_t sum_of(const std::vector<std::uint64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

// Three steps in a row.
inline Story line_story() {
  return {.graph = "begin: Start -> A \n work: A -> B \n end: B -> Stop",
          .bodies = {{"begin", [](const Seen& s, Doing& d) { d.returns("A", s.n + 1); }},
                     {"work", [](const Seen& s, Doing& d) { d.returns("B", s.n + 1); }},
                     {"end", [](const Seen& s, Doing& d) { d.returns("Stop", s.n + 1); }}}};
}

// A person is asked twice, and takes their time.
inline Story approval_story() {
  return {.graph = "ask: Start -> Stop | Ask \n note: Answer -> B",
          .bodies = {{"ask",
                      [](const Seen& s, Doing& d) {
                        d.streams("B", 9);
                        if (!s.waits.contains("1")) {
                          d.waits("1", "Answer", 0, "Ask");
                        } else if (!s.waits.contains("2")) {
                          d.waits("2", "Answer", 1000, "Ask");
                        } else {
                          d.returns("Stop", *s.waits.at("1") * 10 + *s.waits.at("2"));
                        }
                      }},
                     {"note", [](const Seen&, Doing& d) { d.returns_nothing(); }}},
          .events = {{"Start", 1}, {"Answer", 4}, {"Answer", 5}}};
}

// A step that fails twice before it works, and one that never does and is helped.
inline Story retry_story() {
  return {.graph = R"(
            flaky: Start -> A
            never: A -> B
            rescue!1: StepFailed -> C
            end: C -> Stop)",
          .bodies = {{"flaky",
                      [](const Seen& s, Doing& d) {
                        if (s.failures == 0) {
                          d.fails("oops", 5'000);
                        } else if (s.failures == 1) {
                          d.fails("oops", 0);
                        } else {
                          d.returns("A", s.failures);
                        }
                      }},
                     {"never",
                      [](const Seen& s, Doing& d) {
                        if (s.is_judging) {
                          d.fails("judged",
                                  s.failures < 2 ? std::optional<std::uint64_t>(70) : std::nullopt);
                        } else {
                          d.is_lost();
                        }
                      }},
                     {"rescue", [](const Seen& s, Doing& d) { d.returns("C", s.n * 100); }},
                     {"end", [](const Seen& s, Doing& d) { d.returns("Stop", s.n + 1); }}},
          .timeout_ns = 1'000'000'000};
}

// Fans out twice, inside each other, with branches that drop out; the first two of a third.
inline Story map_story() {
  return {
      .graph = R"(
            split: Start -> A[]
            halve*2: A -> B[]
            work*2: B -> C
            inner: C[] -> D
            outer: D[] -> E[]
            race*3: E -> F
            first: F[2] -> Stop)",
      .bodies = {{"split",
                  [](const Seen&, Doing& d) {
                    d.returns_list("A", {1, 2, 3});
                  }},
                 {"halve",
                  [](const Seen& s, Doing& d) {
                    d.returns_list("B", s.n == 2 ? std::vector<std::uint64_t>()
                                                 : std::vector<std::uint64_t>{s.n, s.n * 10});
                  }},
                 {"work",
                  [](const Seen& s, Doing& d) {
                    if (s.n == 3) {
                      d.returns_nothing();
                    } else {
                      d.returns("C", s.n);
                    }
                  }},
                 {"inner",
                  [](const Seen& s, Doing& d) {
                    d.stores("sum",
                             sum_of(s.numbers) + (s.store.contains("sum") ? s.store.at("sum") : 0),
                             true)
                        .returns("D", sum_of(s.numbers));
                  }},
                 {"outer",
                  [](const Seen& s, Doing& d) {
                    d.streams("D", s.store.at("sum")).returns_list("E", s.numbers);
                  }},
                 {"race", [](const Seen& s, Doing& d) { d.returns("F", s.n); }},
                 {"first", [](const Seen& s, Doing& d) { d.returns("Stop", sum_of(s.numbers)); }}}};
}

// Four events are collected in pairs by workers that race each other.
inline Story pairs_story() {
  return {.graph = "begin: Start -> A \n pair*4: A -> B \n count*1: B -> Stop",
          .bodies = {{"begin",
                      [](const Seen&, Doing& d) {
                        d.sends("A", 1).sends("A", 2).sends("A", 3).sends("A", 4).returns_nothing();
                      }},
                     {"pair",
                      [](const Seen& s, Doing& d) {
                        const auto found = s.buffers.find("default");
                        if (found == s.buffers.end() || found->second.empty()) {
                          d.collects("A", s.n).returns_nothing();
                        } else {
                          d.empties().streams("A", found->second[0] * 10 + s.n);
                          d.returns("B", found->second[0] * 10 + s.n);
                        }
                      }},
                     {"count", [](const Seen& s, Doing& d) {
                        if (!s.store.contains("seen")) {
                          d.stores("seen", s.n).returns_nothing();
                        } else {
                          d.returns("Stop", s.store.at("seen") * 100 + s.n);
                        }
                      }}}};
}

// Two instances are run at a time, each asks a person; one of them asks twice.
inline Story family_story() {
  return {.graph = R"(
            begin: Start -> A[] | B
            each: A -> C
            sum: C[] -> Stop
            ask: B -> Stop
            note: Answer -> D)",
          .bodies = {{"begin",
                      [](const Seen& s, Doing& d) {
                        if (s.n >= 10) {
                          d.returns("B", s.n);
                        } else {
                          d.returns_list("A", {10, 20});
                        }
                      }},
                     {"each",
                      [](const Seen& s, Doing& d) {
                        const auto end = s.ends.find("child");
                        if (end == s.ends.end()) {
                          d.streams("D", s.n).runs("child", "c" + std::to_string(s.n), s.n);
                        } else {
                          d.returns("C", std::stoull(end->second.substr(end->second.find(' '))));
                        }
                      }},
                     {"sum", [](const Seen& s, Doing& d) { d.returns("Stop", sum_of(s.numbers)); }},
                     {"ask",
                      [](const Seen& s, Doing& d) {
                        if (!s.waits.contains("1")) {
                          d.waits("1", "Answer");
                        } else if (s.n == 20 && !s.waits.contains("2")) {
                          d.waits("2", "Answer");
                        } else {
                          d.returns("Stop", *s.waits.rbegin()->second);
                        }
                      }},
                     {"note", [](const Seen&, Doing& d) { d.returns_nothing(); }}},
          .events = {{"Start", 1}, {"Answer", 201}, {"Answer", 101}, {"Answer", 202}},
          .runs_others = true,
          .key_of = [](std::uint64_t n) {
            return n < 100 ? std::string(kKey) : "c" + std::to_string(n / 100 * 10);
          }};
}

// Three branches go two ways each, and what comes of both is put together in the order in which it
// comes; one is late, and one comes to nothing.
inline Story slots_story() {
  return {
      .graph = R"(
            split: Start -> P[]
            left*1: P -> A
            right*2: P -> B
            pack: A & B -> C
            sum: C[] -> Stop)",
      .bodies = {{"split",
                  [](const Seen&, Doing& d) {
                    d.returns_list("P", {1, 2, 3});
                  }},
                 {"left",
                  [](const Seen& s, Doing& d) {
                    if (s.n == 2 && s.failures == 0) {
                      d.fails("oops", 50);
                    } else {
                      d.returns("A", s.n);
                    }
                  }},
                 {"right",
                  [](const Seen& s, Doing& d) {
                    if (s.n == 3) {
                      d.returns_nothing();
                    } else {
                      d.streams("B", s.n).returns("B", s.n * 1000);
                    }
                  }},
                 {"pack", [](const Seen& s,
                             Doing& d) { d.returns("C", s.numbers.at(0) + s.numbers.at(1)); }},
                 {"sum", [](const Seen& s, Doing& d) { d.returns("Stop", sum_of(s.numbers)); }}}};
}

// A body that waits three times, for what was sent before it came there.
inline Story impatient_story() {
  return {.graph = "ask: Start -> Stop | Answer",
          .bodies = {{"ask",
                      [](const Seen& s, Doing& d) {
                        for (const char* id : {"1", "2", "3"}) {
                          if (!s.waits.contains(id)) return void(d.waits(id, "Answer"));
                        }
                        d.returns("Stop", *s.waits.at("1") * 100 + *s.waits.at("2") * 10 +
                                              *s.waits.at("3"));
                      }}},
          .events = {{"Start", 1}, {"Answer", 4}, {"Answer", 5}, {"Answer", 6}, {"Answer", 7}},
          .eager = 5};
}

}  // namespace holdfast::steps::testing
