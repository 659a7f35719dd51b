// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cli/colours.h"
#include "cli/columns.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"

namespace holdfast::cli {
namespace {

int lost_with = 0;  // the error of the first output that could not be written
bool refuses_in_json = false;

// What a server has said about the error with this message.
struct KeptProblem {
  std::string message;
  std::string json;
};
KeptProblem& kept_problem() {
  static KeptProblem kept;
  return kept;
}

// What was printed before comes out before, also where both streams go to one place.
void complain(std::string_view text) {
  std::fflush(stdout);
  std::fprintf(stderr, "holdfast: %.*s\n", static_cast<int>(text.size()), text.data());
}

// Members as those of a problem document of a server. It is one line, so that whoever reads
// standard error finds it among remarks.
void put_problem(std::string_view code, std::string_view detail, std::string_view path,
                 const codec::Errors* errors) {
  codec::Buffer out;
  const auto text = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, printable(value));
  };
  codec::write_map_head(out, 2u + !path.empty() + (errors != nullptr));
  text("code", code);
  text("detail", detail);
  if (!path.empty()) text("path", path);
  if (errors != nullptr) {
    codec::write_text(out, "errors");
    write_errors(out, *errors);
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n",
               codec::printable_json(codec::to_json(codec::View::of(out.view()))).c_str());
}

// "STATUS" over a column, or "status" in front of a value.
bool is_status(const std::vector<std::vector<std::string>>& rows,
               const std::vector<std::string>& row, std::size_t i) {
  if (&row == &rows.front()) return i == 1 && row[0] == "status";
  const bool is_under_it = i < rows.front().size() && rows.front()[i] == "STATUS";
  return is_under_it || (i == 1 && row[0] == "status");
}

}  // namespace

void refuse_in_json() { refuses_in_json = true; }

void keep_problem(const base::Error& error, std::string json) {
  kept_problem() = {error.message(), std::move(json)};
}

std::string printable(std::string_view text) { return codec::printable(text); }

void warn(std::string_view message) { complain(printable(message)); }

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size()) lost_with = errno;
}

bool output_is_wanted() { return std::ferror(stdout) == 0; }

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  const bool has_colours = shows_colours();
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += has_colours && is_status(rows, row, i) ? painted_status(row[i]) : row[i];
      if (i + 1 < row.size()) line.append(widths[i] - columns_of(row[i]) + 2, ' ');
    }
    print_line(line);
  }
}

void remark(std::string_view text) { complain(printable(text)); }

ExitCode refuse(const base::Error& error) {
  if (refuses_in_json) {
    if (!kept_problem().json.empty() && kept_problem().message == error.message()) {
      std::fflush(stdout);
      std::fprintf(stderr, "%s\n", kept_problem().json.c_str());
    } else {
      put_problem(base::to_string(error.code()), error.message(), error.where(), nullptr);
    }
    return ExitCode::kRefused;
  }
  complain(printable(error.to_string()));
  return ExitCode::kRefused;
}

ExitCode refuse(std::string_view summary, const codec::Errors& errors) {
  if (refuses_in_json) {
    const auto code = errors.empty() ? base::ErrorCode::kInvalid : errors.begin()->code();
    put_problem(base::to_string(code), summary, "", &errors);
    return ExitCode::kRefused;
  }
  complain(printable(summary));
  for (const base::Error& error : errors)
    std::fprintf(stderr, "  %s\n", printable(error.to_string()).c_str());
  if (errors.reported() > errors.size())
    std::fprintf(stderr, "  and %zu more\n", errors.reported() - errors.size());
  return ExitCode::kRefused;
}

void write_errors(codec::Buffer& out, const codec::Errors& errors) {
  const std::size_t left_out = errors.reported() - errors.size();
  const auto entry = [&](base::ErrorCode code, std::string_view where, std::string_view message) {
    codec::write_map_head(out, 3);
    codec::write_text(out, "code");
    codec::write_text(out, base::to_string(code));
    codec::write_text(out, "where");
    codec::write_text(out, printable(where));
    codec::write_text(out, "message");
    codec::write_text(out, printable(message));
  };
  codec::write_list_head(out, errors.size() + (left_out > 0 ? 1 : 0));
  for (const base::Error& error : errors) entry(error.code(), error.where(), error.message());
  if (left_out > 0)
    entry(base::ErrorCode::kTooLarge, "", "and " + std::to_string(left_out) + " more errors");
}

ExitCode misused(std::string_view message) {
  if (refuses_in_json) {
    put_problem("usage", message.substr(0, message.find('\n')), "", nullptr);
  } else {
    complain(message);
  }
  return ExitCode::kUsage;
}

base::Result<std::string> read_standard_input(std::size_t limit) {
  std::string text;
  char chunk[64 * 1024];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, stdin)) {
    text.append(chunk, count);
    if (text.size() > limit) {
      return base::Error(base::ErrorCode::kTooLarge, "standard input",
                         "more than " + std::to_string(limit) + " bytes");
    }
  }
  if (std::ferror(stdin) != 0)
    return base::Error(base::ErrorCode::kIo, "standard input", std::strerror(errno));
  return text;
}

bool flush_output() {
  if (std::fflush(stdout) != 0) {
    lost_with = errno;
  } else if (output_is_wanted()) {
    return true;
  }
  if (lost_with != EPIPE) complain("the output could not be written");
  return false;
}

}  // namespace holdfast::cli
