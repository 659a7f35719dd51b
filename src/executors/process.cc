// SPDX-License-Identifier: Apache-2.0
#include "executors/process.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <climits>
#include <list>
#include <optional>
#include <utility>

#include "codec/cbor_writer.h"
#include "env/system_error.h"
#include "executors/child.h"
#include "executors/mask.h"
#include "executors/params.h"
#include "executors/wake_up.h"

namespace holdfast::executors {
namespace {

constexpr std::string_view kKeyVariable = "HOLDFAST_IDEMPOTENCY_KEY";

// Of stdout, and of stderr: both have to fit into a receipt.
constexpr std::size_t kMaxOutputBytes = std::size_t{7} << 20;

// What is read of a program that has ended: no more than a pipe holds, even if somebody else still
// writes into it.
constexpr std::size_t kMaxLastBytes = std::size_t{1} << 20;

bool has_zero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// A plan, with the secrets in it.
struct Request {
  ChildPlan plan;
  std::vector<Secret> secrets;
  std::uint64_t time_limit_ns = 0;
  std::size_t output_bytes = 0;

  Request() = default;
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;
  ~Request() {
    for (std::string& variable : plan.environment) wipe(variable.data(), variable.size());
  }
};

base::Result<void> read_argv(const Params& params, ChildPlan& plan) {
  const auto argv = params.find("argv");
  if (!argv || argv->size() == 0) return base::invalid("$.argv", "at least the program is wanted");
  for (const codec::View argument : argv->elements()) {
    const auto text = argument.text();
    if (!text || has_zero(*text)) return base::invalid("$.argv", "must be texts without zeros");
    plan.argv.emplace_back(*text);
  }
  // Who defines an effect of their own may have made the params of anything.
  if (plan.argv.empty() || !plan.argv.front().starts_with('/'))
    return base::invalid("$.argv", "the program must be named by its whole path");
  return {};
}

// Only what stands in both lists: `process.variable_refused` names the first that does not.
base::Result<void> read_environment(const Params& params, const ProcessOptions& options,
                                    const SecretSource* secrets, Request& request) {
  const auto environment = params.find("env");
  if (!environment) return {};
  request.plan.environment.reserve(environment->size() + 1);  // nothing moves, and stays unwiped
  for (const auto [key, value] : environment->entries()) {
    const auto name = key.text();
    if (!name || name->empty() || has_zero(*name) || name->find('=') != std::string_view::npos ||
        *name == kKeyVariable)
      return base::invalid("$.env", "a variable cannot have this name");
    if (std::find(options.variables.begin(), options.variables.end(), *name) ==
        options.variables.end())
      return base::Error(base::ErrorCode::kConflict, "$.env",
                         "this node does not let params set " + std::string(*name) +
                             ": it is not one of its program-variables");
    const std::string_view text = TRY(revealed(value, "env", secrets, request.secrets));
    if (has_zero(text)) return base::invalid("$.env", "must be without zeros");
    std::string& variable = request.plan.environment.emplace_back();
    variable.reserve(name->size() + 1 + text.size());
    variable.append(*name).append("=").append(text);
  }
  return {};
}

base::Result<Request> read_request(const kernel::OpenIntent& intent, const ProcessOptions& options,
                                   const SecretSource* secrets) {
  const Params params(intent.params);
  Request request;
  TRY(read_argv(params, request.plan));
  TRY(read_environment(params, options, secrets, request));
  request.plan.environment.push_back(std::string(kKeyVariable) + "=" + intent.intent.to_text());
  request.plan.folder = TRY(params.optional_text("cwd")).value_or("/");
  if (has_zero(request.plan.folder)) return base::invalid("$.cwd", "must be without zeros");
  if (const auto input = params.find("stdin"))
    request.plan.input = TRY(revealed(*input, "stdin", secrets, request.secrets));
  request.time_limit_ns =
      time_limit_ns(intent, TRY(params.optional_nat("timeout_ns")), options.time_limit_ns);
  request.output_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(
      TRY(params.optional_nat("max_output_bytes")).value_or(UINT64_MAX), options.output_bytes));
  return request;
}

// What a program wrote: the beginning is kept, all of it is counted.
struct Captured {
  std::string text;
  std::uint64_t seen = 0;

