// SPDX-License-Identifier: Apache-2.0
// ListOrder: the order of instances in lists, of a world that nobody has open: those that began
// last come first, as a server has them. The world itself does not know when an instance began; the
// index of instances does (docs/formats/history.md), and the records behind what it has seen tell
// the rest. Where there is no index that can be used, all records are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kernel/record_view.h"
#include "node/past_world.h"
#include "store/history_look.h"
#include "store/journal_files.h"

namespace holdfast::node {

class ListOrder {
 public:
  static base::Result<ListOrder> read(const store::JournalFiles& journal,
                                      const store::WorldPlace& world,
                                      const ReplayProgress& progress = {});

  // A higher one began later. Nothing: it began before everything that could be read.
  std::optional<std::uint64_t> place_of(std::string_view workflow, base::ByteView key) const;

  // Why an index that is there was not used; empty: it was, or there is none.
  const std::string& passed_over() const noexcept { return passed_over_; }

 private:
  struct Seen {
    std::uint64_t place = 0;  // 0: it began before
    store::RecordNumber last_record = 0;
    bool is_over = false;
  };

  base::Result<store::RecordNumber> read_index(const store::JournalFiles& journal,
                                               const store::WorldPlace& world);
  void add(const kernel::RecordView& record);
  void forget(const kernel::ForgetEnded& forget);

  std::unordered_map<std::string, Seen> seen_;  // by instance_key
  std::uint64_t last_place_ = 0;
  std::string passed_over_;
};

}  // namespace holdfast::node
