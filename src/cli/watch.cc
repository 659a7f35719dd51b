// SPDX-License-Identifier: Apache-2.0
// holdfast watch: a graph as it goes on, until it ends. On a terminal the table is drawn again in
// its place; elsewhere there is a line for each change.
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/arguments.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/task_rows.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

struct WatchOptions {
  Where where;
  std::string graph;
  std::uint64_t interval_ms = 500;
};

// A server that is restarted is waited for.
constexpr milliseconds kLongestOutage(60'000);

std::string bar(std::uint64_t done, std::uint64_t all) {
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t full = all == 0 ? 0 : done * kWidth / all;
  return "[" + std::string(full, '#') + std::string(kWidth - full, '.') + "]";
}

std::string summary(codec::View graph) {
  const std::uint64_t all = number_in(graph, "tasks");
  const std::uint64_t ended =
      number_in(graph, "done") + number_in(graph, "failed") + number_in(graph, "cancelled");
  std::string line = text_in(graph, "id") + "  " + text_in(graph, "status");
  if (text_in(graph, "verdict") == "FAILED" && text_in(graph, "status") != "FAILED")
    line += " (verdict FAILED)";
  if (flag_in(graph, "cancelling")) line += " (cancelling)";
  line += "  " + bar(ended, all) + " " + std::to_string(ended) + "/" + std::to_string(all);
  for (const char* count : {"done", "skipped", "failed", "cancelled", "pending"}) {
    if (const std::uint64_t number = number_in(graph, count))
      line += "  " + std::to_string(number) + " " + count;
  }
  if (number_in(graph, "epochs") != 0)
    line += "  epoch " + std::to_string(number_in(graph, "frontier")) + "/" +
            std::to_string(number_in(graph, "epochs"));
  return line;
}

// What is going on stands above what waits, and that above what has ended well.
int rank(codec::View task) {
  const std::string status = text_in(task, "status");
  if (status == "DISPATCHED" || status == "CANCELLING") return 0;
  if (status == "FAILED" && text_in(task, "origin").empty()) return 1;
  if (flag_in(task, "ready")) return 2;
  if (status == "PENDING") return 3;
  return status == "DONE" ? 5 : 4;
}

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

Size terminal_size() {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_row == 0) return {};
  return {found.ws_row, found.ws_col == 0 ? std::size_t{80} : found.ws_col};
}

// Cuts a line to a number of columns, without tabs or colours.
std::string fitted(const std::string& line, std::size_t columns) {
  if (columns_of(line) <= columns) return line;
  std::string made;
  for (std::size_t i = 0; i < line.size() && columns_of(made) < columns; ++i) {
    made += line[i];
    while (i + 1 < line.size() && (static_cast<unsigned char>(line[i + 1]) & 0xc0) == 0x80)
      made += line[++i];
  }
  return made;
}

class Screen {
 public:
  Screen() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

  bool is_terminal() const noexcept { return is_terminal_; }

  void show(codec::View graph, const std::vector<codec::View>& tasks) {
    const Size size = terminal_size();
    std::vector<std::string> lines{printable(summary(graph))};
    const std::size_t room = size.rows > 4 ? size.rows - 4 : 1;
    std::vector<codec::View> sorted = tasks;
    std::ranges::stable_sort(sorted, {}, rank);
    std::vector<std::vector<std::string>> rows{task_heading()};
    for (std::size_t i = 0; i < std::min(room, sorted.size()); ++i)
      rows.push_back(task_row(sorted[i]));
    add_table(rows, lines);
    const std::uint64_t all = number_in(graph, "tasks");
    if (all > rows.size() - 1)
      lines.push_back("and " + std::to_string(all - (rows.size() - 1)) + " more");
    draw(lines, size.columns);
  }

 private:
  static void add_table(const std::vector<std::vector<std::string>>& rows,
                        std::vector<std::string>& lines) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], columns_of(printable(row[i])));
    }
    for (const auto& row : rows) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string cell = printable(row[i]);
        line += cell;
        if (i + 1 < row.size()) line += std::string(widths[i] - columns_of(cell) + 2, ' ');
      }
      lines.push_back(line);
    }
  }

  // Over what was drawn before; what is left of a longer one is cleared.
  void draw(const std::vector<std::string>& lines, std::size_t columns) {
    std::string out;
    if (drawn_ != 0) out += "\x1b[" + std::to_string(drawn_) + "A";
    for (const std::string& line : lines) out += "\r\x1b[K" + fitted(line, columns) + "\n";
    out += "\x1b[J";
    drawn_ = lines.size();
    print(out);
    flush_output();
  }

  bool is_terminal_;
  std::size_t drawn_ = 0;
};

ExitCode verdict_of(codec::View graph) {
  return text_in(graph, "status") == "DONE" ? ExitCode::kDone : ExitCode::kRefused;
}

base::Result<ExitCode> watch_graph(const WatchOptions& options, const ServerApi& api,
                                   const Where& where) {
  const std::string path = graph_path(options.graph);
  Screen screen;
  std::string last;
  milliseconds outage(0);
  for (;;) {
    const auto graph = api.get(path);
    if (!graph) {
      if (graph.error().code() != base::ErrorCode::kUnavailable || outage >= kLongestOutage)
        return base::Error(graph.error().code(), graph.error().where(), graph.error().message());
      outage += milliseconds(options.interval_ms);
      std::this_thread::sleep_for(milliseconds(options.interval_ms));
      continue;
    }
    outage = milliseconds(0);
    const bool is_over =
        graph->view().find("ended_ns") && number_in(graph->view(), "ended_ns") != 0;
    const std::string line = summary(graph->view());
    if (where.json) {
      if (line != last || is_over) print_json(graph->view());
    } else if (screen.is_terminal()) {
      const auto tasks = api.get(path + "/tasks?limit=1000");
      if (tasks) screen.show(graph->view(), list_in(tasks->view(), "tasks"));
    } else if (line != last) {
      print_line(printable(line));
    }
    last = line;
    if (!flush_output()) return ExitCode::kRefused;
    if (is_over) {
      if (const std::string error = text_in(graph->view(), "error"); !error.empty() && !where.json)
        print_line(printable("first failure: " + error));
      return verdict_of(graph->view());
    }
    std::this_thread::sleep_for(milliseconds(options.interval_ms));
  }
}

ExitCode watch(const WatchOptions& options) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = watch_graph(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

}  // namespace

void add_watch(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = app.add_subcommand(
      "watch", "follow a task graph until it ends; exits with 0 if it is DONE, otherwise with 1");
  add_where(*command, options->where, Reach::kServerOnly);
  command->add_option("graph", options->graph, "the id of a graph")->required()->check(not_empty());
  command
      ->add_option("--interval,--interval-ms", options->interval_ms,
                   "time between updates, such as 500ms or 2s")
      ->transform(milliseconds_of_duration())
      ->check(CLI::Range(50, 60'000))
      ->capture_default_str();
  command->footer("Example: holdfast watch digest-1");
  command->callback([options, &exit_code] { exit_code = watch(*options); });
}

}  // namespace holdfast::cli
