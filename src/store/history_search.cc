// SPDX-License-Identifier: Apache-2.0
// Looking for words in what instances said. The words of a question may stand in different lines of
// an instance, so each is looked up by itself, and the instances that have all of them are found by
// going down from one to the next.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/history_statements.h"

namespace holdfast::store {
namespace {

// How many instances are looked at for one page. Others wait for the index meanwhile.
constexpr std::uint64_t kMostSearched = 20'000;

// A word of signs alone is found nowhere, and does not count.
bool has_token(std::string_view word) {
  return std::ranges::any_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// The words of a question, each as a text of its own, so that nothing in it is an operator.
std::vector<std::string> words_of(std::string_view words) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  std::vector<std::string> all;
  std::size_t at = 0;
  while ((at = words.find_first_not_of(kSpace, at)) != std::string_view::npos) {
    const std::size_t end = std::min(words.find_first_of(kSpace, at), words.size());
    const std::string_view word = words.substr(at, end - at);
    at = end;
    if (!has_token(word)) continue;
    std::string& quoted = all.emplace_back("\"");
    for (const char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
    quoted += '"';
  }
  return all;
}

// The instances in whose lines a word is, from the highest number down.
class WordSearch {
 public:
  static base::Result<WordSearch> open(SqliteDatabase& database, std::string word) {
    WordSearch search;
    search.word_ = std::move(word);
    search.find_ = TRY(database.prepare(
        "SELECT rowid FROM lines WHERE lines MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC"));
    return search;
  }

  // The highest that is not above this one; 0: there is none. Lines that it passes cost little,
  // but for those that are far away: what that costs is taken off the budget.
  base::Result<std::uint64_t> at_most(std::uint64_t instance, std::uint64_t& budget) {
    for (unsigned passed = 0; found_ > instance; ++passed) {
      if (passed % kPassedBeforeSeek == 0 && (passed != 0 || found_ == kUnknown)) {
        find_.reset();
        find_.bind(1, std::string_view(word_));
        find_.bind(2, first_line_of(instance + 1));
        budget -= std::min(budget, kSeekCosts);
      }
      found_ = TRY(find_.step()) ? find_.nat(0) >> kLineBits : 0;
    }
    return found_;
  }

 private:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
  static constexpr unsigned kPassedBeforeSeek = 32;
  static constexpr std::uint64_t kSeekCosts = 16;

  WordSearch() = default;

  std::string word_;
  SqliteStatement find_;
  std::uint64_t found_ = kUnknown;  // the line that the statement is at
};

// The highest that is below `before` and has all words; 0: there is none. Each step of it is taken
// off the budget; when that is spent, `before` says how far it has come.
base::Result<std::uint64_t> next_with_all(std::vector<WordSearch>& words, std::uint64_t& before,
                                          std::uint64_t& budget) {
  std::uint64_t candidate = before - 1;
  for (std::size_t agreed = 0, word = 0; agreed < words.size(); word = (word + 1) % words.size()) {
    if (candidate == 0) return std::uint64_t{0};
    if (budget == 0) {
      before = candidate + 1;
      return std::uint64_t{0};
    }
    --budget;
    const std::uint64_t found = TRY(words[word].at_most(candidate, budget));
    agreed = found == candidate ? agreed + 1 : 1;
    candidate = found;
  }
  before = candidate;
  return candidate;
}

}  // namespace

base::Result<HistoryPage> HistoryIndex::search(const HistoryQuery& query) {
  std::vector<WordSearch> words;
  for (std::string& word : words_of(query.words))
    words.push_back(TRY(WordSearch::open(database_.database, std::move(word))));
  HistoryPage page;
  if (words.empty()) return page;
  std::uint64_t before = query.after == 0 ? last_id_ + 1 : std::min(query.after, last_id_ + 1);
  std::uint64_t budget = kMostSearched;
  while (page.rows.size() < query.limit) {
    const std::uint64_t id = TRY(next_with_all(words, before, budget));
    if (id == 0) {
      if (budget == 0) page.next = before;
      return page;
    }
    SqliteStatement& find = statements_->find_by_id;
    find.bind(1, id);
    const bool is_there = TRY(find.step());
    if (is_there && fits(find, query)) page.rows.push_back(read_row(find));
    find.reset();
  }
  // One more tells whether there are more.
  const std::uint64_t last = before;
  if (TRY(next_with_all(words, before, budget)) != 0 || budget == 0) page.next = last;
  return page;
}

}  // namespace holdfast::store