  void add(std::string_view more, std::size_t keep) {
    seen += more.size();
    if (text.size() < keep) text.append(more.substr(0, keep - text.size()));
  }
  // Nothing of a secret stands at the end, because more was kept than is shown.
  void finish(const std::vector<Secret>& secrets, std::size_t limit) {
    mask(text, secrets);
    if (text.size() > limit) text.resize(limit);
  }
};

enum class Stage : std::uint8_t { kRuns, kAsked, kKilled };  // asked to end, made to end

struct Run {
  kernel::OpenIntent intent;  // whose params the program still reads
  Request request;
  Child child;
  std::uint64_t started_at_ns;  // by the wall clock
  std::uint64_t next_step_ns;   // since boot: when it is asked, or made, to end
  Captured output;
  Captured errors;
  Stage stage = Stage::kRuns;
  bool took_too_long = false;
};

class ProcessPerformer : public Performer {
 public:
  ProcessPerformer(const ProcessOptions& options, std::vector<Program> programs, env::Clock& clock,
                   const SecretSource* secrets, WakeUp wake_up)
      : options_(options),
        clock_(clock),
        secrets_(secrets),
        wake_up_(std::move(wake_up)),
        programs_(std::move(programs)) {}

  void perform(Desk& desk) override;
  void wake() noexcept override { wake_up_.call(); }
  std::string share_of(const kernel::OpenIntent& intent) const override;
  std::optional<std::uint64_t> time_limit_ns(const kernel::OpenIntent& intent) const override {
    return asked_time_limit_ns(intent);
  }
  bool ends_late() const override { return true; }

 private:
  std::uint64_t now_ns() { return static_cast<std::uint64_t>(clock_.since_boot_ns()); }
  void begin(const kernel::OpenIntent& intent, Desk& desk);
  void ask_to_end(Run& run);
  void step(Run& run);
  void wait_for_something();
  bool go_on(Run& run, Desk& desk, const pollfd* polled);
  Receipt receipt_of(Run& run, const Ending& ending);

  static constexpr std::size_t kPolledOfRun = 4;

  const ProcessOptions options_;
  env::Clock& clock_;
  const SecretSource* const secrets_;
  const WakeUp wake_up_;
  std::list<Run> runs_;
  std::vector<pid_t>
      left_over_;               // groups of which something of ours has been killed and is not gone
  std::vector<pollfd> polled_;  // the wake-up, then those of each run
  std::vector<Program> programs_;
};

// The program; empty: the params do not say.
std::string ProcessPerformer::share_of(const kernel::OpenIntent& intent) const {
  // Asked often, so only the first argument is looked at, which may be no program at all.
  const auto argv = Params(intent.params).find("argv");
  if (!argv || argv->size() == 0) return {};
  const auto program = (*argv->elements().begin()).text();
  return program && program->size() < PATH_MAX ? std::string(*program) : std::string();
}

void ProcessPerformer::perform(Desk& desk) {
  bool ends = false;
  while (true) {
    Orders orders = desk.take(ends ? 0 : options_.queue.at_once - runs_.size());
    if (orders.end && !ends) {
      ends = true;
      for (Run& run : runs_) ask_to_end(run);
    }
    if (!ends) {
      for (const kernel::OpenIntent& intent : orders.starts) begin(intent, desk);
    }
    for (const base::Hash& stopped : orders.stops) {
      for (Run& run : runs_) {
        if (run.intent.intent == stopped) ask_to_end(run);
      }
    }
    for (const base::Hash& late : orders.late) {
      for (Run& run : runs_) {
        if (run.intent.intent == late && run.stage == Stage::kRuns) step(run);
      }
    }
    if (ends && runs_.empty()) return;
    wait_for_something();
    wake_up_.listened();
    std::erase_if(left_over_, [](pid_t group) { return !reap_group(group); });
    std::size_t index = 1;
    for (auto run = runs_.begin(); run != runs_.end(); index += kPolledOfRun)
      run = go_on(*run, desk, &polled_[index]) ? std::next(run) : runs_.erase(run);
  }
}

void ProcessPerformer::begin(const kernel::OpenIntent& intent, Desk& desk) {
  auto request = read_request(intent, options_, secrets_);
  if (!request) {
    const bool is_refused = request.error().code() == base::ErrorCode::kConflict;
    return desk.done(
        intent.intent,
        failed(is_refused ? "process.variable_refused" : "process.params", request.error()));
  }
  // Letter by letter: there is no second way to say it.
  const std::string& program = request->plan.argv.front();
  const auto allowed = std::find_if(programs_.begin(), programs_.end(),
                                    [&](const Program& each) { return each.path == program; });
  if (allowed == programs_.end())
    return desk.done(intent.intent,
                     failed("process.program_refused", "this node does not run " + program));
  const auto started_at = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns()));
  request->plan.program = &*allowed;
  auto child = Child::start(request->plan);
  if (!child && child.error().code() == base::ErrorCode::kCorrupt)
    return desk.done(
        intent.intent,
        failed("process.program_changed",
               child.error().to_string() + "; start the node again to allow it", Retry::kMayHelp));
  if (!child) return desk.done(intent.intent, failed("process.not_started", child.error()));
  const std::uint64_t limit = request->time_limit_ns;
  runs_.push_back(
      {intent, std::move(*request), std::move(*child), started_at, now_ns() + limit, {}, {}});
}

