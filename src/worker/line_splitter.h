// SPDX-License-Identifier: Apache-2.0
// LineSplitter: makes lines of bytes as they come. A line that is longer than the bound is given in
// pieces of that size, so memory stays bounded whatever a program writes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace holdfast::work {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  template <class Take>
  void add(std::string_view bytes, Take take) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::size_t room = most_bytes_ - rest_.size();
      const std::size_t count = std::min({end, bytes.size(), room});
      rest_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      const bool has_ended = !bytes.empty() && bytes.front() == '\n';
      if (has_ended) bytes.remove_prefix(1);
      if (has_ended || rest_.size() == most_bytes_) give(take, has_ended);
    }
  }

  // What is left without an end.
  template <class Take>
  void finish(Take take) {
    if (!rest_.empty()) give(take, false);
    is_piece_ = false;
  }

 private:
  template <class Take>
  void give(Take& take, bool has_ended) {
    std::string_view line = rest_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    // The end of a line whose pieces were given already is not an empty line.
    if (!(is_piece_ && line.empty())) take(line);
    is_piece_ = !has_ended;
    rest_.clear();
  }

  const std::size_t most_bytes_;
  std::string rest_;
  bool is_piece_ = false;
};

}  // namespace holdfast::work
