// SPDX-License-Identifier: Apache-2.0
// Deliveries: the dispatches of one worker, and whether it has them. A worker lists what it holds
// in each request; what is leased to it and not listed is sent again, under the same dispatch. One
// that is not listed for too long is denied: it goes back to the queue (docs/worker-protocol.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace holdfast::dispatch {

// One hand-over of one task. In the protocol: "4711:" and the intent in 64 hexadecimal digits. The
// number alone would not do: a world that was restored from a backup gives numbers again.
struct Dispatch {
  std::uint64_t number = 0;
  base::Hash intent;

  std::string to_text() const;
  static std::optional<Dispatch> parse(std::string_view text);
  friend auto operator<=>(const Dispatch&, const Dispatch&) = default;
};

class Deliveries {
 public:
  void leased(const Dispatch& dispatch, std::uint64_t now_ns);
  void ended(const Dispatch& dispatch);
  bool has(const Dispatch& dispatch) const;
  std::size_t size() const noexcept { return all_.size(); }

  // The worker holds exactly these. What it lacks is to be sent, the oldest first.
  struct Compared {
    std::vector<Dispatch> missing;
    std::vector<Dispatch> foreign;  // it holds them, and they are not leased to it
  };
  Compared compare(const std::vector<Dispatch>& holding, std::uint64_t now_ns);

  // Those to be sent: it lacks them, for less than `for_ns`. The longest first, at most `most`.
  std::vector<Dispatch> missing(std::uint64_t now_ns, std::uint64_t for_ns, std::size_t most) const;

  // Those that it lacks for at least `after_ns`, at most `most`. That is longer than they are sent
  // for: the last answer with one of them may be under way, or its work begun and not listed yet.
  std::vector<Dispatch> denied(std::uint64_t now_ns, std::uint64_t after_ns,
                               std::size_t most) const;

  // The worker could not be heard until now: the time in which it lacks something begins again.
  void restart_clock(std::uint64_t now_ns);

  // To be stopped: told in every answer until they end.
  void stop(const Dispatch& dispatch, std::string reason);
  const std::map<Dispatch, std::string>& stopping() const noexcept { return stopping_; }

  std::vector<Dispatch> all() const;

 private:
  void set_missing(const Dispatch& dispatch, std::optional<std::uint64_t> since);

  // Since when the worker lacks it; nothing: it has it.
  std::map<Dispatch, std::optional<std::uint64_t>> all_;
  std::set<std::pair<std::uint64_t, Dispatch>> missing_;
  std::map<Dispatch, std::string> stopping_;
};

}  // namespace holdfast::dispatch
