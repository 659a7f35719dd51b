// SPDX-License-Identifier: Apache-2.0
// Task graphs: /v1/graphs. Documents are compiled beside the thread that serves; all else is asked
// of the world.
#include "holdfast/graphs.h"

#include <charconv>
#include <memory>
#include <utility>

#include "codec/view.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/event_body.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostPerPart = 1000;
constexpr std::uint64_t kMostPlace = std::uint64_t{1} << 62;

void put_text_if(codec::Buffer& out, std::string_view name, const std::string& text) {
  if (!text.empty()) put(out, name, text);
}

void put_graph(codec::Buffer& out, const GraphInfo& graph) {
  const std::size_t optional = (graph.owner.empty() ? 0u : 1u) + (graph.reason.empty() ? 0u : 1u) +
                               (graph.cancelled_by.empty() ? 0u : 1u) +
                               (graph.error.empty() ? 0u : 1u) +
                               (graph.rerun_of.empty() ? 0u : 1u) + (graph.epochs == 0 ? 0u : 2u);
  codec::write_map_head(out, 16 + optional);
  put(out, "id", graph.id);
  put(out, "name", graph.name);
  put(out, "kind", graph.kind);
  put_text_if(out, "owner", graph.owner);
  put_value(out, "annotations", graph.annotations);
  put(out, "status", graph.status);
  put(out, "verdict", graph.verdict);
  put_number(out, "tasks", graph.tasks);
  put_number(out, "pending", graph.pending);
  put_number(out, "done", graph.done);
  put_number(out, "skipped", graph.skipped);
  put_number(out, "failed", graph.failed);
  put_number(out, "cancelled", graph.cancelled);
  if (graph.epochs != 0) {
    put_number(out, "epochs", graph.epochs);
    put_number(out, "frontier", graph.frontier);
  }
  put_flag(out, "cancelling", graph.is_cancelling);
  put_text_if(out, "reason", graph.reason);
  put_text_if(out, "cancelled_by", graph.cancelled_by);
  put_text_if(out, "error", graph.error);
  put_text_if(out, "rerun_of", graph.rerun_of);
  put_number(out, "created_ns", graph.created_ns);
  put_number_or_null(out, "started_ns", graph.started_ns);
  put_number_or_null(out, "ended_ns", graph.ended_ns);
}

void put_numbers(codec::Buffer& out, std::string_view name, const std::vector<TaskNumbers>& all) {
  codec::write_text(out, name);
  codec::write_list_head(out, all.size());
  for (const TaskNumbers& numbers : all) {
    codec::write_list_head(out, 2);
    codec::write_nat(out, numbers.first);
    codec::write_nat(out, numbers.count);
  }
}

std::string_view kind_name(TaskInfo::Kind kind) {
  switch (kind) {
    case TaskInfo::Kind::kTask: return "task";
    case TaskInfo::Kind::kJoin: return "join";
    case TaskInfo::Kind::kGate: break;
  }
  return "gate";
}

void put_task(codec::Buffer& out, const TaskInfo& task) {
  const bool has_error = !task.error_code.empty();
  const std::size_t optional = (has_error ? 1u : 0u) + (task.origin.empty() ? 0u : 1u) +
                               (task.worker.empty() ? 0u : 1u) + (task.epoch ? 1u : 0u) +
                               (task.result.empty() ? 0u : 1u);
  codec::write_map_head(out, 14 + optional);
  put_number(out, "task", task.number);
  put(out, "kind", kind_name(task.kind));
  put(out, "name", task.name);
  put(out, "type", task.type);
  put(out, "status", name_of(task.status));
  put_flag(out, "ready", task.is_ready);
  put_flag(out, "skipped", task.is_skipped);
  put_number(out, "waits", task.waits);
  put_number(out, "attempts", task.attempts);
  put_number_or_null(out, "max_attempts", task.max_attempts.value_or(0));
  if (task.epoch) put_number(out, "epoch", *task.epoch);
  put_numbers(out, "depends_on", task.depends_on);
  if (has_error) {
    codec::write_text(out, "error");
    codec::write_map_head(out, 2);
    put(out, "code", task.error_code);
    put(out, "message", task.error);
  }
  put_text_if(out, "worker", task.worker);
  put_text_if(out, "origin", task.origin);
  put_number(out, "created_ns", task.created_ns);
  put_number_or_null(out, "ready_ns", task.ready_ns);
  put_number_or_null(out, "ended_ns", task.ended_ns);
  if (!task.result.empty()) put_value(out, "result", task.result);
}

