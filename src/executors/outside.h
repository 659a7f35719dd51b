// SPDX-License-Identifier: Apache-2.0
// Outside: nobody here performs the effect. Whoever does finds it among those that are open, and
// reports to the node (Engine::settle_raw). Its time limit is the node's affair, as of all others.
//
// It remembers which effects are open, as timers do, so that those who perform them can ask: about
// 200 bytes each.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executors/executor.h"
#include "kernel/open_intents.h"

namespace holdfast::executors {

inline constexpr const char* kOutside = "outside";

class Outside : public Executor {
 public:
  // Where an effect stands among those of its name: the oldest first.
  struct Place {
    std::uint64_t opened_ns = 0;
    base::Hash intent;
    friend auto operator<=>(const Place&, const Place&) = default;

    // For those who go on behind it: "1700000000000000000:sha256:...".
    std::string to_text() const;
    static std::optional<Place> parse(std::string_view text);
  };

  void start(const kernel::OpenIntent& open, Reports&) override;
  void stop(const base::Hash& intent) override;

  // From any thread: the first of this name behind a place, at most so many.
  std::vector<Place> open(std::string_view effect, const Place& after, std::size_t most) const;

 private:
  using Places = std::map<std::string, std::set<Place>, std::less<>>;  // by the name of the effect

  mutable std::mutex mutex_;
  Places places_;
  // Only looked into.
  std::unordered_map<base::Hash, std::pair<Places::iterator, std::uint64_t>, kernel::FirstBytes>
      known_;
};

}  // namespace holdfast::executors
