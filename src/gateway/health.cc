// SPDX-License-Identifier: Apache-2.0
// What those ask who look after the server: is it there, does it take work, how much of everything.
#include <string>

#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

struct Metric {
  const char* name;
  const char* kind;
  const char* help;
  std::uint64_t value;
};

void append(std::string& text, const Metric& metric) {
  text.append("# HELP ").append(metric.name).append(" ").append(metric.help).append("\n");
  text.append("# TYPE ").append(metric.name).append(" ").append(metric.kind).append("\n");
  text.append(metric.name).append(" ").append(std::to_string(metric.value)).append("\n");
}

std::string metrics_text(const Measures& measures, const Traffic& traffic) {
  const Metric metrics[] = {
      {"holdfast_records_total", "counter", "Records made durable.", measures.figures.records},
      {"holdfast_syncs_total", "counter", "Batches made durable.", measures.figures.syncs},
      {"holdfast_journal_bytes_total", "counter", "Bytes written to the journal.",
       measures.figures.journal_bytes},
      {"holdfast_next_record", "gauge", "The number of the next record.", measures.next_record},
      {"holdfast_waiting_inputs", "gauge", "Inputs that wait to be reduced.",
       measures.figures.waiting_inputs},
      {"holdfast_open_effects", "gauge", "Effects that are open.", measures.open_effects},
      {"holdfast_refused_inputs_total", "counter", "Inputs that the world refused.",
       measures.refused},
      {"holdfast_repeated_events_total", "counter", "Events that were sent before.",
       measures.repeated_events},
      {"holdfast_repeated_receipts_total", "counter", "Receipts that came before.",
       measures.repeated_receipts},
      {"holdfast_http_connections", "gauge", "Connections that are open.", traffic.connections},
      {"holdfast_http_body_bytes", "gauge", "Bytes of bodies that are being received.",
       traffic.body_bytes},
      {"holdfast_http_accepted_total", "counter", "Connections that were accepted.",
       traffic.accepted},
      {"holdfast_http_requests_total", "counter", "Requests.", traffic.requests},
      {"holdfast_http_problems_total", "counter", "Answers of 400 and above.", traffic.problems},
      {"holdfast_http_refused_connections_total", "counter", "Connections that were one too many.",
       traffic.refused_connections},
      {"holdfast_http_timeouts_total", "counter", "Connections that were too slow.",
       traffic.timeouts},
  };
  std::string text;
  for (const Metric& metric : metrics) append(text, metric);
  return text;
}

}  // namespace

void get_health(Exchange& exchange) {
  exchange.answer_text(200, "application/json", R"({"status":"ok"})");
}

void get_ready(Exchange& exchange) {
  switch (exchange.service().engine.condition()) {
    case Condition::kReady:
      if (exchange.service().is_stopping) break;
      return exchange.answer_text(200, "application/json", R"({"status":"ready"})");
    case Condition::kDiskFull: return exchange.refuse({ProblemCode::kDiskFull, "no new work"});
    case Condition::kEnded: break;
  }
  exchange.refuse({ProblemCode::kUnavailable, "the engine has ended"});
}

void get_metrics(Exchange& exchange) {
  exchange.service().engine.measure(
      exchange.later<Measures>([](Exchange& self, const Result<Measures>& measures) {
        if (!measures) return self.refuse(measures.error());
        self.answer_text(200, "text/plain; version=0.0.4",
                         metrics_text(*measures, self.service().traffic));
      }));
}

}  // namespace holdfast::gateway
