// SPDX-License-Identifier: Apache-2.0
#include "worker/function_runner.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/hex.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "env/clock.h"
#include "env/random.h"
#include "worker/bootstrap.h"
#include "worker/child_output.h"
#include "worker/child_setup.h"
#include "worker/json_pen.h"

namespace holdfast::work {
namespace {

constexpr std::size_t kMostFunctions = 200;

// A type of ours is never the name of a function.
bool is_reserved_type(std::string_view name) {
  return name == "echo" || name == "process" || name == "http" || name == "python" ||
         name == "node";
}

bool can_be_type(std::string_view name) {
  return !name.empty() && name.size() <= 128 && !is_reserved_type(name) &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

// Nothing that a task prints by chance, and hard to guess.
std::string make_marker() {
  base::Bytes bytes(12);
  env::posix_random()->fill(bytes);
  return "\x1eholdfast-" + base::to_hex(bytes) + " ";
}

std::string_view reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kCancelled: return "cancelled";
    case StopReason::kTimeout: return "timeout";
    case StopReason::kPreempt: return "preempt";
    case StopReason::kDrain: return "drain";
  }
  return "";
}

std::string text_of(codec::View map, std::string_view name) {
  const auto found = map.find(name);
  return std::string(found && found->text() ? *found->text() : "");
}

}  // namespace

FunctionLanguage python_functions() {
  return {"python", "python3", {"-u", "-c"}, kPythonBootstrap};
}
FunctionLanguage node_functions() {
  return {"node", "node", {"--input-type=module", "-e"}, kNodeBootstrap};
}

FunctionRunner::FunctionRunner(const FunctionLanguage& language, executors::Program program,
                               std::string file, std::size_t most_idle)
    : language_(language),
      program_(std::move(program)),
      file_(std::move(file)),
      most_idle_(most_idle),
      marker_(make_marker()),
      types_{std::string(language.type)} {}

base::Result<std::unique_ptr<FunctionRunner>> FunctionRunner::load(
    const FunctionLanguage& language, const std::string& file, std::size_t most_idle,
    std::chrono::milliseconds patience) {
  TRY(executors::check_child_signal());
  std::error_code problem;
  const std::filesystem::path whole = std::filesystem::absolute(file, problem);
  if (problem || !std::filesystem::is_regular_file(whole, problem))
    return base::Error(base::ErrorCode::kNotFound, file, "there is no such file");
  executors::Program program = TRY(find_program(language.program));
  std::unique_ptr<FunctionRunner> runner(
      new FunctionRunner(language, std::move(program), whole.string(), most_idle));
  const auto first = TRY(runner->launch({}));
  TRY(runner->wait_until_ready(*first, patience));
  std::size_t functions = 0;
  for (const std::string& name : first->functions) {
    if (!can_be_type(name)) continue;
    if (++functions > kMostFunctions)
      return base::invalid(file, "has more than " + std::to_string(kMostFunctions) + " functions");
    runner->types_.push_back(name);
  }
  if (first->functions.empty()) return base::invalid(file, "has no functions that tasks could run");
  return runner;
}

base::Result<FunctionRunner::Hosts::iterator> FunctionRunner::launch(
    const std::vector<std::uint64_t>& devices) {
  executors::ChildPlan plan;
  plan.program = &program_;
  plan.scripts_by_path = true;
  plan.argv.push_back(program_.path);
  for (const std::string_view option : language_.options) plan.argv.emplace_back(option);
  plan.argv.emplace_back(language_.script);
  if (language_.type == "node") plan.argv.emplace_back("--");
  plan.argv.push_back(marker_);
  plan.argv.push_back(file_);
  plan.environment = child_environment();
  add_devices(plan.environment, devices);
  plan.folder = present_folder();
  plan.keeps_input = true;
  auto child = executors::Child::start(plan);
  if (!child) return std::move(child).error();
  return hosts_.insert(hosts_.end(), Host{std::move(*child), devices});
}

// Only at the start of the worker, which has nothing else to do then.
base::Result<void> FunctionRunner::wait_until_ready(Host& host,
                                                    std::chrono::milliseconds patience) {
  const auto clock = env::posix_clock();
  const std::int64_t ends = clock->since_boot_ns() + std::chrono::nanoseconds(patience).count();
  while (!host.is_ready) {
    std::vector<pollfd> polled;
    add_polled(polled);
    const std::int64_t left = (ends - clock->since_boot_ns()) / 1'000'000;
    if (left <= 0)
      return base::Error(base::ErrorCode::kUnavailable, file_,
                         std::string(language_.type) + " has not loaded it in time");
    ::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, 1000)));
    const bool has_ended = polled[0].revents != 0;
    read(host, polled.data(), has_ended, nullptr);
    if (!host.broken.empty()) return base::invalid(file_, host.broken);
    if (has_ended && !host.is_ready) return base::invalid(file_, death_of(host));
  }
  return {};
}

