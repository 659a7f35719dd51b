// SPDX-License-Identifier: Apache-2.0
// holdfast journal: the records of a world.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/looking.h"
#include "cli/output.h"
#include "cli/render.h"
#include "codec/json_writer.h"
#include "node/record_document.h"
#include "store/journal_files.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMostAtOnce = 1000;  // of a server
constexpr std::uint64_t kMost = 1'000'000'000'000'000'000;

struct Options {
  Where where;
  std::string world;
  std::uint64_t from = 0;
  std::uint64_t limit = 100;
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
  Printer printer(options.where.json);
  for (std::uint64_t count = 0; count < options.limit; ++count) {
    const auto record = TRY(reader->next());
    if (!record) break;
    printer.add(TRY(kernel::read_record(record->bytes)));
  }
  printer.end(reader->cursor() <= journal.last() ? reader->cursor() : 0, options.world);
  return {};
}

base::Result<void> show_from_server(const Options& options, const Where& where) {
  const auto source = TRY(server_source(where));
  const Document part = TRY(source->journal(options.from, std::min(options.limit, kMostAtOnce)));
  if (where.json) {
    print_json(part.view());
    return {};
  }
  for (const codec::View record : list_in(part.view(), "records")) print_line(record_line(record));
  const std::uint64_t next = number_in(part.view(), "next");
  if (next <= number_in(part.view(), "last"))
    print_line("There are more: --from " + std::to_string(next));
  return {};
}

ExitCode run(Options options) {
  if (options.world.empty()) {
    const auto where = settle(options.where);
    if (!where) return misused(where.error().to_string());
    if (!where->is_offline()) {
      const auto shown = show_from_server(options, *where);
      return shown ? ExitCode::kDone : refuse_or_retry(shown.error());
    }
    options.world = where->world;
  }
  const auto shown = show(options);
  return shown ? ExitCode::kDone : refuse(shown.error());
}

}  // namespace

void add_journal(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("journal", "print the records of a world");
  add_where(*command, options->where);
  command->add_option("folder", options->world, "the same as --world");
  command->add_option("--from", options->from, "the first record to print")
      ->check(CLI::Range(std::uint64_t{1}, kMost));
  command->add_option("--limit", options->limit, "print so many at most")
      ->check(CLI::Range(std::uint64_t{1}, kMost))
      ->capture_default_str();
  command->footer(
      "Changes nothing. A world that a process has open is refused.\n"
      "Example: holdfast journal ./world --from 100 --limit 10");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace holdfast::cli
