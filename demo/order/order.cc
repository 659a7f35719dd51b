// SPDX-License-Identifier: Apache-2.0
#include "demo/order/order.h"

#include <chrono>

namespace demo {
namespace {

constexpr holdfast::Duration kDeadline = std::chrono::minutes(15);

// The first problem is the one that the order ends with.
void note(Order::State& order, std::string_view problem) {
  if (order.why.empty()) order.why = problem;
}

void release(Order::State& order, Order::Context& context) {
  order.stage = Stage::release;
  context.open<Release>({.order = context.key()});
}

void refund(Order::State& order, Order::Context& context) {
  order.stage = Stage::refund;
  context.open<Refund>({.order = context.key()});
}

// What is under way cannot be called back, so its answer is waited for; then the order is undone.
// A parcel that is being handed over is on its way.
void stop(Order::State& order, std::string_view problem) {
  if (order.stage == Stage::charge || order.stage == Stage::reserve) note(order, problem);
}

}  // namespace

void Order::step(State& order, const OrderPlaced& placed, Context& context) {
  if (!context.is_new()) return;  // the same order once more
  order.sku = placed.sku;
  order.count = placed.count;
  context.timer(context.now() + kDeadline);
  context.open<Charge>({.order = placed.id, .cents = placed.cents});
}

void Order::step(State& order, const Received<Charge>& charged, Context& context) {
  if (charged.ok()) {
    order.paid = charged.receipt.payment;
  } else {
    note(order, "not_charged");
  }
  // An error says that nothing was charged; after a timeout nobody knows.
  if (charged.status == holdfast::Status::kError)
    return context.fail(order.why, charged.error.message);
  if (!order.why.empty()) return refund(order, context);
  order.stage = Stage::reserve;
  context.open<Reserve>({.order = context.key(), .sku = order.sku, .count = order.count});
}

void Order::step(State& order, const Received<Reserve>& reserved, Context& context) {
  if (!reserved.ok()) note(order, "not_reserved");
  if (reserved.status == holdfast::Status::kError) return refund(order, context);
  if (!order.why.empty()) return release(order, context);
  order.stage = Stage::ship;
  context.open<Ship>({.order = context.key()});
}

void Order::step(State& order, const Received<Ship>& shipped, Context& context) {
  if (shipped.ok()) return context.complete(Shipped{order.paid, shipped.receipt.tracking});
  note(order, "not_shipped");
  release(order, context);
}

void Order::step(State& order, const OrderCancelled&, Context& context) {
  if (context.is_new()) return context.remove();  // there is no such order
  stop(order, "cancelled");
}

void Order::step(State& order, const Received<holdfast::Timer>& deadline, Context&) {
  if (deadline.ok()) stop(order, "late");
}

void Order::step(State& order, const Received<Release>& released, Context& context) {
  if (!released.ok()) order.why = "not_released";  // somebody must look at the shelf
  refund(order, context);
}

void Order::step(State& order, const Received<Refund>& refunded, Context& context) {
  if (!refunded.ok()) return context.fail("not_refunded", refunded.error.message);
  context.fail(order.why, "the order was undone");
}

holdfast::Module order_module() { return holdfast::Module::of<Order>("demo/code@1"); }

}  // namespace demo
