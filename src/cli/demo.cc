// SPDX-License-Identifier: Apache-2.0
// holdfast demo: the workflows of this program, killed in the middle and finished after a restart.
// It ends by itself.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/world_source.h"
#include "errors/translate.h"
#include "holdfast/main.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// How long an effect takes here, so that there is a middle to be killed in.
constexpr auto kEffectTakes = 600ms;
constexpr std::size_t kKilledAfterLines = 5;
constexpr auto kLongest = 60s;

void say(const std::string& line) {
  const std::string shown = line + "\n";
  // At once, and whole: this process may be killed, and has threads.
  static_cast<void>(::write(STDOUT_FILENO, shown.data(), shown.size()) < 0);
}

// Slow, and says what it does.
Handler slowed(Handler handler) {
  handler.run = [run = std::move(handler.run), effect = handler.effect](
                    Reader params, const Call& call, Writer& receipt) {
    say("  performing " + effect + " for " + call.key.substr(0, 19));
    for (auto left = kEffectTakes; left > 0ms && !call.stopped(); left -= 10ms)
      std::this_thread::sleep_for(10ms);
    return run(params, call, receipt);
  };
  return handler;
}

std::uint64_t open_effects(Engine& engine) {
  std::promise<std::uint64_t> open;
  engine.measure(
      [&](Result<Measures> measures) { open.set_value(measures ? measures->open_effects : 0); });
  return open.get_future().get();
}

// One life of the program: opens the world, does what there is to do, and ends when all has ended.
base::Result<void> live(const std::string& world, const Program& program) {
  EngineOptions options;
  options.dir = world;
  options.modules = program.modules;
  for (const Handler& handler : program.handlers) options.handlers.push_back(slowed(handler));
  options.any_file_system = true;
  options.log = [](std::string_view line) { say("  " + printable(line)); };
  auto engine = Engine::open(std::move(options));
  if (!engine) return errors::inside(engine.error());
  const auto played = program.play(**engine);
  if (!played) return errors::inside(played.error());
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (open_effects(**engine) != 0) {
    if (std::chrono::steady_clock::now() > end)
      return base::Error(base::ErrorCode::kUnavailable, "not everything has ended in time");
    std::this_thread::sleep_for(20ms);
  }
  const auto closed = (*engine)->close();
  if (!closed) return errors::inside(closed.error());
  return {};
}

// Runs a life in a process of its own. Killed after so many lines; 0: not at all. What it says goes
// to our standard output.
base::Result<void> run_life(const std::string& world, std::size_t killed_after) {
  int ends[2];
  if (::pipe(ends) != 0) return base::Error(base::ErrorCode::kIo, "no pipe");
  if (!flush_output()) return base::Error(base::ErrorCode::kIo, "nobody reads the output");
  const pid_t child = ::fork();
  if (child < 0) return base::Error(base::ErrorCode::kIo, "no process");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/proc/self/exe", "holdfast", "demo", "--life", world.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  FILE* const lines = ::fdopen(ends[0], "r");
  char line[4096];
  std::size_t performed = 0;
  bool is_killed = false;
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    if (is_killed) continue;  // what it had said already
    print(line);
    if (std::string_view(line).starts_with("  performing") && ++performed == killed_after) {
      ::kill(child, SIGKILL);
      is_killed = true;
    }
  }
  std::fclose(lines);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (is_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
  return base::Error(base::ErrorCode::kIo, "the process of the demo has failed");
}

base::Result<void> show_outcome(const std::string& world, const Program& program) {
  const auto source = TRY(offline_source(world, program.modules));
  print_line("\n$ holdfast ls --world WORLD");
  const Document list = TRY(source->instances({}));
  print_instances(list.view());
  std::vector<std::string> names;
  for (const codec::View row : list_in(list.view(), "instances"))
    names.push_back(id_in(row).text());
  if (names.empty()) return base::Error(base::ErrorCode::kNotFound, "nothing was begun");
  const std::string first = *std::ranges::min_element(names);
  print_line("\n$ holdfast timeline --world WORLD " + printable(first));
  const InstanceId id = TRY(resolve(*source, first));
  const Document timeline = TRY(source->timeline(id, 0, 100));
  std::vector<codec::View> records = list_in(timeline.view(), "records");
  std::ranges::reverse(records);
  print_records(records);
  return {};
}

base::Result<void> play(const std::string& world, const Program& program) {
  if (!program.play)
    return base::Error(base::ErrorCode::kNotFound, "this program has nothing to play");
  print_line("A process opens a world and begins some work. Its effects take a while.\n");
  TRY(run_life(world, kKilledAfterLines));
  print_line(
      "\nIt was killed with -9, in the middle. Another process opens the world again: what\n"
      "was open is performed again under the same identity, and nothing else is.\n");
  TRY(run_life(world, 0));
  print_line("\nEverything has ended. What is in the world:");
  return show_outcome(world, program);
}

base::Result<void> play_in_a_folder(const Program& program) {
  std::string folder = (std::filesystem::temp_directory_path() / "holdfast-demo-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return base::Error(base::ErrorCode::kIo, folder, "no folder can be made there");
  auto played = play(folder + "/world", program);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return played;
}

}  // namespace

void add_demo(CLI::App& app, ExitCode& exit_code, const Program& program) {
  auto world = std::make_shared<std::string>();
  auto life = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "demo", "show orders that are killed with -9 and continue after a restart; ends by itself");
  command->add_option("world", *world,
                      "the folder of the world, which is kept; it must not be there. Otherwise one "
                      "that is removed in the end");
  command->add_option("--life", *life, "one life of the process that is killed")->group("");
  command->footer("Example: holdfast demo");
  command->callback([world, life, &exit_code, &program] {
    base::Result<void> done;
    if (!life->empty()) {
      done = live(*life, program);
    } else if (world->empty()) {
      done = play_in_a_folder(program);
    } else if (std::filesystem::exists(*world)) {
      done = base::Error(base::ErrorCode::kConflict, *world, "is there already");
    } else {
      done = play(*world, program);
    }
    exit_code = done ? ExitCode::kDone : refuse(done.error());
  });
}

}  // namespace holdfast::cli
