// SPDX-License-Identifier: Apache-2.0
// What GET /metrics says of the bridge to PostgreSQL.
#pragma once

#include "gateway/metrics_text.h"
#include "postgres/figures.h"

namespace holdfast::cli {

inline void put_bridge(gateway::MetricsText& text, const postgres::BridgeFigures& figures) {
  text.gauge("holdfast_postgres_serving", "1: the bridge is connected and holds its world.",
             figures.is_serving ? 1 : 0);
  text.counter("holdfast_postgres_connections_total", "Connections the bridge has opened.",
               figures.connections);
  text.counter("holdfast_postgres_requests_total", "Requests that were decided.", figures.requests);
  text.counter("holdfast_postgres_refused_total", "Requests that were refused.", figures.refused);
  text.gauge("holdfast_postgres_waiting_requests", "Requests the engine had no room for.",
             figures.waiting);
  text.counter("holdfast_postgres_ends_total", "Results that were written back.", figures.ends);
  text.counter("holdfast_postgres_sweeps_total", "Sweeps of the inbox.", figures.sweeps);
  text.counter("holdfast_postgres_steps_total", "SQL steps of flows that were answered.",
               figures.steps);
  text.counter("holdfast_postgres_failed_steps_total", "SQL steps that failed.",
               figures.failed_steps);
  text.counter("holdfast_postgres_repeated_steps_total",
               "Attempts of SQL steps whose answer was lost.", figures.repeated_steps);
}

}  // namespace holdfast::cli
