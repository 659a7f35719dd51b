// SPDX-License-Identifier: Apache-2.0
// GET /metrics: what those want to know who look after the server. docs/grafana/holdfast.json shows
// it, and a test compares.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/metrics_text.h"
#include "workers/desk.h"

namespace holdfast::gateway {
namespace {

// What the world says of itself is there or not.
struct Seen {
  const Measures& measures;
  bool has_world;
};

void put_journal(MetricsText& text, const Seen& seen) {
  const Measures& measures = seen.measures;
  const Figures& figures = measures.figures;
  text.counter("holdfast_records_total", "Records made durable.", figures.records);
  text.counter("holdfast_syncs_total", "Batches made durable.", figures.syncs);
  text.counter("holdfast_journal_bytes_total", "Bytes written to the journal.",
               figures.journal_bytes);
  if (seen.has_world)
    text.gauge("holdfast_next_record", "The number of the next record.", measures.next_record);
  text.family("holdfast_sync_seconds", "histogram", "What it took to make a batch durable.");
  text.time_histogram({}, measures.sync_ns);
  text.family("holdfast_batch_records", "histogram", "Records that became durable together.");
  text.histogram({}, measures.batch_records);
  text.family("holdfast_recovery_seconds", "gauge", "What opening the world took.");
  text.seconds({}, measures.recovery_ns);
  text.gauge("holdfast_replayed_records", "Records that were replayed then.",
             measures.replayed_records);
  if (seen.has_world)
    text.gauge("holdfast_records_behind_snapshot", "Records that a restart would replay.",
               measures.behind_snapshot);
  text.family("holdfast_replay_seconds", "gauge",
              "Estimated time that a restart would take to replay these records.");
  text.seconds({}, measures.replay_ns);
  text.family("holdfast_replay_bound_seconds", "gauge",
              "Limit of that time: new work waits for a snapshot beyond it.");
  text.seconds({}, measures.replay_bound_ns);
  if (seen.has_world) {
    text.family("holdfast_clock_ahead_seconds", "gauge",
                "How far the world's time is ahead of the wall clock.");
    text.signed_seconds({}, measures.clock_ahead_ns);
  }
  text.gauge("holdfast_history_lag", "Durable records that the index has not seen.",
             figures.history_lag);
  text.counter("holdfast_history_failures_total", "Failures of the index.",
               figures.history_failures);
  text.gauge("holdfast_history_well", "1: the index can be read and written.",
             figures.history_is_well ? 1 : 0);
}

void put_inputs(MetricsText& text, const Seen& seen) {
  const Measures& measures = seen.measures;
  text.gauge("holdfast_waiting_inputs", "Inputs that wait to be reduced.",
             measures.figures.waiting_inputs);
  text.gauge("holdfast_waiting_results", "Results of effects among them.",
             measures.waiting_results);
  if (!seen.has_world) return;
  text.family("holdfast_refused_inputs_total", "counter", "Inputs that were refused, by why.");
  for (const Refusals& refusals : measures.refusals)
    text.sample({{"code", refusals.code}}, refusals.count);
  text.counter("holdfast_repeated_events_total", "Events that were sent before.",
               measures.repeated_events);
  text.counter("holdfast_repeated_receipts_total", "Receipts that came before.",
               measures.repeated_receipts);
  text.counter("holdfast_repeated_progress_total", "Signs of life that came before, or too late.",
               measures.repeated_progress);
  text.counter("holdfast_bad_signatures_total", "Receipts whose signature is not good.",
               measures.bad_signatures);
  text.counter("holdfast_forgotten_event_ids_total",
               "Ids of events that were forgotten within 24 hours, as there were too many.",
               measures.forgotten_event_ids);
}

void put_effects(MetricsText& text, const Measures& measures) {
  text.gauge("holdfast_handler_threads", "Threads that run handlers and bodies of steps.",
             measures.handler_threads);
  text.gauge("holdfast_busy_handler_threads", "Those of them that run something.",
             measures.busy_handler_threads);
  text.gauge("holdfast_open_effects", "Effects that are open.", measures.open_effects);
  text.family("holdfast_open_effects_by_kind", "gauge", "Effects that are open, by kind.");
  std::uint64_t timers = 0;
  for (const OpenEffects& open : measures.open_by_effect) {
    text.sample({{"effect", open.effect}, {"executor", open.executor}}, open.count);
    if (open.executor == "timer") timers += open.count;
  }
  text.family("holdfast_oldest_effect_age_seconds", "gauge",
              "How long the oldest of a kind has been open.");
  for (const OpenEffects& open : measures.open_by_effect)
    text.seconds({{"effect", open.effect}, {"executor", open.executor}}, open.oldest_age_ns);
  text.gauge("holdfast_timers", "Timers that are set.", timers);
}

// Messages are in the log: they are of any length, and would make a series each.
void put_failed(MetricsText& text, const Measures& measures) {
  text.family("holdfast_failed_effects_total", "counter",
              "Effects and steps that failed, each attempt, by workflow, status and code.");
  for (const FailedCount& failed : measures.failed)
    text.sample({{"workflow", failed.workflow}, {"status", failed.status}, {"code", failed.code}},
                failed.count);
  text.family("holdfast_failed_instances_total", "counter",
              "Instances that failed, by workflow, status and code.");
  for (const FailedCount& failed : measures.failed_instances)
    text.sample({{"workflow", failed.workflow}, {"status", failed.status}, {"code", failed.code}},
                failed.count);
}

// Per queue, so that others can scale workers on them.
void put_queues(MetricsText& text, const workers::DeskFigures& figures, std::uint64_t wall_ns) {
  text.family("holdfast_tasks_waiting", "gauge", "Tasks that wait for a worker, by queue.");
  for (const auto& [queue, of] : figures.queues) text.sample({{"queue", queue}}, of.waiting);
  text.family("holdfast_tasks_running", "gauge", "Tasks that a worker has, by queue.");
  for (const auto& [queue, of] : figures.queues) text.sample({{"queue", queue}}, of.running);
  text.family("holdfast_oldest_task_age_seconds", "gauge",
              "How long the task that waits longest has waited, by queue.");
  for (const auto& [queue, of] : figures.queues) {
    const bool is_waiting = of.oldest_ns != 0 && of.oldest_ns < wall_ns;
    text.seconds({{"queue", queue}}, is_waiting ? wall_ns - of.oldest_ns : 0);
  }
  text.gauge("holdfast_workers_live", "Workers that were heard within their TTL.",
             figures.live_workers);
  text.counter("holdfast_worker_syncs_total", "Sync requests of workers.", figures.syncs);
  text.counter("holdfast_workers_lost_total", "Workers that were declared lost.",
               figures.lost_workers);
  text.counter("holdfast_redelivered_tasks_total", "Dispatches that were sent again.",
               figures.redelivered);
  text.counter("holdfast_denied_tasks_total", "Dispatches that a live worker never took.",
               figures.denied);
  text.counter("holdfast_stale_task_reports_total",
               "Reports of workers about dispatches that did not count any more.",
               figures.stale_reports);
  text.gauge("holdfast_workers_swapping", "Workers that are swapping to another recipe.",
             figures.swapping_workers);
  text.counter("holdfast_recipe_swaps_total", "Swaps of recipes that workers have done.",
               figures.swaps);
  text.counter("holdfast_recipe_swaps_failed_total",
               "Swaps of recipes that workers have begun and not done.", figures.failed_swaps);
  text.counter("holdfast_tasks_yielded_total",
               "Tasks that were given back to make room; they cost no attempt.", figures.yields);
  text.gauge("holdfast_task_log_bytes", "Lines of tasks that are kept in memory.",
             figures.log_bytes);
  text.counter("holdfast_task_log_reports_dropped_total",
               "Reports of lines that could not be written to disk.", figures.dropped_logs);
}

void put_disk(MetricsText& text, const DiskUse& disk) {
  text.gauge("holdfast_disk_free_bytes", "Room where the world is.", disk.free_bytes);
  text.gauge("holdfast_disk_total_bytes", "How large that place is.", disk.total_bytes);
  text.gauge("holdfast_disk_journal_bytes", "Files of the journal.", disk.journal_bytes);
  text.gauge("holdfast_disk_other_bytes", "Blobs, the index, and everything else.",
             disk.other_bytes);
}

void put_routes(MetricsText& text, const AllRouteFigures& all) {
  const auto each = [&](const auto& put) {
    for (const Route& route : routes()) put(route.name, all.of(&route));
    put(std::string_view("none"), all.of(nullptr));
  };
  text.family("holdfast_http_requests_total", "counter", "Requests, by route and status.");
  each([&](std::string_view name, const RouteFigures& figures) {
    for (const auto& [status, count] : figures.by_status)
      text.sample({{"route", name}, {"status", std::to_string(status)}}, count);
  });
  text.family("holdfast_http_request_seconds", "histogram",
              "From the header of a request to its answer, by route.");
  each([&](std::string_view name, const RouteFigures& figures) {
    if (!figures.by_status.empty()) text.time_histogram({{"route", name}}, figures.time_ns);
  });
}

void put_traffic(MetricsText& text, const Service& service) {
  const Traffic& traffic = service.traffic;
  text.gauge("holdfast_http_connections", "Connections that are open.", traffic.connections);
  text.gauge("holdfast_http_streams", "Event streams that are read.", traffic.streams);
  text.gauge("holdfast_http_body_bytes", "Bytes of bodies that are being received.",
             traffic.body_bytes);
  text.gauge("holdfast_http_answer_bytes", "Bytes of answers that wait to be sent.",
             traffic.answer_bytes);
  text.gauge("holdfast_http_waiting_jobs", "Requests that wait for files to be read.",
             service.helper.waiting());
  text.counter("holdfast_http_accepted_total", "Connections that were accepted.", traffic.accepted);
  text.counter("holdfast_http_problems_total", "Answers of 400 and above.", traffic.problems);
  text.family("holdfast_http_refused_requests_total", "counter",
              "Requests that were refused, by the code of the problem.");
  for (const auto& [code, count] : traffic.refused) text.sample({{"code", code}}, count);
  text.counter("holdfast_http_refused_connections_total", "Connections that were one too many.",
               traffic.refused_connections);
  text.counter("holdfast_http_shed_connections_total",
               "Idle connections that were ended to make room for others.",
               traffic.shed_connections);
  text.counter("holdfast_http_cut_readers_total",
               "Clients that took nothing and were cut off to make room for other answers.",
               traffic.cut_readers);
  text.counter("holdfast_http_timeouts_total", "Connections that were too slow.", traffic.timeouts);
  text.counter("holdfast_http_gone_total", "Clients that left before they were answered.",
               traffic.gone);
  text.family("holdfast_figures_left_out_total", "counter",
              "Answers to this question without these figures, as they could not be had in time.");
  text.sample({{"part", "world"}}, traffic.world_left_out);
  text.sample({{"part", "disk"}}, traffic.disk_left_out);
  put_routes(text, service.routes);
}

void put_instances(MetricsText& text, const std::vector<InstanceCount>& counts) {
  text.family("holdfast_instances", "gauge",
              "Instances by workflow and status, until they are forgotten.");
  for (const InstanceCount& each : counts)
    text.sample({{"workflow", each.workflow}, {"status", each.status}}, each.count);
}

// What was asked of others, and has come.
struct Gathered {
  std::optional<Measures> measures;
  std::optional<DiskUse> disk;
  std::optional<std::vector<InstanceCount>> instances;
  unsigned awaited = 3;
  Timers::Id timer{};
};

// With what there is.
void answer_with(Exchange& exchange, const Gathered& gathered) {
  Service& service = exchange.service();
  const bool has_world = gathered.measures.has_value();
  service.traffic.world_left_out += !has_world;
  service.traffic.disk_left_out += !gathered.disk;
  const Measures measures = has_world ? *gathered.measures : service.engine.measure_at_once();
  MetricsText text;
  put_journal(text, {measures, has_world});
  put_inputs(text, {measures, has_world});
  if (has_world) put_effects(text, measures);
  put_failed(text, measures);
  if (gathered.disk) put_disk(text, *gathered.disk);
  if (gathered.instances) put_instances(text, *gathered.instances);
  if (service.desk != nullptr) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    put_queues(text, service.desk->figures(),
               static_cast<std::uint64_t>(std::chrono::nanoseconds(wall).count()));
  }
  if (service.more_metrics) service.more_metrics(text);
  put_traffic(text, service);
  exchange.answer_text(200, "text/plain; version=0.0.4", text.text());
}

void one_has_come(Exchange& exchange, Gathered& gathered) {
  if (--gathered.awaited != 0) return;
  exchange.service().timers.remove(gathered.timer);
  answer_with(exchange, gathered);
}

}  // namespace

