// SPDX-License-Identifier: Apache-2.0
// holdfast journal: the records of a world.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/looking.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "node/record_document.h"
#include "store/journal_files.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMostAtOnce = 1000;  // of a server

struct JournalOptions {
  Where where;
  std::uint64_t from = 0;
  std::uint64_t to = kMostRecordNumber;
  std::uint64_t limit = 100;
  std::string kind;  // of ticks; empty: all

  bool wants(std::string_view this_kind) const { return kind.empty() || kind == this_kind; }
};

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (auto kind = kernel::TickKind::kEvent; kind <= kernel::kLastTickKind;
       kind = static_cast<kernel::TickKind>(static_cast<int>(kind) + 1))
    names.emplace_back(kernel::name_of(kind));
  return names;
}

// One record after the other, so that a long list needs no more memory than a short one. Nothing is
// printed before the first one is there: a server that does not answer leaves no half of a
// document.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  void add(codec::View document) {
    if (!json_) return print_line(record_line(document));
    print(std::exchange(before_next_, ",\n"));
    print(codec::printable_json(codec::to_json(document)));
  }

  void add(const kernel::RecordView& record) {
    codec::Buffer out;
    node::write_document(out, record);
    add(codec::View::of(out.view()));
  }

  // 0: there are no more.
  void end(store::RecordNumber next, const std::string& world) {
    if (json_) {
      if (before_next_ == kHead) print(kHead);
      print_line("\n],\"next\":" + (next == 0 ? "null" : std::to_string(next)) + "}");
    } else if (next != 0) {
      print_line(
          "There are more: " + (world.empty() ? "" : "holdfast journal " + printable(world)) +
          " --from " + std::to_string(next));
    }
  }

 private:
  static constexpr std::string_view kHead = "{\"records\":[\n";
  bool json_;
  std::string_view before_next_ = kHead;
};

base::Result<void> show(const JournalOptions& options, const Where& where) {
  const auto world = TRY(ExistingWorld::open(where.world));
  const store::JournalFiles journal = TRY(store::JournalFiles::open(world->folder()));
  // The one behind the last is where a part goes on that has not come yet; as a server says it.
  if (options.from > journal.last() + 1) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the last record is " + std::to_string(journal.last()));
  }
  const auto reader = TRY(journal.read(options.from == 0 ? journal.first() : options.from));
  const store::RecordNumber last = std::min(journal.last(), options.to);
  Printer printer(where.json);
  // What is printed on a terminal shows by itself how far it has come.
  std::optional<Progress> progress;
  if (::isatty(STDOUT_FILENO) == 0) progress.emplace("reading", last);
  for (std::uint64_t count = 0;
       count < options.limit && reader->cursor() <= last && output_is_wanted();) {
    const auto record = TRY(reader->next());
    if (!record) break;
    if (progress) progress->at(record->number);
    const kernel::RecordView view = TRY(kernel::read_record(record->bytes));
    if (!options.wants(kernel::name_of(view.kind()))) continue;
    printer.add(view);
    ++count;
  }
  printer.end(reader->cursor() <= last ? reader->cursor() : 0, where.world);
  return {};
}

// A part after the other, each as large as a server gives it.
base::Result<void> show_from_server(const JournalOptions& options, const Where& where) {
  const auto source = TRY(server_source(where));
  Printer printer(where.json);
  std::optional<Progress> progress;
  if (::isatty(STDOUT_FILENO) == 0) progress.emplace("reading, record", 0);
  std::uint64_t next = options.from;
  std::uint64_t last = options.to;
  for (std::uint64_t count = 0; count < options.limit && next <= last && output_is_wanted();) {
    const std::uint64_t wanted =
        options.kind.empty() ? std::min(options.limit - count, kMostAtOnce) : kMostAtOnce;
    const Document part = TRY(source->journal(next, wanted));
    last = std::min(options.to, number_in(part.view(), "last"));
    const std::vector<codec::View> records = list_in(part.view(), "records");
    if (records.empty()) break;
    for (const codec::View record : records) {
      const std::uint64_t number = number_in(record, "record");
      if (number > last || count == options.limit) break;
      next = number + 1;
      if (progress) progress->at(number);
      const auto tick = record.find("tick");
      if (!options.wants(tick ? text_in(*tick, "kind") : "")) continue;
      printer.add(record);
      ++count;
    }
    if (next == 0) break;
  }
  printer.end(next <= last ? next : 0, "");
  return {};
}

ExitCode run(const JournalOptions& options) {
  if (options.from > options.to) {
    return misused("--from " + std::to_string(options.from) + " is behind --to " +
                   std::to_string(options.to));
  }
  const auto where = settle(options.where);
  if (!where) return misused(where.error().to_string());
  const auto shown =
      where->is_offline() ? show(options, *where) : show_from_server(options, *where);
  return shown ? ExitCode::kDone : refuse_or_retry(shown.error());
}

}  // namespace

void add_journal(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<JournalOptions>();
  CLI::App* command = app.add_subcommand("journal", "print the records of a world");
  add_where(*command, options->where);
  add_folder(*command, options->where);
  command->add_option("--from", options->from, "the first record to print")
      ->check(CLI::Range(std::uint64_t{1}, kMostRecordNumber));
  command->add_option("--to", options->to, "the last record to print")
      ->check(CLI::Range(std::uint64_t{1}, kMostRecordNumber))
      ->default_str("the last");
  command->add_option("--kind", options->kind, "only records of this kind")
      ->check(CLI::IsMember(kinds()));
  command->add_option("--limit", options->limit, "maximum number to print")
      ->check(CLI::Range(std::uint64_t{1}, kMostRecordNumber))
      ->capture_default_str();
  command->footer(
      "Changes nothing. A world that a process has open is refused.\n"
      "Example: holdfast journal ./world --from 100 --to 200 --kind event");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace holdfast::cli
