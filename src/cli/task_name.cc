// SPDX-License-Identifier: Apache-2.0
#include "cli/task_name.h"

#include <charconv>
#include <optional>

#include "cli/render.h"
#include "cli/task_rows.h"

namespace holdfast::cli {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

base::Result<NamedTask> only_task(const ServerApi& api, const std::string& graph) {
  const Document found = TRY(api.get(graph_path(graph)));
  if (number_in(found.view(), "tasks") == 1) return NamedTask{graph, 0};
  return base::invalid(graph, "the graph has " + std::to_string(number_in(found.view(), "tasks")) +
                                  " tasks; name one of them: " + graph + "/NAME");
}

}  // namespace

std::string NamedTask::path() const {
  return graph_path(graph) + "/tasks/" + std::to_string(number);
}

base::Result<NamedTask> find_task(const ServerApi& api, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return only_task(api, text);
  const std::string graph = text.substr(0, slash);
  const std::string name = text.substr(slash + 1);
  if (const auto number = whole_number(name)) return NamedTask{graph, *number};
  for (std::uint64_t from = 0;;) {
    const Document page =
        TRY(api.get(graph_path(graph) + "/tasks?limit=1000&from=" + std::to_string(from)));
    for (const codec::View task : list_in(page.view(), "tasks"))
      if (text_in(task, "name") == name) return NamedTask{graph, number_in(task, "task")};
    const std::uint64_t next = number_in(page.view(), "next");
    if (next <= from) break;
    from = next;
  }
  return base::Error(base::ErrorCode::kNotFound, graph, "the graph has no task '" + name + "'");
}

}  // namespace holdfast::cli
