// SPDX-License-Identifier: Apache-2.0
// ShadowRun: one run of a trial, under one set of definitions: a past world gets them and is fed
// again with what came. Everything it keeps is of the size of the records it has read and made,
// which the limits bound.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/record_view.h"
#include "node/shadow_setting.h"

namespace holdfast::node {

class ShadowRun {
 public:
  using Name = std::pair<std::string, base::Bytes>;  // of an instance

  explicit ShadowRun(const ShadowSetting& setting) : setting_(setting) {}

  base::Result<void> run(const ShadowBeginning& beginning, base::ByteView definitions);

  bool has_run() const noexcept { return past_ != nullptr; }  // world() is there then
  kernel::World& world() noexcept { return past_->world(); }
  store::RecordNumber from() const noexcept { return from_; }
  std::uint64_t fed() const noexcept { return fed_; }
  std::uint64_t refused() const noexcept { return refused_; }
  std::uint64_t answered() const noexcept { return answered_; }
  const std::vector<std::string>& refusals() const noexcept { return refusals_; }
  const std::string& stopped() const noexcept { return stopped_; }
  const std::set<Name>& touched() const noexcept { return touched_; }

  // How often each effect was opened, of each instance and of all, also those that have settled
  // since.
  using Counts = std::map<std::string, std::uint64_t, std::less<>>;
  const Counts& opened_of_instances() const noexcept { return opened_of_instances_; }
  const Counts& opened() const noexcept { return opened_; }

  // Recorded receipts that nobody waited for.
  std::uint64_t unwanted() const;

 private:
  struct Fed {
    base::Bytes record;  // that the tick borrows from; empty: it lives long enough
    kernel::Tick tick;
  };

  base::Result<void> apply(const ShadowBeginning& beginning, base::ByteView definitions);
  void take_note(const kernel::RecordView& record);
  base::Result<void> feed(const kernel::RecordView& record);
  base::Result<void> feed_forgetting(const kernel::ForgetEnded& forget, const kernel::Tick& tick);
  base::Result<void> feed_receipt(store::RecordNumber record, const kernel::Tick& tick);
  base::Result<void> feed_progress(const kernel::ProgressArrived& progress,
                                   const kernel::Tick& tick);
  base::Result<std::optional<base::Hash>> take_waiting(const base::Hash& name);
  static kernel::Tick answer_to(const base::Hash& intent, const kernel::Tick& recorded);
  base::Result<void> come_to_rest(Fed first, store::RecordNumber record);
  base::Result<void> reduce(const kernel::Tick& tick, store::RecordNumber record,
                            std::deque<Fed>& line);
  base::Result<void> count(base::ByteView record);
  base::Result<void> take_opened(const kernel::OpenIntent& open, std::deque<Fed>& line);

  const ShadowSetting& setting_;
  std::unique_ptr<PastWorld> past_;
  store::RecordNumber from_ = 0;
  std::uint64_t fed_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<std::string> refusals_;
  std::string stopped_;
  std::map<base::Hash, base::Hash> asked_;                // what the open intents of truth ask for
  std::map<base::Hash, std::deque<base::Hash>> waiting_;  // intents of the trial, by what they ask
  std::map<base::Hash, std::deque<store::RecordNumber>> early_;  // receipts before their intents
  Counts opened_of_instances_;
  Counts opened_;
  std::set<Name> touched_;
};

}  // namespace holdfast::node
