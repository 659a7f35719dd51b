// SPDX-License-Identifier: Apache-2.0
#include "worker/process_runner.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "worker/child_output.h"
#include "worker/child_setup.h"

namespace holdfast::work {
namespace {

constexpr int kUselessExit = 65;  // EX_DATAERR
constexpr int kYieldExit = 75;    // EX_TEMPFAIL

// JSON text may be longer than the value that it stands for.
constexpr std::size_t kMaxProcessOutput = 2 * kMaxResultBytes;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

base::Result<std::unique_ptr<ProcessRunner>> ProcessRunner::of(
    const std::vector<std::string>& programs) {
  TRY(executors::check_child_signal());
  std::vector<executors::Program> found;
  found.reserve(programs.size());
  for (const std::string& name : programs) found.push_back(TRY(find_program(name)));
  return std::unique_ptr<ProcessRunner>(new ProcessRunner(std::move(found)));
}

base::Result<executors::ChildPlan> ProcessRunner::plan_of(const Task& task) {
  const codec::View input = codec::View::of(task.input);
  const auto member = [&](std::string_view name) -> std::optional<codec::View> {
    if (input.kind() != codec::ViewKind::kMap) return std::nullopt;
    const auto found = input.find(name);
    return found && !found->is_null() ? found : std::nullopt;
  };
  executors::Program* chosen = &programs_.front();
  if (const auto named = member("program")) {
    const auto name = named->text();
    if (!name) return base::invalid("program", "expected text");
    const auto at = std::ranges::find_if(programs_, [&](const executors::Program& each) {
      return each.path == *name || file_name(each.path) == *name;
    });
    if (at == programs_.end())
      return base::Error(base::ErrorCode::kNotFound, "program",
                         "this worker does not run '" + plain_text(*name, 256) + "'");
    chosen = &*at;
  } else if (programs_.size() > 1) {
    return base::invalid("program", "is needed: this worker runs several programs");
  }
  executors::ChildPlan plan;
  plan.program = chosen;
  plan.scripts_by_path = true;
  plan.argv.push_back(chosen->path);
  if (const auto arguments = member("args")) {
    if (arguments->kind() != codec::ViewKind::kList)
      return base::invalid("args", "expected a list");
    for (const codec::View each : arguments->elements()) {
      if (!each.text() || each.text()->find('\0') != std::string_view::npos)
        return base::invalid("args", "expected texts without NUL");
      plan.argv.emplace_back(*each.text());
    }
  }
  plan.environment = child_environment();
  plan.environment.push_back("HOLDFAST_IDEMPOTENCY_KEY=" + task.key);
  plan.environment.push_back("HOLDFAST_ATTEMPT=" + std::to_string(task.attempt));
  plan.environment.push_back("HOLDFAST_TASK=" + task.name);
  if (!task.resume.empty())
    plan.environment.push_back("HOLDFAST_RESUME=" + codec::to_json(codec::View::of(task.resume)));
  add_devices(plan.environment, task.devices);
  plan.folder = present_folder();
  return plan;
}

void ProcessRunner::start(const Task& task, TaskReports& reports) {
  auto plan = plan_of(task);
  if (!plan)
    return reports.ended(task.dispatch,
                         Ended::failed("process.input", plan.error().to_string(), false));
  // The child reads it while it runs, so it stays at one place.
  auto input = std::make_unique<std::string>(codec::to_json(codec::View::of(task.input)) + "\n");
  plan->input = *input;
  auto child = executors::Child::start(*plan);
  if (!child)
    return reports.ended(task.dispatch,
                         Ended::failed("process.not_started", child.error().to_string()));
  runs_.push_back({task.dispatch, plan->argv[0], std::move(input), std::move(*child)});
}

void ProcessRunner::stop(const std::string& dispatch, StopReason reason, Urgency urgency) {
  for (Run& run : runs_) {
    if (run.dispatch != dispatch) continue;
    run.is_to_yield = run.is_to_yield || reason == StopReason::kPreempt;
    run.child.signal_group(urgency == Urgency::kKill ? SIGKILL : SIGTERM);
    run.child.signal_group(SIGCONT);  // one that is stopped cannot hear
  }
}

void ProcessRunner::abandon(const std::string& dispatch) {
  runs_.remove_if([&](const Run& run) { return run.dispatch == dispatch; });
}

void ProcessRunner::add_polled(std::vector<pollfd>& polled) {
  for (const Run& run : runs_) {
    polled.push_back({run.child.ended(), POLLIN, 0});
    polled.push_back({run.child.output(), POLLIN, 0});
    polled.push_back({run.child.errors(), POLLIN, 0});
    polled.push_back({run.child.input(), POLLOUT, 0});
  }
}

void ProcessRunner::go_on(const pollfd* polled, TaskReports& reports) {
  for (auto run = runs_.begin(); run != runs_.end(); polled += kPolledOfRun) {
    const bool has_ended = polled[0].revents != 0;
    if (has_ended) run->child.signal_group(SIGKILL);
    read(*run, polled, has_ended, reports);
    if (polled[3].revents != 0) run->child.feed();
    if (!has_ended) {
      ++run;
      continue;
    }
    const std::string dispatch = run->dispatch;
    Outcome outcome = outcome_of(*run);
    run = runs_.erase(run);
    if (outcome.resume) {
      reports.yielded(dispatch, std::move(*outcome.resume));
    } else {
      reports.ended(dispatch, std::move(outcome.ended));
    }
  }
}

void ProcessRunner::read(Run& run, const pollfd* polled, bool has_ended, TaskReports& reports) {
  const std::size_t most = has_ended ? kReadOfEnded : kReadOfTurn;
  if ((has_ended || polled[1].revents != 0) && run.child.output() >= 0) {
    const bool goes_on = read_available(run.child.output(), most, [&](std::string_view bytes) {
      if (run.output.size() + bytes.size() > kMaxProcessOutput) {
        run.is_too_large = true;
      } else {
        run.output += bytes;
      }
    });
    if (!goes_on) run.child.close_output();
  }
  const auto take_line = [&](std::string_view line) {
    if (!is_blank(line)) run.last_line = plain_text(line, 1024);
    reports.line(run.dispatch, true, line);
  };
  if ((has_ended || polled[2].revents != 0) && run.child.errors() >= 0) {
    const bool goes_on = read_available(run.child.errors(), most, [&](std::string_view bytes) {
      run.errors.add(bytes, take_line);
    });
    if (!goes_on) run.child.close_errors();
  }
  if (has_ended) run.errors.finish(take_line);
}

ProcessRunner::Outcome ProcessRunner::outcome_of(Run& run) {
  const auto ending = run.child.wait();
  if (!ending) return {Ended::failed("process.lost", ending.error().to_string())};
  if (run.is_to_yield && ending->signal == 0 && ending->code == kYieldExit && !run.is_too_large &&
      !is_blank(run.output)) {
    if (auto resume = value_of_json(run.output)) return {.resume = std::move(*resume)};
  }
  return {ending_of(run, *ending)};
}

Ended ProcessRunner::ending_of(Run& run, const executors::Ending& ending) {
  const std::string name(file_name(run.program));
  if (ending.signal != 0 || ending.code != 0) {
    std::string message = name + " " + ending_text(ending.code, ending.signal);
    if (!run.last_line.empty()) message += ": " + run.last_line;
    const bool is_useless = ending.signal == 0 && ending.code == kUselessExit;
    return Ended::failed(ending.signal != 0 ? "process.signal" : "process.exit", std::move(message),
                         !is_useless);
  }
  if (run.is_too_large)
    return Ended::failed("task.result_too_large",
                         name + " wrote more than " + std::to_string(kMaxProcessOutput) + " bytes",
                         false);
  if (is_blank(run.output)) return Ended::ok({0xf6});
  auto value = value_of_json(run.output);
  if (!value)
    return Ended::failed(
        "process.output",
        "standard output of " + name + " is not JSON: " + value.error().to_string(), false);
  return Ended::ok(std::move(*value));
}

}  // namespace holdfast::work
