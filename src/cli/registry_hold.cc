// SPDX-License-Identifier: Apache-2.0
// The lease belongs to the program itself: its end ends the lease, whatever becomes of this
// command. If this command is killed, the program is told to end: nobody renews its lease.
#include "cli/registry_hold.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/guarded_program.h"
#include "cli/output.h"
#include "cli/registry_folder.h"
#include "env/clock.h"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAtLease(200);  // for a request, and for a lease that is due
constexpr std::int64_t kTryAgainSoonNs = 1'000'000'000;

struct RegistryHoldOptions {
  RegistryFolder folder;
  std::string name;
  std::string recipe;
  std::string ttl = "60s";
  bool preemptible = false;
  int signal = 0;  // 0: SIGUSR1, if it is caught
  std::vector<std::string> command;
};

const std::map<std::string, int> kSignals = {{"HUP", SIGHUP},   {"INT", SIGINT},
                                             {"QUIT", SIGQUIT}, {"TERM", SIGTERM},
                                             {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};

class Holder {
 public:
  Holder(Registry& registry, GuardedProgram program, LeaseOptions options, int signal)
      : registry_(registry),
        program_(std::move(program)),
        options_(std::move(options)),
        signal_(signal) {}

  Result<int> run() {
    const std::int64_t asked_ns = clock_->since_boot_ns();
    auto lease = registry_.take_lease(options_);
    if (!lease) return lease.error();
    lease_.emplace(std::move(*lease));
    // The same file, should the lease have to be taken again.
    options_.signal_path = lease_->signal_path();
    plan_renewal(asked_ns);
    // What came before the program was made has reached nobody but us.
    if (is_asked_to_end()) return give_up();
    const auto gone = program_.let_go(
        options_.preemptible ? "HOLDFAST_PREEMPT_PATH=" + lease_->signal_path() : "");
    if (!gone) return Error{ErrorCode::kIo, gone.error().to_string()};
    for (;;) {
      if (const auto code = program_.wait(kLookAtLease)) return end(*code);
      if (!is_taken_away_ && clock_->since_boot_ns() >= due_ns_) renew();
      is_taken_away_ ? tell_program() : pass_request_on();
    }
  }

 private:
  std::int64_t ttl_ns() const { return std::chrono::nanoseconds(options_.ttl).count(); }

  // By the clock that leases end by: it goes on while the machine sleeps.
  void plan_renewal(std::int64_t asked_ns) {
    renewed_ns_ = asked_ns;
    due_ns_ = clock_->since_boot_ns() + ttl_ns() / 3;
    has_lost_ = false;
    complaint_.clear();
  }

  void renew() {
    const std::int64_t asked_ns = clock_->since_boot_ns();
    auto renewed = lease_->renew();
    if (renewed) return plan_renewal(asked_ns);
    // One that has ended renews nothing, and is waited for next.
    if (program_.has_ended()) return;
    due_ns_ = clock_->since_boot_ns() + kTryAgainSoonNs;
    if (renewed.error().code != ErrorCode::kNotFound &&
        renewed.error().code != ErrorCode::kConflict)
      return complain(renewed.error());
    // It has not come too late, so nobody has swept it: somebody has decided that it must go.
    if (clock_->since_boot_ns() - renewed_ns_ <= ttl_ns()) return give_in(renewed.error());
    // The machine slept, or was very busy. A swap may have begun since.
    auto lease = registry_.take_lease(options_);
    if (!lease) {
      complain(lease.error());
      has_lost_ = true;
      return tell_program();
    }
    lease_.emplace(std::move(*lease));
    plan_renewal(asked_ns);
  }

  // To take it again would undo what was decided. The program is asked to yield, and not made to.
  void give_in(const Error& error) {
    is_taken_away_ = true;
    warn(error.message + "; the lease was taken away, and is not taken again: " +
         (options_.preemptible ? "the program is asked to yield" : "the program goes on without"));
    tell_program();
  }

  Error give_up() {
    const auto released = lease_->release();
    if (!released) return released.error();
    return {ErrorCode::kUnavailable,
            options_.name + ": a signal came before the program ran: the lease was released"};
  }

  void pass_request_on() {
    const auto requested = lease_->is_preempt_requested();
    if (!requested) return complain(requested.error());
    if (*requested) tell_program();
    if (!*requested && !has_lost_) told_ = false;
  }

  void tell_program() {
    if (!options_.preemptible || told_) return;
    // By itself it would end the program, which may look at the file instead; or catch it later.
    told_ = signal_ != 0 || program_.catches(SIGUSR1);
    if (told_) program_.send(signal_ != 0 ? signal_ : SIGUSR1);
  }

  int end(int code) {
    if (is_taken_away_) return code;
    const auto released = lease_->release();
    // Its owner has ended, so it is over anyhow.
    if (!released) complain(released.error());
    return code;
  }

  // Once, and not as often as it is tried.
  void complain(const Error& error) {
    if (std::exchange(complaint_, error.message) != error.message) static_cast<void>(refuse(error));
  }

  Registry& registry_;
  GuardedProgram program_;
  LeaseOptions options_;
  int signal_;
  std::optional<Lease> lease_;
  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  std::int64_t renewed_ns_ = 0;  // no later than it was, by the clock of the lease
  std::int64_t due_ns_ = 0;
  bool told_ = false;           // what it was asked last
  bool has_lost_ = false;       // the lease, and cannot have it back yet
  bool is_taken_away_ = false;  // by somebody who has decided that
  std::string complaint_;       // the last one
};

ExitCode hold(const RegistryHoldOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto ttl = whole_seconds("--ttl", options.ttl);
  if (!ttl) return refuse(ttl.error());
  auto program = GuardedProgram::make(options.command);
  if (!program) return refuse(program.error());
  const pid_t id = program->id();
  const std::string name =
      options.name.empty() ? options.command.front() + "-" + std::to_string(id) : options.name;
  Holder holder(**registry, std::move(*program),
                {.name = name,
                 .recipe = options.recipe,
                 .ttl = *ttl,
                 .preemptible = options.preemptible,
                 .pid = id},
                options.signal);
  const auto code = holder.run();
  return code ? static_cast<ExitCode>(*code) : refuse(code.error());
}

}  // namespace

void add_registry_hold(CLI::App& registry, ExitCode& exit_code) {
  auto options = std::make_shared<RegistryHoldOptions>();
  CLI::App* command = registry.add_subcommand("hold", "run a program and hold a lease for it");
  command->add_option("--recipe", options->recipe, "the recipe that it needs")->required();
  command->add_option("--name", options->name, "of the workflow; the program and its number else");
  command->add_option("--ttl", options->ttl, "how long it lives without being renewed")
      ->capture_default_str();
  CLI::Option* const preemptible =
      command->add_flag("--preemptible", options->preemptible, "a swap may ask it to yield");
  command
      ->add_option("--signal", options->signal,
                   "what to send it then; USR1 else, if the program catches that")
      ->transform(CLI::Transformer(kSignals))
      ->needs(preemptible);
  command->add_option("command", options->command, "the program and its arguments, after --")
      ->required();
  add_dir(*command, options->folder);
  command->footer(
      "HOLDFAST_PREEMPT_PATH in the program's environment is the file that is there when it is to "
      "yield.\nExit code: the program's; 75: a swap to another recipe is under way, or a signal "
      "came before the program ran; 1: refused.\n"
      "Example: holdfast registry hold --recipe llama-70b --preemptible -- python3 train.py");
  command->callback([options, &exit_code] { exit_code = hold(*options); });
}

}  // namespace holdfast::cli
