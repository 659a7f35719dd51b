// SPDX-License-Identifier: Apache-2.0
// Map and reduce: counts the words of texts, a run of a step for each piece of them, and adds up.
//
//   wordcount ID FILE...
//
// Kill it with -9 whenever you like and start it again with the same line: pieces that are counted
// are not counted again. A run that has ended says what it came to.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "show.h"

struct Request {
  static constexpr std::string_view kSchema = "words/Request@1";
  std::string id;
  std::vector<std::string> files;
};
// Lines of a file, from one to another. The text itself stays where it is.
struct Piece {
  static constexpr std::string_view kSchema = "words/Piece@1";
  std::string file;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
struct Word {
  std::string word;
  std::uint64_t count = 0;
};
struct Counted {
  static constexpr std::string_view kSchema = "words/Counted@1";
  std::vector<Word> words;
};
struct Outcome {
  static constexpr std::string_view kSchema = "words/Outcome@1";
  std::string text;
};

using Lines = std::vector<std::string>;

struct WordCount : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "words/WordCount@1";
  using Events = holdfast::Events<holdfast::On<Request, &Request::id>>;
  using Stop = Outcome;

  static constexpr std::uint64_t kLines = 5;  // of a piece

  // A list fans out: one run of `count` for each piece.
  std::vector<Piece> split(const Request& request, holdfast::StepContext&) {
    std::vector<Piece> pieces;
    for (const std::string& file : request.files) {
      const std::uint64_t lines = lines_of(file).size();
      for (std::uint64_t first = 0; first < lines; first += kLines)
        pieces.push_back({file, first, std::min(first + kLines, lines)});
    }
    std::printf("%zu pieces\n", pieces.size());
    return pieces;
  }

  Counted count(const Piece& piece, holdfast::StepContext& context) {
    // What is made for the bodies of steps, once: here, how slow this program is told to be.
    std::this_thread::sleep_for(context.resource<std::chrono::milliseconds>("slowness"));
    std::map<std::string, std::uint64_t> words;
    const Lines lines = lines_of(piece.file);
    for (std::uint64_t at = piece.first; at < piece.last; ++at) {
      std::istringstream in(lines.at(at));
      for (std::string word; in >> word;) ++words[word];
    }
    Counted counted;
    for (const auto& [word, count] : words) counted.words.push_back({word, count});
    const unsigned long long line = piece.first + 1;
    std::printf("counted %s from line %llu\n", piece.file.c_str(), line);
    std::fflush(stdout);
    return counted;
  }

  // Gets all that was counted, once.
  Outcome add(const std::vector<Counted>& all, holdfast::StepContext&) {
    std::map<std::string, std::uint64_t> sums;
    for (const Counted& counted : all) {
      for (const Word& word : counted.words) sums[word.word] += word.count;
    }
    std::string text;
    for (const auto& [word, count] : sums)
      text += (text.empty() ? "" : " ") + word + "=" + std::to_string(count);
    return {text};
  }

  static auto steps() {
    return holdfast::StepsOf<WordCount>()
        .step("split", &WordCount::split)
        .step("count", &WordCount::count, {.workers = 4})
        .step("add", &WordCount::add);
  }

 private:
  static Lines lines_of(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw holdfast::StepError("words.no_file", "cannot read " + file);
    Lines lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

int main(int argc, char** argv) {
  const auto said = examples::arguments(argc, argv, 2, 1000);
  if (!said) return std::fprintf(stderr, "usage: wordcount ID FILE... [--any-file-system]\n"), 2;
  const Request request{said->words[0], {said->words.begin() + 1, said->words.end()}};
  const char* const slowness = std::getenv("WORDCOUNT_MS");
  auto resources = std::make_shared<holdfast::Resources>();
  resources->add<std::chrono::milliseconds>("slowness", [slowness] {
    return std::chrono::milliseconds(slowness == nullptr ? 0 : std::atoi(slowness));
  });
  auto engine = holdfast::Engine::open(
      {.dir = "wordcount.world",
       .modules = {holdfast::Module::of<WordCount>("words/code@1")},
       .handlers = holdfast::step_handlers(std::make_shared<WordCount>(), resources),
       .any_file_system = said->any_file_system});
  if (!engine) return examples::failed(engine.error().message);
  if (!(*engine)->query<WordCount>(request.id)) {
    const auto sent = (*engine)->send(request);
    if (!sent) return examples::failed(sent.error().message);
  }
  return examples::show<WordCount>(**engine, request.id, 0, [](const holdfast::StepEntry&) {});
}