void ProcessPerformer::ask_to_end(Run& run) {
  if (run.stage != Stage::kRuns) return;
  run.child.signal_group(SIGTERM);
  run.child.signal_group(SIGCONT);  // who is held cannot hear
  run.stage = Stage::kAsked;
  run.next_step_ns = now_ns() + options_.grace_ns;
}

// Its time has come.
void ProcessPerformer::step(Run& run) {
  if (run.stage == Stage::kRuns) {
    run.took_too_long = true;
    ask_to_end(run);
  } else if (run.stage == Stage::kAsked) {
    run.child.signal_group(SIGKILL);
    run.stage = Stage::kKilled;
  }
}

void ProcessPerformer::wait_for_something() {
  polled_.clear();
  polled_.push_back({wake_up_.descriptor(), POLLIN, 0});
  std::uint64_t next = UINT64_MAX;
  for (const Run& run : runs_) {
    polled_.push_back({run.child.ended(), POLLIN, 0});
    polled_.push_back({run.child.output(), POLLIN, 0});
    polled_.push_back({run.child.errors(), POLLIN, 0});
    polled_.push_back({run.child.input(), POLLOUT, 0});
    if (run.stage != Stage::kKilled) next = std::min(next, run.next_step_ns);
  }
  // What was killed goes soon, and does not say so.
  if (!left_over_.empty()) next = std::min(next, now_ns() + 10 * kMillisecond);
  int timeout_ms = -1;
  if (next != UINT64_MAX) {
    const std::uint64_t now = now_ns();
    const std::uint64_t left = next <= now ? 0 : (next - now + kMillisecond - 1) / kMillisecond;
    timeout_ms = static_cast<int>(std::min<std::uint64_t>(left, INT_MAX));
  }
  ::poll(polled_.data(), polled_.size(), timeout_ms);  // an error: we look at everything
}

// Reads what is there. False: nothing will come any more.
bool read_some(int from, Captured& into, std::size_t keep, std::size_t most) {
  std::array<char, 16384> piece;
  while (most > 0) {
    const auto got = env::again_after_signals(
        [&] { return ::read(from, piece.data(), std::min(piece.size(), most)); });
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    into.add({piece.data(), static_cast<std::size_t>(got)}, keep);
    most -= static_cast<std::size_t>(got);
  }
  return true;
}

