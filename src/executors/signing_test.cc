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

TEST(Seal, one_signature_covers_every_record_their_order_and_all_batches_before) {
  const SigningKey node(seed(3));
  const base::Bytes a = {1};
  const base::Bytes b = {2};
  const std::vector<base::ByteView> both = {a, b};
  const std::vector<base::ByteView> turned = {b, a};
  const std::vector<base::ByteView> one = {a};
  const base::Hash first = seal_of({}, 1, both);
  const base::Hash second = seal_of(first, 3, one);
  const auto signature = sign_seal(node, second);
  EXPECT_TRUE(is_good_seal(node.public_key(), second, signature));
  EXPECT_FALSE(is_good_seal(SigningKey(seed(4)).public_key(), second, signature));
  EXPECT_FALSE(is_good_seal(node.public_key(), first, signature));
  EXPECT_FALSE(is_good_seal(node.public_key(), second, {}));
  for (const base::Hash& other :
       {seal_of(first, 4, one), seal_of({}, 3, one), seal_of(first, 3, both),
        seal_of(seal_of({}, 1, turned), 3, one), seal_of(seal_of({}, 1, one), 3, one)}) {
    EXPECT_FALSE(is_good_seal(node.public_key(), other, signature));
  }
}

}  // namespace
}  // namespace holdfast::executors