FunctionRunner::Hosts::iterator FunctionRunner::idle_host(
    const std::vector<std::uint64_t>& devices) {
  return std::ranges::find_if(hosts_, [&](const Host& host) {
    return host.dispatch.empty() && host.broken.empty() && host.devices == devices;
  });
}

FunctionRunner::Host* FunctionRunner::host_of(const std::string& dispatch) {
  const auto found = std::ranges::find(hosts_, dispatch, &Host::dispatch);
  return found == hosts_.end() ? nullptr : &*found;
}

std::string FunctionRunner::work_message(const Task& task) const {
  JsonPen pen;
  pen.open('{').key("work").open('{');
  pen.key("d").text(task.dispatch).key("key").text(task.key).key("name").text(task.name);
  pen.key("graph").text(task.graph).key("attempt").nat(task.attempt);
  pen.key("devices").open('[');
  for (const std::uint64_t device : task.devices) pen.nat(device);
  pen.close(']').key("function");
  const codec::View input = codec::View::of(task.input);
  const auto named =
      input.kind() == codec::ViewKind::kMap ? input.find("function") : std::optional<codec::View>();
  if (task.type != language_.type) {
    pen.text(task.type);
  } else if (named && named->text()) {
    pen.text(*named->text());
  } else {
    pen.json("null");
  }
  if (!task.resume.empty()) pen.key("resume").value(task.resume);
  pen.key("input").value(task.input).close('}').close('}');
  return pen.take() + "\n";
}

void FunctionRunner::start(const Task& task, TaskReports& reports) {
  auto host = idle_host(task.devices);
  if (host == hosts_.end()) {
    remove_idle();
    auto launched = launch(task.devices);
    if (!launched)
      return reports.ended(task.dispatch,
                           Ended::failed(std::string(language_.type) + ".not_started",
                                         launched.error().to_string()));
    host = *launched;
  }
  host->dispatch = task.dispatch;
  host->last_line.clear();
  host->unwritten += work_message(task);
  write(*host);
}

// So that devices which change do not leave more and more children.
void FunctionRunner::remove_idle() {
  while (hosts_.size() >= most_idle_) {
    const auto idle =
        std::ranges::find_if(hosts_, [](const Host& host) { return host.dispatch.empty(); });
    if (idle == hosts_.end()) return;
    hosts_.erase(idle);
  }
}

void FunctionRunner::write(Host& host) {
  while (!host.unwritten.empty()) {
    const auto written = host.child.write(host.unwritten);
    if (!written) host.unwritten.clear();  // it has ended, or will: that is told by another way
    if (!written || *written == 0) return;
    host.unwritten.erase(0, *written);
  }
}

void FunctionRunner::stop(const std::string& dispatch, StopReason reason, Urgency urgency) {
  Host* const host = host_of(dispatch);
  if (host == nullptr) return;
  if (urgency == Urgency::kSoft) {
    JsonPen pen;
    pen.open('{')
        .key("stop")
        .open('{')
        .key("reason")
        .text(reason_name(reason))
        .close('}')
        .close('}');
    host->unwritten += pen.take() + "\n";
    return write(*host);
  }
  host->child.signal_group(urgency == Urgency::kKill ? SIGKILL : SIGTERM);
  host->child.signal_group(SIGCONT);
}

void FunctionRunner::abandon(const std::string& dispatch) {
  hosts_.remove_if([&](const Host& host) { return host.dispatch == dispatch; });
}

void FunctionRunner::add_polled(std::vector<pollfd>& polled) {
  for (const Host& host : hosts_) {
    polled.push_back({host.child.ended(), POLLIN, 0});
    polled.push_back({host.child.output(), POLLIN, 0});
    polled.push_back({host.child.errors(), POLLIN, 0});
    polled.push_back({host.unwritten.empty() ? -1 : host.child.input(), POLLOUT, 0});
  }
}

void FunctionRunner::go_on(const pollfd* polled, TaskReports& reports) {
  for (auto host = hosts_.begin(); host != hosts_.end(); polled += kPolledOfHost) {
    const bool has_ended = polled[0].revents != 0;
    if (has_ended) host->child.signal_group(SIGKILL);
    read(*host, polled, has_ended, &reports);
    if (polled[3].revents != 0) write(*host);
    if (!has_ended) {
      ++host;
      continue;
    }
    const std::string dispatch = host->dispatch;
    const std::string why = death_of(*host);
    host = hosts_.erase(host);
    if (!dispatch.empty())
      reports.ended(dispatch, Ended::failed(std::string(language_.type) + ".died", why));
  }
}