// All that is wrong with a document, one error a line.
Problem problem_of_document(const Error& error, const GraphProblems& problems) {
  Problem problem{
      error.code == ErrorCode::kTooLarge ? ProblemCode::kTooLarge : ProblemCode::kSchema,
      error.message, "$.document"};
  if (problems.empty()) return problem;
  problem.detail.clear();
  for (const std::string& each : problems)
    problem.detail += (problem.detail.empty() ? "" : "\n") + each;
  return problem;
}

void answer_submitted(Exchange& exchange, const Result<GraphSubmitted>& submitted,
                      const GraphProblems& problems) {
  if (!submitted) {
    const ErrorCode code = submitted.error().code;
    if (code == ErrorCode::kInvalid || code == ErrorCode::kTooLarge)
      return exchange.refuse(problem_of_document(submitted.error(), problems));
    return exchange.refuse(submitted.error());
  }
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 3);
  put(out, "id", submitted->id);
  put_number(out, "tasks", submitted->tasks);
  put_flag(out, "repeated", submitted->is_repeated);
  exchange.answer(submitted->is_repeated ? 200 : 201);
}

// A place among those that enter a graph, until the last one lets go of it.
std::shared_ptr<void> place_to_enter(Service& service) {
  const auto entering = service.entering;
  if (entering->fetch_add(1) >= service.limits.graphs_entering) {
    entering->fetch_sub(1);
    return nullptr;
  }
  return {entering.get(), [entering](void*) { entering->fetch_sub(1); }};
}

std::optional<std::string> id_in(Exchange& exchange, const Envelope& body) {
  auto given = body.text("id");
  if (!given) return refuse_body(exchange, given.error()), std::nullopt;
  std::string id;
  if (const auto problem = take_id(exchange.request(), std::move(*given), id)) {
    exchange.refuse(*problem);
    return std::nullopt;
  }
  return id;
}

void answer_done(Exchange& exchange, const Result<Done>& done) {
  if (!done) return exchange.refuse(done.error());
  codec::write_map_head(exchange.document(), 0);
  exchange.answer(200);
}

std::optional<std::uint32_t> task_in_path(Exchange& exchange) {
  const std::string& text = exchange.path_value(1);
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stopped == end) return number;
  exchange.refuse({ProblemCode::kNotFound, "tasks have numbers: '" + text + "' is none"});
  return std::nullopt;
}

}  // namespace

void post_graph(Exchange& exchange) {
  Service& service = exchange.service();
  const auto body = read_body(exchange, {"document", "id"});
  if (!body) return;
  auto id = id_in(exchange, *body);
  if (!id) return;
  auto document = needed_any(exchange, *body, "document");
  if (!document) return;
  GraphSubmission submission;
  submission.id = std::move(*id);
  if (const auto text = codec::View::of(*document).text()) {
    submission.text = *text;
    if (submission.text.empty())
      return refuse_body(exchange, base::invalid("$.document", "the document is empty"));
  } else {
    submission.value = std::move(*document);
  }
  auto place = place_to_enter(service);
  const auto problems = std::make_shared<GraphProblems>();
  auto told = exchange.later<GraphSubmitted>(
      [problems](Exchange& self, const Result<GraphSubmitted>& submitted) {
        answer_submitted(self, submitted, *problems);
      });
  const bool is_posted =
      place && service.helper.post([&engine = service.engine, submission = std::move(submission),
                                    problems, place, told = std::move(told)] {
        Graphs(engine).submit(
            submission, problems.get(),
            [place, told](Result<GraphSubmitted> submitted) { told(std::move(submitted)); });
      });
  if (!is_posted) exchange.refuse({ProblemCode::kFull, "too many graphs are being entered"});
}

