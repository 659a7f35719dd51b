// SPDX-License-Identifier: Apache-2.0
// What the examples take from their command line: words, and one flag.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace examples {

struct Arguments {
  std::vector<std::string> words;
  bool any_file_system = false;  // also where a power cut may lose data
};

// Nothing: there is a flag that no example knows, or not as many words as there should be.
inline std::optional<Arguments> arguments(int argc, char** argv, std::size_t least,
                                          std::size_t most) {
  Arguments said;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--any-file-system") {
      said.any_file_system = true;
    } else if (word.starts_with("-")) {
      return std::nullopt;
    } else {
      said.words.push_back(word);
    }
  }
  if (said.words.size() < least || said.words.size() > most) return std::nullopt;
  return said;
}

}  // namespace examples
