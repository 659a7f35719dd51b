// SPDX-License-Identifier: Apache-2.0
#include "demo/refund/refund.h"

#include <memory>

namespace demo {
namespace {

using namespace std::chrono_literals;
using holdfast::StepContext;
using holdfast::StepError;

constexpr std::uint64_t kPaidWithoutAsking = 5000;

std::string euros(std::uint64_t cents) {
  const std::string rest = std::to_string(cents % 100);
  return std::to_string(cents / 100) + (rest.size() == 1 ? ".0" : ".") + rest;
}

}  // namespace

std::vector<RefundCheck> RefundCase::open(const RefundRequested& request, StepContext&) {
  return {{"customer", request.order, request.cents},
          {"order", request.order, request.cents},
          {"payment", request.order, request.cents}};
}

RefundChecked RefundCase::check(const RefundCheck& check, StepContext& context) {
  if (check.what == "order" && check.order == "lost")
    throw StepError("order.unknown", "nobody knows of this order");
  if (check.what == "payment" && context.attempt() == 1)
    throw StepError("bank.busy", "ask again in a moment");
  return {check.what, check.order, check.cents};
}

RefundWeighed RefundCase::weigh(const std::vector<RefundChecked>& checks, StepContext&) {
  return {checks.front().order, checks.front().cents};
}

// Runs twice where somebody is asked: up to the question, and with the answer.
std::variant<RefundApproved, RefundClosed> RefundCase::decide(const RefundWeighed& weighed,
                                                              StepContext& context) {
  if (weighed.cents > kPaidWithoutAsking) {
    const auto decision = context.ask<RefundDecided>(
        RefundQuestion{"give back " + euros(weighed.cents) + " for order " + weighed.order + "?"},
        holdfast::WaitOptions{.timeout = 72h}.where("by", std::string("manager")));
    if (!decision.approved) return RefundClosed{0, "the manager said no"};
  }
  return RefundApproved{weighed.order, weighed.cents};
}

RefundClosed RefundCase::pay(const RefundApproved& approved, StepContext&) {
  if (approved.order == "sunday") throw StepError("bank.closed", "it opens again on Monday");
  return {approved.cents, "paid"};
}

RefundClosed RefundCase::give_up(const holdfast::StepFailed& failed, StepContext&) {
  return {0, "given up: " + failed.message};
}

holdfast::StepsOf<RefundCase> RefundCase::steps() {
  const auto is_busy = holdfast::has_code({"bank.busy"});
  return holdfast::StepsOf<RefundCase>()
      .step("open", &RefundCase::open)
      .step("check", &RefundCase::check,
            {.workers = 2,
             .retry = holdfast::Retry(holdfast::exponential(20ms), holdfast::after_attempts(5))
                          .only_if(is_busy)})
      .step("weigh", &RefundCase::weigh)
      .step("decide", &RefundCase::decide)
      .step("pay", &RefundCase::pay,
            {.retry = holdfast::Retry(holdfast::fixed(1h), holdfast::after_attempts(24))})
      .on_error("give_up", &RefundCase::give_up)
      .timeout(30 * 24h);
}

holdfast::Module refund_module() { return holdfast::Module::of<RefundCase>("demo/refunds@1"); }

std::vector<holdfast::Handler> refund_handlers() {
  return holdfast::step_handlers(std::make_shared<RefundCase>());
}

holdfast::Result<holdfast::Done> request_refunds(holdfast::Engine& engine) {
  const RefundRequested requests[] = {
      {"r-1", "o-1", 1990}, {"r-2", "o-2", 9900}, {"r-3", "lost", 500}};
  for (const RefundRequested& request : requests) {
    const auto requested =
        engine.start<RefundCase>(request.id, request, {.id = "demo-" + request.id});
    if (!requested && requested.error().code != holdfast::ErrorCode::kConflict)
      return requested.error();
  }
  return holdfast::Done{};
}

holdfast::Result<holdfast::Done> request_refund(holdfast::Engine& engine, std::uint64_t number) {
  const std::string name = std::to_string(number % 10'000'000);
  RefundRequested request{"r-" + name, "o-" + name, 1500 + number % 7 * 400};
  if (number / 20 % 15 == 0) request.cents = kPaidWithoutAsking + 4900;
  if (number / 20 % 9 == 0) request.order = "lost";
  const auto requested =
      engine.start<RefundCase>(request.id, request, {.id = "live-" + request.id});
  if (!requested && requested.error().code != holdfast::ErrorCode::kConflict)
    return requested.error();
  return holdfast::Done{};
}

}  // namespace demo
