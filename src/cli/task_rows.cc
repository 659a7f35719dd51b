// SPDX-License-Identifier: Apache-2.0
#include "cli/task_rows.h"

#include "cli/http_client.h"
#include "cli/output.h"
#include "cli/render.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostNoteBytes = 80;

std::string cut(std::string text) {
  if (text.size() <= kMostNoteBytes) return text;
  std::size_t end = kMostNoteBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

std::string graph_path(const std::string& graph) { return "/v1/graphs/" + escaped(graph); }

std::vector<std::string> task_heading() {
  return {"TASK", "NAME", "TYPE", "STATUS", "ATTEMPTS", "NOTE"};
}

std::vector<std::string> task_row(codec::View task) {
  const std::uint64_t most = number_in(task, "max_attempts");
  std::string attempts = std::to_string(number_in(task, "attempts"));
  if (most != 0) attempts += "/" + std::to_string(most);
  return {std::to_string(number_in(task, "task")),
          text_in(task, "name"),
          text_in(task, "type"),
          text_in(task, "status"),
          attempts,
          task_note(task)};
}

std::string task_note(codec::View task) {
  const std::string status = text_in(task, "status");
  if (flag_in(task, "skipped")) return "skipped";
  if (const std::string origin = text_in(task, "origin"); !origin.empty())
    return cut("because of " + printable(origin));
  if (const auto error = task.find("error"); error && status != "DONE")
    return cut(printable(text_in(*error, "message")));
  if (status != "PENDING") return "";
  if (flag_in(task, "ready")) return "waits for a worker";
  const std::uint64_t waits = number_in(task, "waits");
  if (waits == 0) return "its condition is checked";
  return "waits for " + std::to_string(waits) + (waits == 1 ? " task" : " tasks");
}

}  // namespace holdfast::cli
