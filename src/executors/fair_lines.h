// SPDX-License-Identifier: Apache-2.0
// FairLines: several lines that are served by turns, one item each, so that a long line does not
// hold up the others. A line is any container with empty() and a default constructor; it is there
// as long as something is in it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::executors {

template <class Line>
class FairLines {
 public:
  using Lines = std::map<std::string, Line, std::less<>>;
  using Place = typename Lines::iterator;

  // The line of this name, for something to be added to. It stays where it is as long as it is not
  // empty.
  Place line(std::string_view name) {
    auto found = lines_.find(name);
    if (found == lines_.end()) {
      found = lines_.emplace(std::string(name), Line()).first;
      turns_.push_back(found);
    }
    return found;
  }

  // Offers one line after the other, from the one whose turn it is, until `serve` says that it has
  // taken something. False: it took nothing from any of them.
  template <class Serve>
  bool serve(const Serve& serve) {
    for (std::size_t left = turns_.size(); left > 0; --left) {
      const Place next = turns_.front();
      turns_.pop_front();
      const bool served = !next->second.empty() && serve(next->second);
      if (next->second.empty()) {
        lines_.erase(next);
      } else {
        turns_.push_back(next);
      }
      if (served) return true;
    }
    return false;
  }

  // All of them, in the order of their names.
  template <class Visit>
  void visit(const Visit& visit) {
    for (auto& [name, line] : lines_) visit(line);
  }

  void clear() {
    turns_.clear();
    lines_.clear();
  }

 private:
  Lines lines_;
  std::deque<Place> turns_;  // every line once; one that has become empty leaves at its turn
};

}  // namespace holdfast::executors
