// SPDX-License-Identifier: Apache-2.0
// A world with its history beside it, on one thread and a clock that is moved by hand. For tests
// only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/view.h"
#include "node/history.h"
#include "node/stream_entries.h"
#include "node/testing_world.h"

namespace holdfast::node::testing {

inline constexpr std::int64_t kSecond = 1'000'000'000;

// An event with number n puts out n entries; 0 ends the instance, 77 removes it.
inline void put(const kernel::StepInput& input, kernel::StepOutput& output) {
  const std::uint64_t n = kernel::testing::number(input);
  if (n == 77) return output.remove();
  kernel::testing::state(output, n);
  for (std::uint64_t i = 0; i < std::max<std::uint64_t>(n, 1); ++i) {
    output.begin_annotation();
    kernel::testing::write(output.bytes(),
                           R"({"note":")" + std::to_string(n) + "/" + std::to_string(i) + R"("})");
  }
  if (n == 0) kernel::testing::complete(output, R"({"sum":1})");
}

class HistoryTest : public LabWorldTest {
 protected:
  void SetUp() override {
    keyed_ = put;
    begin();
    make();
  }

  void make() {
    HistoryOptions options = options_;
    options.send = [this](Input input, Heard heard) -> base::Result<void> {
      ++forgets_;
      const kernel::Outcome outcome = tick(input.tick());
      heard(outcome.answer);
      return {};
    };
    options.trouble = [this](const base::Error& error) { trouble_ += error.to_string() + "\n"; };
    history_ = std::make_unique<History>(open_->folder(), open_->journal(), clock_, options);
  }
  // The process dies, and another one goes on.
  void restart() {
    auto next = disk_->after_process_death();
    history_.reset();
    open_.reset();
    disk_ = std::move(next);
    open();
    make();
  }

  void catch_up() {
    for (int i = 0; i < 100 && history_->figures().lag != 0; ++i) {
      clock_.advance_ns(options_.gather_ns);
      history_->work();
    }
    EXPECT_EQ(history_->figures().lag, 0u);
  }
  // Everything that is due, for so long.
  void pass(std::int64_t seconds) {
    for (; seconds > 0; --seconds) {
      clock_.advance_ns(kSecond);
      for (int i = 0; i < 20 && history_->has_work(); ++i) history_->work();
    }
  }

  StreamQuery query(const std::string& id, std::uint64_t after, std::size_t limit = 100) {
    StreamQuery made{{"lab/Keyed@1", kernel::testing::value("\"" + id + "\"")}, after, limit};
    const auto cell = open_->world().find(made.instance.workflow, made.instance.key).take();
    if (cell != nullptr) made.last_record = cell->last_record;
    if (cell != nullptr && cell->terminal()) made.ended_as = name_of(cell->status());
    made.durable = open_->journal().durable();
    return made;
  }
  base::Result<StreamPage> read(const std::string& id, std::uint64_t after = 0,
                                std::size_t limit = 100) {
    // What is parked is answered later, or never.
    const auto answer = std::make_shared<std::optional<base::Result<StreamPage>>>();
    EXPECT_TRUE(history_->ask(query(id, after, limit), [answer](base::Result<StreamPage> page) {
      answer->emplace(std::move(page));
    }));
    history_->work();
    if (!*answer) return base::Error(base::ErrorCode::kUnavailable, "is parked");
    return std::move(**answer);
  }
  base::Result<HistoryList> list(const store::HistoryQuery& query) {
    std::optional<base::Result<HistoryList>> answer;
    EXPECT_TRUE(history_->ask(
        query, [&](base::Result<HistoryList> found) { answer.emplace(std::move(found)); }));
    for (int i = 0; i < 10 && !answer; ++i) {
      if (history_->has_work()) history_->work();
      if (!answer) clock_.advance_ns(options_.gather_ns / 10);
    }
    return std::move(answer).value();
  }
  // The entries in words, and how it ends.
  static std::vector<std::string> words(const base::Result<StreamPage>& page) {
    if (!page) return {page.error().to_string()};
    std::vector<std::string> all;
    if (page->truncated != 0) all.push_back("truncated");
    for (const store::StreamEntry& entry : page->entries)
      all.emplace_back(*codec::View::of(entry.value).find("note")->text());
    if (page->end) all.push_back(page->end->status);
    return all;
  }
  // The last record that is.
  store::RecordNumber sealed() {
    const auto look = store::SealsLook::open(store::WorldPlace::of(open_->folder())).take();
    store::RecordNumber last = 0;
    while (const auto seal = look->next().take()) last = seal->last;
    return last;
  }
  bool is_there(const std::string& id) { return query(id, 0).last_record != 0; }
  bool has_row(const std::string& id) {
    return history_->index()
        ->find("lab/Keyed@1", kernel::testing::value("\"" + id + "\""))
        ->has_value();
  }

  HistoryOptions options_;
  env::ManualClock clock_;
  std::unique_ptr<History> history_;
  std::string trouble_;
  int forgets_ = 0;
};

}  // namespace holdfast::node::testing
