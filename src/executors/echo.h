// SPDX-License-Identifier: Apache-2.0
// Echo: answers at once, with what it was asked.
#pragma once

#include "executors/executor.h"

namespace holdfast::executors {

class Echo : public Executor {
 public:
  void start(const kernel::OpenIntent& intent, Reports& reports) override {
    kernel::ReceiptArrived receipt;
    receipt.intent = intent.intent;
    receipt.payload = intent.params;
    reports.report(receipt);
  }
  void stop(const base::Hash&) override {}
};

}  // namespace holdfast::executors
