// SPDX-License-Identifier: Apache-2.0
// holdfast overview, holdfast waits: the world at a glance, and what everything waits for.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"

namespace holdfast::cli {
namespace {

struct OverviewOptions {
  Where where;
  std::string workflow;
};

constexpr const char* kCounted[] = {"waiting", "completed", "failed", "cancelled"};

// "3 min"; seconds are exact enough for anything that people wait for.
std::string age_text(std::uint64_t since_ns) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  const std::uint64_t seconds = now_ns > since_ns ? (now_ns - since_ns) / 1'000'000'000 : 0;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86'400) + " d";
}

void print_overview(codec::View document) {
  std::vector<std::vector<std::string>> table{
      {"WORKFLOW", "WAITING", "COMPLETED", "FAILED", "CANCELLED"}};
  for (const codec::View each : list_in(document, "workflows")) {
    std::vector<std::string> row{printable(text_in(each, "workflow"))};
    for (const char* status : kCounted)
      row.push_back(std::to_string(number_in(*each.find("counts"), status)));
    table.push_back(std::move(row));
  }
  print_table(table);
  const std::vector<codec::View> failures = list_in(document, "failures");
  if (!failures.empty()) {
    std::vector<std::vector<std::string>> failed{{"FAILED", "CODE", "WORKFLOW", "LAST"}};
    for (const codec::View each : failures)
      failed.push_back({std::to_string(number_in(each, "count")), printable(text_in(each, "code")),
                        printable(text_in(each, "workflow")),
                        age_text(number_in(each, "last_ns")) + " ago"});
    print_line("");
    print_table(failed);
  }
}

void print_waits(codec::View document) {
  std::vector<std::vector<std::string>> table{{"WAITING", "OLDEST", "WORKFLOW", "FOR"}};
  for (const codec::View each : list_in(document, "groups")) {
    const std::string subject = text_in(each, "subject");
    table.push_back({std::to_string(number_in(each, "count")),
                     age_text(number_in(each, "oldest_ns")), printable(text_in(each, "workflow")),
                     printable(text_in(each, "kind") + (subject.empty() ? "" : " " + subject))});
  }
  print_table(table);
  const std::uint64_t left = number_in(document, "not_examined");
  if (left != 0) print_line(std::to_string(left) + " more were not looked at.");
}

}  // namespace

void add_overview(CLI::App& app, ExitCode& exit_code) {
  const auto add = [&](const char* name, const char* what, const char* example, const char* path,
                       bool takes_workflow, void (*print)(codec::View)) {
    auto options = std::make_shared<OverviewOptions>();
    CLI::App* command = app.add_subcommand(name, what);
    add_where(*command, options->where, Reach::kServerOnly);
    if (takes_workflow)
      command->add_option("--workflow", options->workflow, "only instances of this workflow");
    command->footer(std::string("Example: holdfast ") + example);
    command->callback([options, path = std::string(path), print, &exit_code] {
      const auto where = settle(options->where, Reach::kServerOnly);
      if (!where) {
        exit_code = misused(where.error().to_string());
        return;
      }
      const auto api = ServerApi::at(*where);
      const std::string query =
          options->workflow.empty() ? "" : "?workflow=" + path_part(options->workflow);
      if (!api) {
        exit_code = refuse_or_retry(api.error());
        return;
      }
      const auto document = api->get(path + query);
      exit_code = document ? print_either(*where, document->view(), print)
                           : refuse_or_retry(document.error());
    });
  };
  add("overview", "count instances by workflow and status, and show what failed last", "overview",
      "/v1/overview", false, print_overview);
  add("waits", "count what instances wait for, the oldest wait first",
      "waits --workflow demo/Order@1", "/v1/waits", true, print_waits);
}

}  // namespace holdfast::cli
