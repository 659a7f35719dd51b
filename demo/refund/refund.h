// SPDX-License-Identifier: Apache-2.0
// The demo of a step workflow: somebody wants their money back. Three things are checked side by
// side; small amounts are paid at once, for large ones a manager is asked, who may take three days.
// The steps are in refund.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace demo {

struct RefundRequested {
  static constexpr std::string_view kSchema = "demo/RefundRequested@1";
  std::string id;
  std::string order;
  std::uint64_t cents = 0;
};

// One thing that is to be checked, and that it is in order.
struct RefundCheck {
  static constexpr std::string_view kSchema = "demo/RefundCheck@1";
  std::string what;
  std::string order;
  std::uint64_t cents = 0;
};
struct RefundChecked {
  static constexpr std::string_view kSchema = "demo/RefundChecked@1";
  std::string what;
  std::string order;
  std::uint64_t cents = 0;
};

struct RefundWeighed {
  static constexpr std::string_view kSchema = "demo/RefundWeighed@1";
  std::string order;
  std::uint64_t cents = 0;
};

// What a manager is asked, and says.
struct RefundQuestion {
  static constexpr std::string_view kSchema = "demo/RefundQuestion@1";
  std::string text;
};
struct RefundDecided {
  static constexpr std::string_view kSchema = "demo/RefundDecided@1";
  std::string id;
  std::string by;
  bool approved = false;
};

struct RefundApproved {
  static constexpr std::string_view kSchema = "demo/RefundApproved@1";
  std::string order;
  std::uint64_t cents = 0;
};

struct RefundClosed {
  static constexpr std::string_view kSchema = "demo/RefundClosed@1";
  std::uint64_t paid_cents = 0;
  std::string note;
};

struct RefundCase : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "demo/RefundCase@1";
  using Events = holdfast::Events<holdfast::On<RefundRequested, &RefundRequested::id>,
                                  holdfast::On<RefundDecided, &RefundDecided::id>>;
  using Stop = RefundClosed;
  using Asks = holdfast::Asks<RefundQuestion>;

  std::vector<RefundCheck> open(const RefundRequested& request, holdfast::StepContext& context);

  // The bank is busy when it is asked first. Of an order "lost" nobody knows.
  RefundChecked check(const RefundCheck& check, holdfast::StepContext& context);
  RefundWeighed weigh(const std::vector<RefundChecked>& checks, holdfast::StepContext& context);
  std::variant<RefundApproved, RefundClosed> decide(const RefundWeighed& weighed,
                                                    holdfast::StepContext& context);
  // For an order "sunday" the bank is closed, and asked again an hour later.
  RefundClosed pay(const RefundApproved& approved, holdfast::StepContext& context);
  RefundClosed give_up(const holdfast::StepFailed& failed, holdfast::StepContext& context);

  static holdfast::StepsOf<RefundCase> steps();
};

holdfast::Module refund_module();

// What runs its steps.
std::vector<holdfast::Handler> refund_handlers();

// Three requests, the same each time: r-1 is paid, r-2 asks a manager, r-3 is of an order that is
// lost. Made once, however often this is called.
holdfast::Result<holdfast::Done> request_refunds(holdfast::Engine& engine);

// One more, of many: most are paid at once, some are of a lost order, few ask a manager.
holdfast::Result<holdfast::Done> request_refund(holdfast::Engine& engine, std::uint64_t number);

}  // namespace demo
