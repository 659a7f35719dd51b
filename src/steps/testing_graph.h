// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: a graph out of a few lines.
//
//   first: Start -> A[]            returns a list: fans out
//   work*2: A -> B | C             two slots
//   sum: B[] -> Stop               joins all; B[3]: the first three
//   pack: B & C -> Stop            takes one of each, together
//   rescue!2 work: StepFailed -> B handles errors of `work`, twice on a lineage; none: of all steps
//
// What a type is for is in its name: Start, Stop, Ask..., Answer..., StepFailed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "steps/graph.h"

namespace holdfast::steps::testing {

inline std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!words_of(line).empty()) lines.push_back(line);
  }
  return lines;
}

class GraphText {
 public:
  explicit GraphText(std::string_view text) {
    for (const std::string& line : lines_of(text)) add_step(line);
  }
  Graph graph(std::uint64_t timeout_ns = 0, Rules rules = Rules::kFirst) const {
    return {types_, steps_, timeout_ns, {}, rules};
  }

 private:
  TypeIndex type(const std::string& name) {
    for (TypeIndex i = 0; i < types_.size(); ++i) {
      if (types_[i].schema == name) return i;
    }
    Role role = Role::kPlain;
    if (name == "Start") role = Role::kStart;
    if (name == "Stop") role = Role::kStop;
    if (name == "StepFailed") role = Role::kStepFailed;
    if (name.starts_with("Ask")) role = Role::kInputRequired;
    if (name.starts_with("Answer")) role = Role::kResponse;
    types_.push_back({name, role});
    return static_cast<TypeIndex>(types_.size() - 1);
  }

  void add_step(const std::string& line) {
    const std::size_t colon = line.find(':');
    EXPECT_NE(colon, line.npos) << line;
    StepDef step = head(words_of(line.substr(0, colon)));
    bool is_behind_arrow = false;
    const std::vector<std::string> words = words_of(line.substr(colon + 1));
    const bool has_slots = std::find(words.begin(), words.end(), "&") != words.end();
    for (const std::string& word : words) {
      if (word == "|" || word == "&") continue;
      if (word == "->") {
        is_behind_arrow = true;
      } else if (const std::size_t open = word.find('['); open != word.npos) {
        const TypeIndex element = type(word.substr(0, open));
        if (is_behind_arrow) {
          step.returns_list.push_back(element);
        } else {
          step.join = Join{element, number(word.substr(open + 1))};
        }
      } else {
        (is_behind_arrow ? step.returns
         : has_slots     ? step.slots
                         : step.accepts)
            .push_back(type(word));
      }
    }
    steps_.push_back(step);
  }

  static StepDef head(const std::vector<std::string>& words) {
    StepDef step;
    step.name = words.at(0);
    if (const std::size_t mark = step.name.find('!'); mark != step.name.npos) {
      step.is_handler = true;
      step.workers = 1;
      step.max_recoveries = number(step.name.substr(mark + 1));
      step.name.resize(mark);
      step.handles.assign(words.begin() + 1, words.end());
    }
    if (const std::size_t star = step.name.find('*'); star != step.name.npos) {
      step.workers = number(step.name.substr(star + 1));
      step.name.resize(star);
    }
    return step;
  }

  // 0 where there is none.
  static std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  }

  std::vector<EventType> types_;
  std::vector<StepDef> steps_;
};

inline Graph graph_of(std::string_view text, std::uint64_t timeout_ns = 0,
                      Rules rules = Rules::kFirst) {
  return GraphText(text).graph(timeout_ns, rules);
}

}  // namespace holdfast::steps::testing
