// SPDX-License-Identifier: Apache-2.0
// Progress: where a function of the program puts pieces of output while it runs. They become
// progress of its effect.
#pragma once

#include <string_view>

#include "base/bytes.h"

namespace holdfast::executors {

// The kind of a frame whose payload is a list of pieces, and of one that says that the effect began
// again: what it put out before may come again.
inline constexpr std::string_view kPieces = "pieces";
inline constexpr std::string_view kBeganAgain = "began_again";

class Progress {
 public:
  virtual ~Progress() = default;

  // One canonical item. False: nobody hears it.
  virtual bool put(base::ByteView piece) = 0;
};

// Nobody is there to hear it.
class NoProgress : public Progress {
 public:
  bool put(base::ByteView) override { return false; }
};

}  // namespace holdfast::executors