void rerun_graph(Exchange& exchange) {
  const auto body = read_body(exchange, {"id"});
  if (!body) return;
  const auto id = id_in(exchange, *body);
  if (!id) return;
  const auto place = place_to_enter(exchange.service());
  if (!place) return exchange.refuse({ProblemCode::kFull, "too many graphs are being entered"});
  auto told =
      exchange.later<GraphSubmitted>([](Exchange& self, const Result<GraphSubmitted>& submitted) {
        answer_submitted(self, submitted, {});
      });
  Graphs(exchange.service().engine)
      .rerun(exchange.path_value(0), *id,
             [place, told = std::move(told)](Result<GraphSubmitted> submitted) {
               told(std::move(submitted));
             });
}

void list_graphs(Exchange& exchange) {
  GraphListQuery query;
  const auto limit = exchange.limit_in_query(query.limit, kMostPerPart);
  if (!limit) return;
  const auto after = exchange.number_in_query("after", 0, kMostPlace);
  if (!after) return;
  const auto open = exchange.number_in_query("open", 0, 1);
  if (!open) return;
  query.limit = *limit;
  query.after = *after;
  query.only_open = *open == 1;
  Graphs(exchange.service().engine)
      .list(query, exchange.later<GraphList>([](Exchange& self, const Result<GraphList>& list) {
        if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 2);
        codec::write_text(out, "graphs");
        codec::write_list_head(out, list->graphs.size());
        for (const GraphInfo& graph : list->graphs) put_graph(out, graph);
        put_number_or_null(out, "next", list->next);
        self.answer(200);
      }));
}

void get_graph(Exchange& exchange) {
  Graphs(exchange.service().engine)
      .graph(exchange.path_value(0),
             exchange.later<GraphInfo>([](Exchange& self, const Result<GraphInfo>& graph) {
               if (!graph) return self.refuse(graph.error());
               put_graph(self.document(), *graph);
               self.answer(200);
             }));
}

void list_tasks(Exchange& exchange) {
  TaskQuery query;
  const auto limit = exchange.limit_in_query(query.limit, kMostPerPart);
  if (!limit) return;
  const auto from = exchange.number_in_query("from", 0, UINT32_MAX);
  if (!from) return;
  const auto results = exchange.number_in_query("results", 0, 1);
  if (!results) return;
  const auto links = exchange.number_in_query("links", 0, 1);
  if (!links) return;
  query.limit = *limit;
  query.from = static_cast<std::uint32_t>(*from);
  query.with_results = *results == 1;
  query.with_links = *links == 1;
  Graphs(exchange.service().engine)
      .tasks(exchange.path_value(0), query,
             exchange.later<TaskPage>([](Exchange& self, const Result<TaskPage>& page) {
               if (!page) return self.refuse(page.error());
               codec::Buffer& out = self.document();
               codec::write_map_head(out, 2);
               codec::write_text(out, "tasks");
               codec::write_list_head(out, page->tasks.size());
               for (const TaskInfo& task : page->tasks) put_task(out, task);
               put_number_or_null(out, "next", page->next);
               self.answer(200);
             }));
}

void get_task_result(Exchange& exchange) {
  const auto number = task_in_path(exchange);
  if (!number) return;
  Graphs(exchange.service().engine)
      .result(exchange.path_value(0), *number,
              exchange.later<Bytes>([](Exchange& self, const Result<Bytes>& result) {
                if (!result) return self.refuse(result.error());
                codec::Buffer& out = self.document();
                codec::write_map_head(out, 1);
                put_value(out, "result", *result);
                self.answer(200);
              }));
}

void cancel_graph(Exchange& exchange) {
  const auto body = read_body(exchange, {"reason"});
  if (!body) return;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  Graphs(exchange.service().engine)
      .cancel(exchange.path_value(0), *reason, exchange.asked_by(),
              exchange.later<Done>(answer_done));
}

void cancel_task(Exchange& exchange) {
  const auto number = task_in_path(exchange);
  if (!number) return;
  const auto body = read_body(exchange, {"reason"});
  if (!body) return;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  Graphs(exchange.service().engine)
      .cancel_task(exchange.path_value(0), *number, *reason, exchange.asked_by(),
                   exchange.later<Done>(answer_done));
}

}  // namespace holdfast::gateway