// False: it is over.
bool ProcessPerformer::go_on(Run& run, Desk& desk, const pollfd* polled) {
  const std::size_t keep = run.request.output_bytes + longest(run.request.secrets);
  const bool has_ended = polled[0].revents != 0;
  if (has_ended) run.child.signal_group(SIGKILL);
  const std::size_t most = has_ended ? kMaxLastBytes : std::size_t{64} << 10;
  if ((has_ended || polled[1].revents != 0) && run.child.output() >= 0 &&
      !read_some(run.child.output(), run.output, keep, most))
    run.child.close_output();
  if ((has_ended || polled[2].revents != 0) && run.child.errors() >= 0 &&
      !read_some(run.child.errors(), run.errors, keep, most))
    run.child.close_errors();
  if (polled[3].revents != 0) run.child.feed();
  if (!has_ended) {
    if (run.next_step_ns <= now_ns()) step(run);
    return true;
  }
  const pid_t group = run.child.group();
  auto ending = run.child.wait();
  if (reap_group(group)) left_over_.push_back(group);
  desk.done(run.intent.intent,
            ending ? receipt_of(run, *ending) : failed("process.lost", ending.error()));
  return false;
}

Receipt ProcessPerformer::receipt_of(Run& run, const Ending& ending) {
  if (run.took_too_long)
    return timed_out("process.timeout",
                     run.request.plan.argv[0] + " had not ended after " +
                         std::to_string(run.request.time_limit_ns / kMillisecond) + " ms");
  run.output.finish(run.request.secrets, run.request.output_bytes);
  run.errors.finish(run.request.secrets, run.request.output_bytes);
  codec::Buffer out;
  codec::write_map_head(out, 7);  // sys/ProcessRunReceipt@1
  codec::write_text(out, "exit_code");
  ending.signal == 0 ? codec::write_int(out, ending.code) : codec::write_null(out);
  codec::write_text(out, "signal");
  ending.signal == 0 ? codec::write_null(out) : codec::write_int(out, ending.signal);
  codec::write_text(out, "stdout");
  codec::write_bytes(out, base::as_bytes(run.output.text));
  codec::write_text(out, "stdout_size");
  codec::write_nat(out, run.output.seen);
  codec::write_text(out, "stderr");
  codec::write_bytes(out, base::as_bytes(run.errors.text));
  codec::write_text(out, "stderr_size");
  codec::write_nat(out, run.errors.seen);
  codec::write_text(out, "timings");
  codec::write_map_head(out, 2);
  codec::write_text(out, "start_ns");
  codec::write_nat(out, run.started_at_ns);
  codec::write_text(out, "end_ns");
  codec::write_nat(out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns())));
  return succeeded(out);
}

}  // namespace

base::Result<void> check_variable(std::string_view name) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (name.empty() || has_zero(name) || name.find('=') != std::string_view::npos)
    return base::invalid("process", quoted + " is not the name of a variable");
  if (name == kKeyVariable)
    return base::invalid("process", quoted + " is set by the node, and not by params");
  const bool loads_code =
      name.starts_with("LD_") || name == "GLIBC_TUNABLES" || name == "GCONV_PATH";
  if (loads_code)
    return base::invalid("process", quoted +
                                        " makes any program load other code, so params may "
                                        "never set it");
  return {};
}

base::Result<std::unique_ptr<Executor>> process_executor(const ProcessOptions& options,
                                                         env::Clock& clock,
                                                         const SecretSource* secrets) {
  if (options.queue.at_once == 0) return base::invalid("process", "none at once is too few");
  if (options.output_bytes > kMaxOutputBytes)
    return base::invalid("process", "a receipt cannot hold so much output");
  std::vector<Program> programs;
  for (const std::string& program : options.programs)
    programs.push_back(TRY(Program::allow(program)));
  for (const std::string& variable : options.variables) TRY(check_variable(variable));
  TRY(check_child_signal());
  WakeUp wake_up = TRY(WakeUp::make());
  auto performer = std::make_unique<ProcessPerformer>(options, std::move(programs), clock, secrets,
                                                      std::move(wake_up));
  return std::unique_ptr<Executor>(
      std::make_unique<ThreadExecutor>(std::move(performer), options.queue.waiting));
}

}  // namespace holdfast::executors
