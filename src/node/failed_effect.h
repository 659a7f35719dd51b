// SPDX-License-Identifier: Apache-2.0
// An effect that failed, as its record tells: for logs, counts and documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/record_view.h"
#include "steps/state.h"

namespace holdfast::node {

// How the effect failed: by an error, or by a body of a step that failed, whose receipt is good.
// What it holds is part of the receipt.
std::optional<steps::Failure> failure_of(const kernel::ReceiptArrived& receipt);

struct FailedEffect {
  std::uint64_t record = 0;
  std::string instance;  // WORKFLOW/KEY
  std::string workflow;
  std::string status;  // error, timeout, cancelled; of a body of a step: failed
  std::string code;
  std::string message;
  std::string step = {};      // of a step workflow; empty: it is none, or its rules are older
  std::uint64_t attempt = 0;  // of the step, from 1
};

// Nothing: the record is none of a receipt, or the effect went well, or nobody waited for it.
std::optional<FailedEffect> failed_effect(const kernel::RecordView& record);

// An instance that a record ended with an error.
struct FailedInstance {
  std::uint64_t record = 0;
  std::string workflow;
  std::string key;  // as in WORKFLOW/KEY; "-": the workflow has none
  std::string code;
  std::string message;
};

std::vector<FailedInstance> failed_instances(const kernel::RecordView& record);

}  // namespace holdfast::node
