// SPDX-License-Identifier: Apache-2.0
// The text of a golden file: a word and what belongs to it on each line. Bytes stand as hex,
// folded; a line that begins with two spaces goes on with the one before. Lines with # are for
// people.
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hex.h"

namespace holdfast::golden {

struct Line {
  std::string word;
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
};
using Lines = std::vector<Line>;

inline Line bytes_line(std::string word, base::ByteView bytes) {
  return {std::move(word), base::to_hex(bytes)};
}

inline std::string to_text(const Lines& lines) {
  constexpr std::size_t kFold = 96;
  std::string text;
  for (const Line& line : lines) {
    text += line.word + " " + line.text.substr(0, kFold);
    for (std::size_t at = kFold; at < line.text.size(); at += kFold)
      text += "\n  " + line.text.substr(at, kFold);
    text += "\n";
  }
  return text;
}

// Nothing: there is no such file, or it is not of this form.
inline std::optional<Lines> read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  Lines lines;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("  ")) {
      if (lines.empty()) return std::nullopt;
      lines.back().text += line.substr(2);
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) return std::nullopt;
    lines.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return lines;
}

}  // namespace holdfast::golden
