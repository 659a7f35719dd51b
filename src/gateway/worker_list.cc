// SPDX-License-Identifier: Apache-2.0
// Workers as operators see them, and what operators may do to them.
#include <utility>

#include "gateway/body.h"
#include "gateway/desk_of.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostWorkers = 1000;

void put_worker(codec::Buffer& out, const workers::WorkerState& state) {
  const WorkerInfo& info = state.info;
  codec::write_map_head(out, state.recipes ? 15 : 14);
  put(out, "worker", info.worker);
  put(out, "node", info.node);
  put(out, "name", info.name);
  put(out, "mode", state.mode);
  put_flag(out, "cordoned", info.is_cordoned);
  put_flag(out, "live", state.is_live);
  codec::write_text(out, "silent_ms");
  if (state.silent_ms) {
    codec::write_nat(out, *state.silent_ms);
  } else {
    codec::write_null(out);
  }
  put_number(out, "slots", state.slots);
  put_number(out, "running", state.running);
  put_number(out, "leases", info.leases);
  put(out, "reason", info.reason);
  put(out, "by", info.by);
  put_number(out, "enrolled_ns", info.enrolled_ns);
  put_value(out, "offer", info.description);
  if (!state.recipes) return;
  const dispatch::RecipeState& recipes = *state.recipes;
  codec::write_text(out, "recipes");
  codec::write_map_head(out, 4);
  codec::write_text(out, "serving");
  codec::write_list_head(out, recipes.serving.size());
  for (const std::string& recipe : recipes.serving) codec::write_text(out, recipe);
  put(out, "swapping", recipes.swapping);
  put_flag(out, "can_swap", recipes.can_swap);
  put(out, "problem", recipes.problem);
}

// Of the worker that the path names, by id or by name.
std::optional<std::string> worker_in_path(Exchange& exchange, const workers::Desk& desk) {
  auto found = desk.find_worker(exchange.path_value(0));
  if (!found)
    exchange.refuse({ProblemCode::kNotFound, "no worker, or several, with this id or name: '" +
                                                 exchange.path_value(0) + "'"});
  return found;
}

void change_worker(Exchange& exchange, WorkerChange::Kind kind) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  const auto body = read_body(exchange, {"reason"});
  if (!body) return;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  const auto id = worker_in_path(exchange, *desk);
  if (!id) return;
  exchange.service().engine.change_worker(
      {.worker = *id, .kind = kind, .reason = *reason, .by = exchange.asked_by()},
      exchange.later<WorkerChanged>(
          [desk, id = *id](Exchange& self, const Result<WorkerChanged>& changed) {
            if (!changed) return self.refuse(changed.error());
            const auto state = desk->worker(id);
            if (!state) return self.refuse({ProblemCode::kNotFound, "the worker is forgotten"});
            put_worker(self.document(), *state);
            self.answer(200);
          }));
}

}  // namespace

void list_workers(Exchange& exchange) {
  const workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  const auto limit = exchange.limit_in_query(100, kMostWorkers);
  if (!limit) return;
  auto states = desk->list_workers(exchange.text_in_query("after"), *limit + 1);
  const bool is_more = states.size() > *limit;
  if (is_more) states.pop_back();
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 2);
  codec::write_text(out, "workers");
  codec::write_list_head(out, states.size());
  for (const workers::WorkerState& state : states) put_worker(out, state);
  codec::write_text(out, "next");
  if (is_more) {
    codec::write_text(out, states.back().info.worker);
  } else {
    codec::write_null(out);
  }
  exchange.answer(200);
}

void get_worker(Exchange& exchange) {
  const workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  const auto id = worker_in_path(exchange, *desk);
  if (!id) return;
  const auto state = desk->worker(*id);
  if (!state) return exchange.refuse({ProblemCode::kNotFound, "the worker is forgotten"});
  put_worker(exchange.document(), *state);
  exchange.answer(200);
}

void drain_worker(Exchange& exchange) { change_worker(exchange, WorkerChange::Kind::kDrain); }
void cordon_worker(Exchange& exchange) { change_worker(exchange, WorkerChange::Kind::kCordon); }
void uncordon_worker(Exchange& exchange) { change_worker(exchange, WorkerChange::Kind::kUncordon); }

}  // namespace holdfast::gateway
