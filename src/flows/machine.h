// SPDX-License-Identifier: Apache-2.0
// FlowMachine: the code of sys/Flow@1, which runs a program (flows/program.h).
//
// 1. Each node that needs something from outside opens one effect under the number of its frame. An
//    answer to a frame that is gone changes nothing.
// 2. A join waits for all of its branches, also when one fails. Of several that did not succeed,
//    the first in their order decides. A race ends with the first that ends; the others are given
//    up.
// 3. Names that are bound inside a branch are seen there. When it has succeeded they are seen
//    after it, in the order of the branches.
// 4. A signal goes to every node that waits for its name. If there is none it is kept for the next.
// 5. One turn does a bounded amount of work: a round of a loop that asked for nothing outside waits
//    a second, and no more than kEffectsPerTurn effects are opened at once.
#pragma once

#include "kernel/machine.h"

namespace holdfast::flows {

inline constexpr std::string_view kFlowStarted = "sys/FlowStarted@1";
inline constexpr std::string_view kFlowSignalled = "sys/FlowSignalled@1";
inline constexpr std::string_view kFlowCancelAsked = "sys/FlowCancelAsked@1";
inline constexpr std::string_view kFlowContinued = "sys/FlowContinued@1";

inline constexpr std::size_t kEffectsPerTurn = 32;
inline constexpr std::size_t kMaxFrames = 20'000;
inline constexpr std::size_t kMaxKeptSignals = 1'000;
inline constexpr std::size_t kMaxStateBytes = std::size_t{768} << 10;
inline constexpr std::uint64_t kMaxRounds = std::uint64_t{1} << 23;

class FlowMachine : public kernel::Machine {
 public:
  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override;
  bool write_whole(base::ByteView state, const kernel::StateParts& parts,
                   codec::Buffer& out) const override;
};

}  // namespace holdfast::flows
