// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: what a body sees of a run, and how it says what it did. All
// events are {"id": text, "n": nat}, of which a body sees and says the number.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "steps/scanner.h"

namespace holdfast::steps::testing {

inline constexpr std::string_view kKey = "k";

// A name of a test as a name of a world, and back: A, t/A@1.
inline std::string full_name(std::string_view name) { return "t/" + std::string(name) + "@1"; }
inline std::string short_name(std::string_view name) {
  name.remove_prefix(name.find('/') + 1);
  return std::string(name.substr(0, name.rfind('@')));
}

inline base::Bytes numbered(std::uint64_t n, std::string_view id = kKey) {
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "n");
  codec::write_nat(out, n);
  codec::write_text(out, "id");
  codec::write_text(out, id);
  return out.to_bytes();
}
// A sys/StepFailed@1 has none: then how often it was tried. A list has neither.
inline std::uint64_t number_in(codec::View value) {
  auto found = value.find("n");
  if (!found) found = value.find("attempts");
  return found ? *found->nat() : 0;
}
inline std::uint64_t number_in(base::ByteView value) { return number_in(codec::View::of(value)); }

struct Seen {
  std::string step;
  std::string event;                   // its type
  std::vector<std::uint64_t> numbers;  // one, unless it is a list
  std::uint64_t n = 0;                 // the first
  std::uint64_t failures = 0;
  std::uint64_t item = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t now_ns = 0;
  bool is_judging = false;
  std::map<std::string, std::vector<std::uint64_t>> buffers;
  std::map<std::string, std::optional<std::uint64_t>> waits;  // nothing: it timed out
  std::map<std::string, std::string> ends;  // of children: "completed 7", "failed code"
  std::map<std::string, std::uint64_t> store;
  std::string last_error;  // of the attempt before

  explicit Seen(base::ByteView params) {
    const codec::View view = codec::View::of(params);
    step = *view.find("step")->text();
    event = short_name(*view.find("event")->text());
    failures = *view.find("failures")->nat();
    Scanner in(*view.find("work")->bytes());
    const std::size_t parts_of_work = in.list();
    EXPECT_TRUE(parts_of_work == 10 || parts_of_work == 11);
    in.bytes();
    const bool is_list = in.boolean();
    const base::ByteView value = in.bytes();
    if (is_list) {
      for (const codec::View element : codec::View::of(value).elements())
        numbers.push_back(number_in(element));
    } else {
      numbers.push_back(number_in(value));
    }
    n = numbers.empty() ? 0 : numbers[0];
    item = in.nat();
    first_ns = in.nat();
    now_ns = in.nat();
    is_judging = in.list() == 2;
    if (is_judging) {
      in.text();
      in.text();
    }
    for (std::size_t count = in.list(); count != 0 && in.good(); --count) {
      in.list(2);
      std::vector<std::uint64_t>& events = buffers[std::string(in.text())];
      for (std::size_t left = in.list(); left != 0 && in.good(); --left) {
        in.list(2);
        in.text();
        events.push_back(number_in(in.bytes()));
      }
    }
    for (std::size_t count = in.list(); count != 0 && in.good(); --count) {
      const std::size_t parts = in.list();
      const std::string id(in.text());
      if (parts == 5) {
        const std::uint64_t fate = in.nat();
        const base::ByteView result = in.bytes();
        const std::string code(in.text());
        ends[id] = fate == 0   ? "completed " + std::to_string(number_in(result))
                   : fate == 1 ? "failed " + code
                               : "cancelled " + code;
        in.text();
        continue;
      }
      std::optional<std::uint64_t>& answer = waits[id];
      if (parts == 1) continue;
      in.text();
      answer = number_in(in.bytes());
    }
    for (std::size_t count = in.list(); count != 0 && in.good(); --count) {
      in.list(2);
      const std::string key(in.text());
      store[key] = *codec::View::of(in.bytes()).nat();
    }
    if (parts_of_work == 11 && in.list() == 2) {
      last_error = std::string(in.text());
      last_error += ": " + std::string(in.text());
    }
    EXPECT_TRUE(in.done());
  }
};

