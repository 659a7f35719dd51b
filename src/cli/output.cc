// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "codec/cbor_writer.h"
#include "codec/printable.h"

namespace holdfast::cli {
namespace {

// What was printed before comes out before, also where both streams go to one place.
void complain(std::string_view text) {
  std::fflush(stdout);
  std::fprintf(stderr, "holdfast: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace

std::string printable(std::string_view text) { return codec::printable(text); }

void warn(std::string_view message) { complain(printable(message)); }

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void print_line(std::string_view text) {
  print(text);
  print("\n");
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    print_line(line);
  }
}

void remark(std::string_view text) { complain(printable(text)); }

ExitCode refuse(const base::Error& error) {
  complain(printable(error.to_string()));
  return ExitCode::kRefused;
}

ExitCode refuse(std::string_view summary, const codec::Errors& errors) {
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
  complain(message);
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
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  complain("the output could not be written");
  return false;
}

}  // namespace holdfast::cli
