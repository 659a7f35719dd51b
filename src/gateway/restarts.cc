// SPDX-License-Identifier: Apache-2.0
// Instances begin again, or move to the present version of their workflow. Both read the past of
// the world, so they wait their turn with those who look back.
#include <functional>
#include <utility>

#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

struct Asked {
  std::uint64_t record = 0;
  std::string step = {};
  std::string reason = {};
};

void restart(Exchange& exchange, Asked asked) {
  auto key = exchange.key_in_path();
  if (!key) return;
  Engine& engine = exchange.service().engine;
  exchange.look_back(
      [&engine, workflow = exchange.path_value(0), key = std::move(*key), asked = std::move(asked),
       by = std::string(exchange.asked_by()),
       most = exchange.service().limits.past](std::function<bool()> stopped) -> Result<Restarted> {
        PastLimits limits = most;
        limits.stopped = std::move(stopped);
        return engine.restart_raw(workflow, key, {asked.record, asked.step}, asked.reason, limits,
                                  by);
      },
      [](Exchange& self, const Result<Restarted>& restarted) {
        if (!restarted) return self.refuse(restarted.error());
        codec::write_map_head(self.document(), 2);
        put_number(self.document(), "record", restarted->record);
        put_number(self.document(), "from", restarted->from);
        self.answer(200);
      });
}

}  // namespace

void retry_instance(Exchange& exchange) {
  const auto body = read_body(exchange, {"reason"});
  if (!body) return;
  auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  restart(exchange, {.reason = std::move(*reason)});
}

void restart_instance(Exchange& exchange) {
  const auto body = read_body(exchange, {"record", "step", "reason"});
  if (!body) return;
  auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  auto step = text_in(exchange, *body, "step");
  if (!step) return;
  const auto record = number_from_1(exchange, *body, "record");
  if (!record) return;
  if ((*record == 0) == step->empty())
    return refuse_body(exchange, base::invalid("$.record", "either a record or a step is needed"));
  restart(exchange, {*record, std::move(*step), std::move(*reason)});
}

void migrate_instances(Exchange& exchange) {
  if (!read_body(exchange, {})) return;
  Engine& engine = exchange.service().engine;
  exchange.look_back(
      [&engine, workflow = exchange.path_value(0), by = std::string(exchange.asked_by()),
       most = exchange.service().limits.past](std::function<bool()> stopped) -> Result<Migrated> {
        PastLimits limits = most;
        limits.stopped = std::move(stopped);
        return engine.migrate(workflow, by, limits);
      },
      [](Exchange& self, const Result<Migrated>& migrated) {
        if (!migrated) return self.refuse(migrated.error());
        codec::write_map_head(self.document(), 3);
        put_migrated(self.document(), *migrated);
        self.answer(200);
      });
}

}  // namespace holdfast::gateway
