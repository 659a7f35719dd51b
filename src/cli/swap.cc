// SPDX-License-Identifier: Apache-2.0
// holdfast swap: replaces the recipe of this machine, while nobody who needs another one is there.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/guarded_program.h"
#include "cli/output.h"
#include "cli/registry_folder.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "env/descriptor.h"
#include "env/system_error.h"

namespace holdfast::cli {
namespace {

constexpr std::chrono::milliseconds kLookAtOrders(1000);
constexpr std::size_t kMaxLine = 64;

struct SwapCommandOptions {
  RegistryFolder folder;
  std::string recipe;
  std::string deadline = "60s";
  std::vector<std::string> command;
};

Result<Swap> begin(const SwapCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return registry.error();
  const auto deadline = duration_ns("--deadline", options.deadline);
  if (!deadline) return deadline.error();
  hold_signals_back();
  return (*registry)->begin_swap({.recipe = options.recipe,
                                  .deadline = std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::nanoseconds(*deadline)),
                                  .is_given_up = &is_asked_to_end});
}

ExitCode status(const SwapCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto view = (*registry)->list();
  if (!view) return refuse(view.error());
  if (options.folder.json) {
    codec::Buffer out;
    codec::write_map_head(out, 1);
    codec::write_text(out, "swap_in_progress");
    write_swap_or_null(out, view->swap);
    print_line(codec::printable_json(
        codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
  } else if (view->swap) {
    print_line("A swap to " + printable(view->swap->recipe) + " is under way, by process " +
               std::to_string(view->swap->holder_pid) + ".");
  } else {
    print_line("No swap is under way.");
  }
  return ExitCode::kDone;
}

// The swap is over also where that could not be logged: whoever runs us need not think otherwise.
ExitCode said(const Result<SwapEnd>& ended) {
  if (!ended) return refuse(ended.error());
  if (!ended->not_logged.empty())
    warn("the swap has ended, but the log does not say so: " + ended->not_logged);
  return ExitCode::kDone;
}

// Nothing was swapped, and the same may be tried again.
ExitCode give_up(Swap& swap) {
  if (const ExitCode ended = said(swap.abort("given up")); ended != ExitCode::kDone) return ended;
  return refuse(Error{ErrorCode::kUnavailable,
                      "a signal came before anything was swapped: the swap was aborted"});
}

// Finished if the program says that it did what it should, and aborted else.
ExitCode run(const SwapCommandOptions& options) {
  auto swap = begin(options);
  if (!swap) return refuse(swap.error());
  auto program = GuardedProgram::make(options.command);
  if (!program) return refuse(program.error());
  // What came before the program was made has reached nobody but us.
  if (is_asked_to_end()) return give_up(*swap);
  if (const auto gone = program->let_go(""); !gone) return refuse(gone.error());
  std::optional<int> code;
  while (!code) code = program->wait(kLookAtOrders);
  const ExitCode ended =
      said(*code == 0 ? swap->finish()
                      : swap->abort("the program exited with " + std::to_string(*code)));
  return *code == 0 ? ended : static_cast<ExitCode>(*code);
}

// The next line of standard input, or why there is none: a signal, or the end.
class Orders {
 public:
  Orders() : signals_(::signalfd(-1, &signals_held_back(), SFD_CLOEXEC)) {}

  std::string next() {
    for (;;) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (text_.size() > kMaxLine) return "a line that is too long";
      pollfd both[2] = {{.fd = 0, .events = POLLIN, .revents = 0},
                        {.fd = signals_.number(), .events = POLLIN, .revents = 0}};
      if (env::again_after_signals([&] { return ::poll(both, 2, -1); }) < 0) return "a failed poll";
      if (both[1].revents != 0) return "a signal";
      char chunk[kMaxLine];
      const ssize_t count =
          env::again_after_signals([&] { return ::read(0, chunk, sizeof chunk); });
      if (count <= 0) return "the end of standard input";
      text_.append(chunk, static_cast<std::size_t>(count));
    }
  }

 private:
  env::Descriptor signals_;
  std::string text_;
};

// For programs that swap by themselves: the swap is held as long as this command runs.
ExitCode keep(const SwapCommandOptions& options) {
  auto swap = begin(options);
  if (!swap) return refuse(swap.error());
  if (is_asked_to_end()) return give_up(*swap);
  print_line(options.folder.json ? "{\"swap_id\":\"" + swap->id() + "\"}" : swap->id());
  if (!flush_output()) return ExitCode::kRefused;
  const std::string order = Orders().next();
  if (order == "finish") return said(swap->finish());
  const std::string reason = order == "abort" ? "asked to" : order;
  const ExitCode aborted = said(swap->abort(reason));
  if (order == "abort" || aborted != ExitCode::kDone) return aborted;
  return refuse(Error{ErrorCode::kConflict, "the swap was aborted: " + printable(reason) +
                                                " came instead of finish or abort"});
}

}  // namespace

void add_swap(CLI::App& app, ExitCode& exit_code) {
  CLI::App* swap = app.add_subcommand("swap", "replace the recipe of this machine");
  swap->require_subcommand(1);
  swap->footer("Example: holdfast swap status");
  auto options = std::make_shared<SwapCommandOptions>();
  const auto command = [&](const char* name, const char* what,
                           ExitCode (*does)(const SwapCommandOptions&)) {
    CLI::App* added = swap->add_subcommand(name, what);
    added->callback([options, does, &exit_code] { exit_code = does(*options); });
    return added;
  };
  const auto to_recipe = [&](CLI::App* added) {
    added->add_option("--recipe", options->recipe, "the new recipe")->required();
    added->add_option("--deadline", options->deadline, "how long to wait for workflows to yield")
        ->capture_default_str();
    return added;
  };

  CLI::App* shown = command("status", "print the swap in progress", &status);
  add_dir_and_json(*shown, options->folder);
  shown->footer("Example: holdfast swap status");

  CLI::App* around = to_recipe(command("run", "run the program that swaps", &run));
  add_dir(*around, options->folder);
  around->add_option("command", options->command, "the program and its arguments, after --")
      ->required();
  around->footer(
      "Exit code: the program's; 75: another swap is under way, a workflow did not yield in time, "
      "or "
      "a\nsignal came before the program ran;\n1: workflows that are not preemptible need another "
      "recipe, or it was refused "
      "otherwise.\n"
      "Example: holdfast swap run --recipe qwen-32b --deadline 2m -- ./load-model qwen-32b");

  CLI::App* held = to_recipe(command(
      "begin", "hold a swap until standard input says finish or abort; prints its id", &keep));
  add_dir_and_json(*held, options->folder);
  held->footer(
      "Anything else, the end of standard input or a signal aborts it, with exit code 1; exit "
      "codes before that are those of `swap run`.\n"
      "Example: holdfast swap begin --recipe qwen-32b --deadline 2m");
}

}  // namespace holdfast::cli
