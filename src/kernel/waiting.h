// SPDX-License-Identifier: Apache-2.0
// Waiting: the instances whose next step sends mail to a mailbox that has no room. Their message
// stays where it is, and their step is tried again when there is room: first come, first served.
// Each waits for the room of one instance, or for that of the whole world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace holdfast::kernel {

// An instance by its workflow and the hash of its key.
using CellName = std::pair<std::uint32_t, base::Hash>;

// Stands for the whole world where an instance waits for room.
inline const CellName kWholeWorld{UINT32_MAX, base::Hash()};

class Waiting {
 public:
  struct Wait {
    CellName who;
    CellName for_room_of;
  };

  bool empty() const noexcept { return by_waiter_.empty(); }
  std::size_t size() const noexcept { return by_waiter_.size(); }
  bool contains(const CellName& who) const { return by_waiter_.contains(who); }

  // One that does not wait yet.
  void add(const CellName& who, const CellName& for_room_of);

  // Whose room it waited for; nothing: it did not wait.
  std::optional<CellName> remove(const CellName& who);

  // Null: it does not wait. Until the next change.
  const CellName* room_wanted_by(const CellName& who) const;

  // Who waits longest for the room of an instance. Null: nobody. Until the next change.
  const CellName* first_for(const CellName& for_room_of) const;

  // Whether `from` is `to`, or waits for it, perhaps through others: if `to` waited for `from` as
  // well, none of them would go on. The way is followed over kMostInARow instances at most.
  enum class Way : std::uint8_t { kNo, kYes, kTooLong };
  Way leads_to(const CellName& from, const CellName& to) const;
  static constexpr std::size_t kMostInARow = 64;

  // The same over all of them. Each of these has a mailbox that was full, so the limits of mail
  // bound how many there are.
  bool leads_far_to(const CellName& from, const CellName& to) const;

  // All of them in the order in which they began to wait.
  std::vector<Wait> in_order() const;

 private:
  struct Place {
    CellName for_room_of;
    std::uint64_t order;
  };
  std::map<CellName, Place> by_waiter_;
  std::map<std::pair<CellName, std::uint64_t>, CellName> by_room_;
  std::uint64_t last_order_ = 0;
};

}  // namespace holdfast::kernel
