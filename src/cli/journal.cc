// SPDX-License-Identifier: Apache-2.0
// holdfast journal: the records of a world.
#include <time.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/output.h"
#include "codec/json_writer.h"
#include "node/record_document.h"
#include "store/journal_files.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMost = 1'000'000'000'000'000'000;

struct Options {
  std::string world;
  std::uint64_t from = 0;
  std::uint64_t limit = 100;
  bool json = false;
};

std::string time_text(std::uint64_t time_ns) {
  const auto seconds = static_cast<time_t>(time_ns / 1'000'000'000);
  tm parts{};
  char text[64];
  if (::gmtime_r(&seconds, &parts) == nullptr ||
      ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
    return std::to_string(time_ns) + " ns";
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%03uZ",
                static_cast<unsigned>(time_ns / 1'000'000 % 1000));
  return std::string(text) + fraction;
}

// One record after the other, so that a long list needs no more memory than a short one.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {
    if (json_) print("{\"records\":[");
  }

  void add(const kernel::RecordView& record) {
    if (json_) {
      codec::Buffer out;
      node::write_document(out, record);
      print(std::exchange(separator_, ",\n"));
      return print(codec::to_json(codec::View::of(out.view())));
    }
    std::string line = std::to_string(record.number) + "  " + time_text(record.tick.time_ns) +
                       "  " + printable(node::summary_of(record.tick));
    const char* between = "  ";
    for (const kernel::InstanceView& instance : record.instances)
      line += std::exchange(between, "; ") + printable(node::summary_of(instance));
    print_line(line);
  }

  // 0: there are no more.
  void end(store::RecordNumber next, const std::string& world) {
    if (json_) {
      print_line("\n],\"next\":" + (next == 0 ? "null" : std::to_string(next)) + "}");
    } else if (next != 0) {
      print_line("There are more: holdfast journal " + printable(world) + " --from " +
                 std::to_string(next));
    }
  }

 private:
  bool json_;
  const char* separator_ = "\n";
};

base::Result<void> show(const Options& options) {
  const auto world = TRY(ExistingWorld::open(options.world));
  const store::JournalFiles journal = TRY(store::JournalFiles::open(world->folder()));
  const auto reader = TRY(journal.read(options.from == 0 ? journal.first() : options.from));
  Printer printer(options.json);
  for (std::uint64_t count = 0; count < options.limit; ++count) {
    const auto record = TRY(reader->next());
    if (!record) break;
    printer.add(TRY(kernel::read_record(record->bytes)));
  }
  printer.end(reader->cursor() <= journal.last() ? reader->cursor() : 0, options.world);
  return {};
}

}  // namespace

void add_journal(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("journal", "print the records of a world");
  command->add_option("world", options->world, "the folder of the world")->required();
  command->add_option("--from", options->from, "the first record to print")
      ->check(CLI::Range(std::uint64_t{1}, kMost));
  command->add_option("--limit", options->limit, "print so many at most")
      ->check(CLI::Range(std::uint64_t{1}, kMost))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON: everything that the records hold");
  command->footer(
      "Changes nothing. A world that a process has open is refused.\n"
      "Example: holdfast journal ./world --from 100 --limit 10");
  command->callback([options, &exit_code] {
    const auto shown = show(*options);
    exit_code = shown ? ExitCode::kDone : refuse(shown.error());
  });
}

}  // namespace holdfast::cli