// What a body did.
class Doing {
 public:
  Doing& returns(std::string_view type, std::uint64_t n) { return begin(0, 3).event(type, n); }
  // With a text instead of its key.
  Doing& returns_text(std::string_view type, std::string_view id) {
    begin(0, 3).text(full_name(type));
    codec::write_bytes(out_, numbered(0, id));
    return *this;
  }
  Doing& returns_nothing() { return begin(0, 1); }
  Doing& returns_list(std::string_view type, const std::vector<std::uint64_t>& numbers) {
    begin(1, 2);
    codec::write_list_head(out_, numbers.size());
    for (const std::uint64_t n : numbers) {
      codec::write_list_head(out_, 2);
      event(type, n);
    }
    return *this;
  }
  Doing& fails(std::string_view code, std::optional<std::uint64_t> retry_ns = std::nullopt) {
    begin(2, 5).text(code).text("it did not work");
    codec::write_bool(out_, true);
    codec::write_list_head(out_, retry_ns ? 1 : 0);
    if (retry_ns) codec::write_nat(out_, *retry_ns);
    return *this;
  }
  Doing& collects(std::string_view type, std::uint64_t n, std::string_view buffer = "default") {
    return begin(3, 4).text(buffer).event(type, n);
  }
  Doing& empties(std::string_view buffer = "default") { return begin(4, 2).text(buffer); }
  Doing& waits(std::string_view id, std::string_view type, std::uint64_t timeout_ns = 0,
               std::string_view asks = {}) {
    begin(5, 6).text(id).text(full_name(type));
    codec::write_list_head(out_, 0);
    codec::write_nat(out_, timeout_ns);
    codec::write_list_head(out_, asks.empty() ? 0 : 2);
    return asks.empty() ? *this : event(asks, 0);
  }
  // Only for one with this number.
  Doing& waits_for(std::string_view id, std::string_view type, std::uint64_t n) {
    begin(5, 6).text(id).text(full_name(type));
    codec::write_list_head(out_, 1);
    codec::write_list_head(out_, 2);
    text("n");
    codec::Buffer value;
    codec::write_nat(value, n);
    codec::write_bytes(out_, value.view());
    codec::write_nat(out_, 0);
    codec::write_list_head(out_, 0);
    return *this;
  }
  Doing& sends(std::string_view type, std::uint64_t n, std::string_view step = {}) {
    return begin(6, 4).event(type, n).text(step);
  }
  Doing& streams(std::string_view type, std::uint64_t n) { return begin(7, 3).event(type, n); }
  Doing& stores(std::string_view key, std::uint64_t n, bool is_transactional = false) {
    begin(8, 4).text(key);
    codec::Buffer value;
    codec::write_nat(value, n);
    codec::write_bytes(out_, value.view());
    codec::write_bool(out_, is_transactional);
    return *this;
  }
  Doing& cancels(std::string_view step) {
    begin(9, 3).text(step);
    codec::write_bool(out_, true);
    return *this;
  }
  // As it once was: bodies that run are not told.
  Doing& cancels_untold(std::string_view step) { return begin(9, 2).text(step); }
  Doing& cancels_run(std::string_view reason) { return begin(10, 2).text(reason); }

  Doing& saw(std::string_view buffer = "default") { return begin(12, 2).text(buffer); }

  // Runs another instance of the same workflow.
  Doing& runs(std::string_view id, std::string_view key, std::uint64_t n,
              std::uint64_t timeout_ns = 0, std::string_view workflow = "t/Flow@1") {
    begin(11, 7).text(id).text(workflow);
    codec::Buffer name;
    codec::write_text(name, key);
    codec::write_bytes(out_, name.view());
    text(full_name("Start"));
    codec::write_bytes(out_, numbered(n, key));
    codec::write_nat(out_, timeout_ns);
    return *this;
  }

  // Not what a body could do: the effect itself comes to an error.
  Doing& is_lost() {
    is_lost_ = true;
    return *this;
  }
  bool lost() const { return is_lost_; }

  base::Bytes results() const {
    codec::Buffer all;
    codec::write_list_head(all, count_);
    all.append(out_.view());
    return all.to_bytes();
  }

 private:
  Doing& begin(std::uint64_t kind, std::uint64_t parts) {
    ++count_;
    codec::write_list_head(out_, parts);
    codec::write_nat(out_, kind);
    return *this;
  }
  Doing& text(std::string_view text) {
    codec::write_text(out_, text);
    return *this;
  }
  Doing& event(std::string_view type, std::uint64_t n) {
    text(full_name(type));
    codec::write_bytes(out_, numbered(n));
    return *this;
  }

  codec::Buffer out_;
  std::uint64_t count_ = 0;
  bool is_lost_ = false;
};

using Body = std::function<void(const Seen&, Doing&)>;

}  // namespace holdfast::steps::testing
