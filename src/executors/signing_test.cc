// SPDX-License-Identifier: Apache-2.0
#include "executors/signing.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernel/testing_lab.h"

namespace holdfast::executors {
namespace {

base::Ed25519Seed seed(std::uint8_t fill) {
  base::Ed25519Seed made;
  made.fill(fill);
  return made;
}

class SigningTest : public kernel::testing::LabTest {
 protected:
  // The answer of a world that knows the keys to a receipt that was signed.
  kernel::Answer answer(const SigningKey& key, std::string_view signed_json,
                        std::string_view sent_json) {
    keyed_ = kernel::testing::work;
    bench_.emplace(kernel::testing::lab(kernel::testing::kToKeyed), machines_,
                   kernel::WorldOptions{{}, &keys_});
    const kernel::Outcome opened = send("a", 1);
    const auto& open = std::get<kernel::OpenIntent>(opened.commands.at(0));
    const base::Bytes said = kernel::testing::value(signed_json);
    const base::Bytes payload = kernel::testing::value(sent_json);
    const auto signature = sign_receipt(key, open.intent, kernel::ReceiptStatus::kOk, said);
    return bench_
        ->tick(kernel::ReceiptArrived{
            open.intent, kernel::ReceiptStatus::kOk, payload, {}, {key.public_key(), signature}})
        .answer;
  }
  EnrolledKeys keys_;
};

TEST_F(SigningTest, a_world_takes_receipts_of_enrolled_keys_only_and_as_they_were_signed) {
  const SigningKey worker(seed(1));
  const std::string done = R"({"ok":true})";
  EXPECT_TRUE(std::holds_alternative<kernel::Refused>(answer(worker, done, done)));
  keys_.enroll(worker.public_key());
  EXPECT_TRUE(std::holds_alternative<kernel::Accepted>(answer(worker, done, done)));
  EXPECT_TRUE(std::holds_alternative<kernel::Refused>(answer(worker, done, R"({"ok":false})")));
  EXPECT_TRUE(std::holds_alternative<kernel::Refused>(answer(SigningKey(seed(2)), done, done)));
  keys_.dismiss(worker.public_key());
  EXPECT_TRUE(std::holds_alternative<kernel::Refused>(answer(worker, done, done)));
}

}  // namespace
}  // namespace holdfast::executors