void FunctionRunner::read(Host& host, const pollfd* polled, bool has_ended, TaskReports* reports) {
  const std::size_t most = has_ended ? kReadOfEnded : kReadOfTurn;
  const auto take_error = [&](std::string_view line) { take_error_line(host, line, reports); };
  const auto read_errors = [&] {
    if (host.child.errors() < 0) return;
    const bool goes_on = read_available(host.child.errors(), most, [&](std::string_view bytes) {
      host.errors.add(bytes, take_error);
    });
    if (!goes_on) host.child.close_errors();
  };
  // Before the output: what a task has written belongs to it, and its answer is in the output.
  if (has_ended || polled[1].revents != 0 || polled[2].revents != 0) read_errors();
  const auto take_line = [&](std::string_view line) {
    if (line.find(marker_) != std::string_view::npos) {
      read_errors();
      if (line.find("\"progress\"") == std::string_view::npos) host.errors.finish(take_error);
    }
    take_output(host, line, reports);
  };
  if ((has_ended || polled[1].revents != 0) && host.child.output() >= 0) {
    const bool goes_on = read_available(host.child.output(), most, [&](std::string_view bytes) {
      host.output.add(bytes, take_line);
    });
    if (!goes_on) host.child.close_output();
  }
  if (has_ended) {
    host.output.finish(take_line);
    host.errors.finish(take_error);
  }
}

void FunctionRunner::take_error_line(Host& host, std::string_view line, TaskReports* reports) {
  if (line.find_first_not_of(" \t") != std::string_view::npos)
    host.last_line = plain_text(line, 1024);
  if (reports != nullptr && !host.dispatch.empty()) reports->line(host.dispatch, true, line);
}

void FunctionRunner::take_output(Host& host, std::string_view line, TaskReports* reports) {
  const std::size_t at = line.find(marker_);
  const std::string_view printed = line.substr(0, at);
  if (reports != nullptr && !host.dispatch.empty() && (at == std::string_view::npos || at > 0))
    reports->line(host.dispatch, false, printed);
  if (at != std::string_view::npos) take_message(host, line.substr(at + marker_.size()), reports);
}

void FunctionRunner::take_message(Host& host, std::string_view json, TaskReports* reports) {
  const std::string type(language_.type);
  const auto give = [&](Ended ended) {
    const std::string dispatch = std::exchange(host.dispatch, {});
    if (reports != nullptr && !dispatch.empty()) reports->ended(dispatch, std::move(ended));
  };
  codec::Normaliser normaliser;
  static const codec::Schema any = codec::Schema::any();
  const auto read = normaliser.from_json(any, json);
  if (!read)
    return give(Ended::failed(type + ".result",
                              "the result is not a value: " + read.error().to_string(), false));
  const codec::View message = codec::View::of(*read);
  if (message.kind() != codec::ViewKind::kMap) return;
  if (const auto ready = message.find("ready")) {
    for (const codec::View name : ready->elements())
      if (name.text()) host.functions.emplace_back(*name.text());
    host.is_ready = true;
    return;
  }
  if (const auto broken = message.find("broken")) {
    host.broken = "cannot be loaded: " + text_of(message, "broken");
    return give(Ended::failed(type + ".file", file_ + " " + host.broken));
  }
  if (host.dispatch.empty() || text_of(message, "d") != host.dispatch) return;
  if (const auto progress = message.find("progress")) {
    if (reports != nullptr) reports->progress(host.dispatch, codec::to_json(*progress));
    return;
  }
  if (const auto error = message.find("error")) {
    const auto retryable = error->find("retryable");
    return give(Ended::failed(text_of(*error, "code"), text_of(*error, "message"),
                              !retryable || retryable->boolean().value_or(true)));
  }
  const auto value = [&](std::string_view name) -> std::optional<base::Bytes> {
    const auto found = message.find(name);
    if (!found) return std::nullopt;
    return base::Bytes(found->encoded().begin(), found->encoded().end());
  };
  if (auto result = value("ok")) return give(Ended::ok(std::move(*result)));
  if (auto resume = value("yield")) {
    const std::string dispatch = std::exchange(host.dispatch, {});
    if (reports != nullptr) reports->yielded(dispatch, std::move(*resume));
  }
}

std::string FunctionRunner::death_of(Host& host) {
  const auto ending = host.child.wait();
  std::string text = std::string(language_.type) + " ";
  text += ending ? ending_text(ending->code, ending->signal) : ending.error().to_string();
  if (!host.last_line.empty()) text += ": " + host.last_line;
  return text;
}

}  // namespace holdfast::work
