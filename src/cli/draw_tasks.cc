// SPDX-License-Identifier: Apache-2.0
#include "cli/draw_tasks.h"

#include "cli/output.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_rows.h"
#include "steps/draw.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostDrawn = 1000;
constexpr std::size_t kMostArrows = 5000;

using Tone = steps::Picture::Tone;

Tone tone_of(codec::View task) {
  const std::string status = text_in(task, "status");
  if (flag_in(task, "skipped")) return Tone::kUnused;
  if (status == "DONE") return Tone::kDone;
  if (status == "FAILED" || status == "CANCELLED") return Tone::kFailed;
  return flag_in(task, "ready") || status == "DISPATCHED" ? Tone::kRunning : Tone::kWaiting;
}

std::string id_of(std::uint64_t number) { return "t" + std::to_string(number); }

void add_task(codec::View task, steps::Picture& picture) {
  const std::uint64_t number = number_in(task, "task");
  const bool is_task = text_in(task, "kind") == "task";
  steps::Picture::Node node{
      .id = id_of(number),
      .label = text_in(task, "name"),
      .shape = is_task ? steps::Picture::Shape::kStep : steps::Picture::Shape::kEvent,
      .tone = tone_of(task)};
  if (is_task) node.notes = {text_in(task, "type"), text_in(task, "status")};
  picture.nodes.push_back(std::move(node));
  for (const codec::View range : list_in(task, "depends_on")) {
    std::uint64_t numbers[2] = {0, 0};
    std::size_t at = 0;
    for (const codec::View each : range.elements())
      if (at < 2) numbers[at++] = each.nat().value_or(0);
    for (std::uint64_t i = 0; i < numbers[1] && picture.edges.size() <= kMostArrows; ++i)
      picture.edges.push_back({id_of(numbers[0] + i), id_of(number), "", false});
  }
}

}  // namespace

base::Result<ExitCode> draw_tasks(const std::string& graph, const std::string& format,
                                  const Where& where) {
  const ServerApi api = TRY(ServerApi::at(where));
  const Document found = TRY(api.get(graph_path(graph)));
  const Document tasks =
      TRY(api.get(graph_path(graph) + "/tasks?links=1&limit=" + std::to_string(kMostDrawn)));
  if (where.json) {
    print_json(tasks.view());
    return ExitCode::kDone;
  }
  steps::Picture picture;
  picture.title = {text_in(found.view(), "name") + " (" + graph +
                   "): " + text_in(found.view(), "status")};
  for (const codec::View task : list_in(tasks.view(), "tasks")) add_task(task, picture);
  if (number_in(tasks.view(), "next") != 0 || picture.edges.size() > kMostArrows)
    return base::Error(base::ErrorCode::kTooLarge, graph,
                       "the graph is too large for a picture; `holdfast tasks` lists it");
  print(TRY(steps::draw(picture, *steps::drawing_format(format))));
  return ExitCode::kDone;
}

}  // namespace holdfast::cli