// Whoever looks after a server wants to see it most when something hangs: nobody is waited for
// long.
void get_metrics(Exchange& exchange) {
  Service& service = exchange.service();
  const auto gathered = std::make_shared<Gathered>();
  gathered->timer = service.timers.add(
      service.is_stopping ? Timers::Time::min()
                          : std::chrono::steady_clock::now() + service.limits.figures_time,
      [self = exchange.shared_from_this(), number = exchange.number(), gathered] {
        if (self->number() != number) return;
        self->forget();
        answer_with(*self, *gathered);
      });
  exchange.if_let_go([&service, gathered] { service.timers.remove(gathered->timer); });
  service.engine.measure(
      exchange.later<Measures>([gathered](Exchange& self, Result<Measures> measures) {
        if (measures) gathered->measures = std::move(*measures);
        one_has_come(self, *gathered);
      }));
  ListOptions counting;
  counting.limit = 1;
  counting.counts = true;
  service.engine.list_raw(
      counting, exchange.later<InstanceList>([gathered](Exchange& self, Result<InstanceList> list) {
        if (list) gathered->instances = std::move(list->counts);
        one_has_come(self, *gathered);
      }));
  const bool is_asked =
      exchange.try_read_files([&engine = service.engine] { return engine.disk_use(); },
                              [gathered](Exchange& self, const Result<DiskUse>& disk) {
                                if (disk) gathered->disk = *disk;
                                one_has_come(self, *gathered);
                              });
  if (!is_asked) one_has_come(exchange, *gathered);
}

}  // namespace holdfast::gateway
