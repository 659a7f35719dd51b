// SPDX-License-Identifier: Apache-2.0
// For the kernel's tests: workers, leases and reports in the world of testing_lab.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/lease_list.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel::testing {

inline constexpr char kLeaseError[] =
    R"({"code":"busy","message":"try later","retryable":true,"details":null})";

// What an outcome has to tell those who place work.
inline std::vector<std::shared_ptr<const WorkNews>> news_in(const Outcome& outcome) {
  std::vector<std::shared_ptr<const WorkNews>> all;
  for (const Command& command : outcome.commands) {
    if (const auto* news = std::get_if<std::shared_ptr<const WorkNews>>(&command))
      all.push_back(*news);
  }
  return all;
}

struct How {
  base::Bytes detail = {};
  std::optional<std::uint64_t> time_limit_ns = {};
  bool fails_if_lost = false;
};

// Instances of lab/Keyed@1 each open one lab/work@1 and complete with what comes back.
class LeaseTest : public LabTest {
 protected:
  void SetUp() override {
    keyed_ = [this](const StepInput& input, StepOutput& output) { work(input, output); };
    bench_.emplace(lab(std::string(kToKeyed) + "," + kStopToKeyed), machines_,
                   WorldOptions{.cells = {}, .performed_here = &performed_here_});
  }
  void work(const StepInput& input, StepOutput& output) {
    if (input.mail.kind == MailKind::kReceipt) {
      last_origin_ = input.mail.origin;
      last_status_ = input.mail.status;
    }
    if (input.mail.kind != MailKind::kEvent || number(input) != kTimer)
      return testing::work(input, output);
    state(output, 0);
    open(output, "sys/timer.set@1", R"({"deliver_at_ns":1,"key":null})");
  }

  base::Hash begin_work(std::string_view id) { return opened(send(id, 1)).at(0); }
  base::Hash begin_timer(std::string_view id) { return opened(send(id, kTimer)).at(0); }

  Outcome enrol(std::string_view worker, std::string_view node = "node", std::string_view name = {},
                std::string_view description = R"({"slots":4})") {
    const base::Bytes bytes = value(description);
    return bench().tick(
        WorkerEnrolled{worker, node, name.empty() ? worker : name, base::Hash(), bytes});
  }
  Outcome change(std::string_view worker, WorkerChange change) {
    return bench().tick(WorkerChanged{worker, change, "because", "eva"});
  }
  Outcome lease(std::string_view worker, const std::vector<base::Hash>& intents,
                const How& how = {}) {
    std::vector<LeaseItem> items;
    for (const base::Hash& intent : intents)
      items.push_back({intent, how.detail, how.time_limit_ns, how.fails_if_lost});
    codec::Buffer list;
    write_lease_list(list, items);
    return bench().tick(Leased{worker, list.view()});
  }
  static std::uint64_t dispatch_of(const Outcome& outcome) {
    const auto* accepted = std::get_if<Accepted>(&outcome.answer);
    EXPECT_NE(accepted, nullptr);
    return accepted == nullptr || accepted->verdicts.empty() ? 0 : accepted->verdicts[0].dispatch;
  }
  Outcome give_back(std::string_view worker, const base::Hash& intent, std::uint64_t dispatch,
                    ReturnReason reason, base::ByteView resume = {}) {
    codec::Buffer list;
    write_return_list(list, {{intent, dispatch, reason, resume}});
    return bench().tick(Returned{worker, list.view()});
  }
  Outcome report(const base::Hash& intent, std::string_view worker, std::uint64_t dispatch,
                 ReceiptStatus status = ReceiptStatus::kOk,
                 std::string_view payload = R"({"ok":true})") {
    const base::Bytes bytes = value(payload);
    ReceiptArrived receipt{intent, status, bytes, {}, {}};
    receipt.fence = {worker, dispatch};
    return bench().tick(receipt);
  }
  Outcome frame(const base::Hash& intent, std::string_view worker, std::uint64_t dispatch,
                std::uint64_t sequence) {
    const base::Bytes bytes = value("1");
    ProgressArrived progress{intent, sequence, "log", bytes};
    progress.fence = {worker, dispatch};
    return bench().tick(progress);
  }
  static Refused refusal_of(const Outcome& outcome) {
    const auto* refused = std::get_if<Refused>(&outcome.answer);
    EXPECT_NE(refused, nullptr);
    return refused == nullptr ? Refused() : *refused;
  }
  std::shared_ptr<const Work> work_of(const base::Hash& intent) {
    const auto found = bench().world().find_intent(intent);
    return found && *found != nullptr ? (*found)->work : nullptr;
  }
  std::size_t held_by(std::string_view worker) {
    return bench().world().workers().find(worker)->leases.size();
  }

  static constexpr std::uint64_t kTimer = 99;  // the number of an event that sets a timer instead
  const std::set<std::string, std::less<>> performed_here_;
  Origin last_origin_;
  ReceiptStatus last_status_ = ReceiptStatus::kOk;
};

}  // namespace holdfast::kernel::testing
