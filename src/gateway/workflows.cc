// SPDX-License-Identifier: Apache-2.0
// GET /v1/workflows, and the pictures of step workflows and of their runs.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/view.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/one_instance.h"
#include "gateway/step_documents.h"

namespace holdfast::gateway {
namespace {

constexpr std::string_view kMermaidType = "text/vnd.mermaid";
constexpr std::string_view kDotType = "text/vnd.graphviz";
constexpr std::string_view kSvgType = "image/svg+xml";

std::string_view type_of(steps::DrawingFormat format) {
  switch (format) {
    case steps::DrawingFormat::kMermaid: return kMermaidType;
    case steps::DrawingFormat::kDot: return kDotType;
    case steps::DrawingFormat::kSvg: break;
  }
  return kSvgType;
}

struct Wanted {
  std::optional<steps::DrawingFormat> picture;  // nothing: a document
};

// Nothing: it is answered already.
std::optional<Wanted> wanted(Exchange& exchange) {
  const std::string& said = exchange.text_in_query("format");
  if (said == "json") return Wanted{};
  if (!said.empty()) {
    const auto format = steps::drawing_format(said);
    if (format) return Wanted{format};
    exchange.refuse({ProblemCode::kBadTarget,
                     "there is no format '" + said + "'; there are json, mermaid, dot and svg"});
    return std::nullopt;
  }
  const std::string_view accepted = exchange.request().field(Field::kAccept);
  for (const auto format :
       {steps::DrawingFormat::kSvg, steps::DrawingFormat::kMermaid, steps::DrawingFormat::kDot}) {
    if (accepted.find(type_of(format)) != std::string_view::npos) return Wanted{format};
  }
  return Wanted{};
}

// What is made of a graph on another thread: the serving one does not draw.
struct Made {
  std::string picture;     // if one is wanted
  codec::Buffer document;  // otherwise
};
using MadeOrNot = Result<std::shared_ptr<const Made>>;

MadeOrNot made_of(base::Result<std::string> drawn) {
  if (drawn) return std::make_shared<const Made>(Made{std::move(*drawn), {}});
  const bool is_too_large = drawn.error().code() == base::ErrorCode::kTooLarge;
  return Error{is_too_large ? ErrorCode::kTooLarge : ErrorCode::kConflict, drawn.error().message()};
}

void answer_with(Exchange& exchange, const Wanted& wanted, const MadeOrNot& made) {
  if (!made) return exchange.refuse(made.error());
  if (!wanted.picture) {
    exchange.document().append((*made)->document.view());
    return exchange.answer(200);
  }
  // Nothing in it is to be run, whoever opens it.
  exchange.add_field("Content-Security-Policy", "default-src 'none'; sandbox");
  exchange.answer_text(200, type_of(*wanted.picture), (*made)->picture);
}

void refuse_graph(Exchange& exchange, const base::Error& error) {
  exchange.refuse({ProblemCode::kNotFound, error.message()});
}

// All of its records, as far as they are looked at.
Result<RunRecords> read_records(Engine& engine, const std::string& workflow, const Bytes& key,
                                std::uint64_t last, const std::function<bool()>& is_let_go) {
  RunRecords records;
  for (std::uint64_t from = last; from != 0;) {
    if (is_let_go()) return Error{ErrorCode::kEnded, "nobody waits for it"};
    auto part = engine.read_timeline(workflow, key, from, {.records = 1000});
    if (!part) return part.error();
    for (Bytes& record : part->records) records.add(std::move(record));
    if (part->is_trimmed || part->records.empty() || records.is_full()) break;
    from = part->next;
  }
  return records;
}

}  // namespace

void list_workflows(Exchange& exchange) {
  put_workflows(exchange.document(), exchange.service().definitions);
  exchange.answer(200);
}

void get_workflow_graph(Exchange& exchange) {
  const auto format = wanted(exchange);
  if (!format) return;
  const std::string& workflow = exchange.path_value(0);
  const auto graph = find_graph(exchange.service().definitions, workflow);
  if (!graph) return refuse_graph(exchange, graph.error());
  if (format->picture) {
    return exchange.read_files(
        [workflow, graph = steps::Graph(**graph), drawing = *format->picture] {
          return made_of(draw_graph(workflow, graph, drawing));
        },
        [format = *format](Exchange& self, const MadeOrNot& made) {
          answer_with(self, format, made);
        });
  }
  put_graph(exchange.document(), workflow, **graph);
  exchange.answer(200);
}

void get_instance_graph(Exchange& exchange) {
  const auto format = wanted(exchange);
  if (!format) return;
  const auto found = find_graph(exchange.service().definitions, exchange.path_value(0));
  if (!found) return refuse_graph(exchange, found.error());
  with_instance(exchange, [format = *format, graph = steps::Graph(**found)](
                              Exchange& self, const Bytes& key, const RawInstance& instance) {
    Engine& engine = self.service().engine;
    self.read_files(
        [&engine, workflow = self.path_value(0), key, graph, instance, format,
         is_let_go = self.let_go_flag()]() -> MadeOrNot {
          const auto records = read_records(engine, workflow, key, instance.last_record, is_let_go);
          if (!records) return records.error();
          const RunOfSteps run{workflow, key, graph,
                               records->execution(graph, workflow, key, instance)};
          if (format.picture) return made_of(draw_run(run, *format.picture));
          auto made = std::make_shared<Made>();
          put_run(made->document, run);
          return std::shared_ptr<const Made>(std::move(made));
        },
        [format](Exchange& then, const MadeOrNot& made) { answer_with(then, format, made); });
  });
}

}  // namespace holdfast::gateway
