// SPDX-License-Identifier: Apache-2.0
#include "executors/blob.h"

#include "executors/testing.h"
#include "executors/testing_blobs.h"

namespace holdfast::executors {
namespace {

using testing::HeardReceipt;
using testing::name;

class BlobTest : public ::testing::Test {
 protected:
  HeardReceipt put(std::uint64_t n, std::string_view json) {
    put_->start(testing::intent(n, testing::value("sys/BlobPutParams@1", json)), heard_);
    return heard_.wait_for(n);
  }
  HeardReceipt get(std::uint64_t n, const base::Hash& hash) {
    get_->start(testing::intent(n, testing::value("sys/BlobGetParams@1",
                                                  R"({"blob_ref":")" + hash.to_text() + "\"}")),
                heard_);
    return heard_.wait_for(n);
  }
  testing::MemoryBlobs blobs_;
  testing::Heard heard_;
  std::unique_ptr<Executor> put_ = blob_put_executor({}, blobs_);
  std::unique_ptr<Executor> get_ = blob_get_executor({}, blobs_);
};

const base::Hash kHello = base::sha256(base::as_bytes("hello"));

TEST_F(BlobTest, what_was_put_is_durable_and_comes_back) {
  const HeardReceipt receipt = put(1, R"({"bytes":"aGVsbG8="})");
  EXPECT_EQ(testing::refusal("sys/BlobPutReceipt@1", receipt), "");
  EXPECT_EQ(receipt.text("blob_ref"), kHello.to_text());
  EXPECT_EQ(receipt.number("size"), 5);
  EXPECT_GE(blobs_.syncs, 1);
  const HeardReceipt got = get(2, kHello);
  EXPECT_EQ(testing::refusal("sys/BlobGetReceipt@1", got), "");
  EXPECT_EQ(got.text("bytes"), "hello");
  EXPECT_EQ(got.number("size"), 5);
  EXPECT_EQ(put(3, R"({"bytes":"aGVsbG8="})").json(), receipt.json()) << "the same again";
}

TEST_F(BlobTest, what_a_blob_names_is_kept_beside_it) {
  const HeardReceipt receipt =
      put(1, R"({"bytes":"aGVsbG8=","refs":[")" + name(7).to_text() + R"("]})");
  const auto edge = blobs_.get(base::Hash::parse(receipt.text("edge_ref")).value());
  ASSERT_TRUE(edge);
  codec::Normaliser normaliser;
  EXPECT_TRUE(
      normaliser.from_cbor(testing::schema("sys/BlobEdge@1"), *edge, codec::Strictness::kStrict));
  EXPECT_EQ(codec::to_json(codec::View::of(*edge)),
            R"({"refs":[")" + name(7).to_text() + R"("],"blob_ref":")" + kHello.to_text() + "\"}");
}

TEST_F(BlobTest, bytes_that_are_not_what_was_said_are_refused) {
  EXPECT_EQ(put(1, R"({"bytes":"aGVsbG8=","blob_ref":")" + kHello.to_text() + "\"}").code(), "ok");
  const HeardReceipt receipt =
      put(2, R"({"bytes":"aGVsbG8=","blob_ref":")" + name(1).to_text() + "\"}");
  EXPECT_EQ(receipt.code(), "blob.put");
  EXPECT_NE(receipt.text("message").find(kHello.to_text()), std::string::npos);
  put_->start(testing::intent(3, {0xf6}), heard_);
  EXPECT_EQ(heard_.wait_for(3).code(), "blob.put");
}

TEST_F(BlobTest, a_blob_that_is_missing_damaged_or_too_large_is_an_error) {
  EXPECT_EQ(get(1, kHello).code(), "blob.get");
  put(2, R"({"bytes":"aGVsbG8="})");
  blobs_.damage(kHello);
  const HeardReceipt damaged = get(3, kHello);
  EXPECT_EQ(damaged.code(), "blob.get");
  EXPECT_NE(damaged.text("message").find("other bytes"), std::string::npos);
  const base::Hash large = blobs_.put(base::Bytes(std::size_t{16} << 20));
  EXPECT_NE(get(4, large).text("message").find("too large"), std::string::npos);
  get_->start(testing::intent(5, {0xf6}), heard_);
  EXPECT_EQ(heard_.wait_for(5).code(), "blob.get");
}

TEST_F(BlobTest, one_that_cannot_be_kept_takes_no_other_along) {
  blobs_.most_bytes = 200;
  blobs_.holds = true;
  const auto start = [this](std::uint64_t n, const std::string& json) {
    put_->start(testing::intent(n, testing::value("sys/BlobPutParams@1", json)), heard_);
  };
  start(1, R"({"bytes":"aGVsbG8="})");
  while (blobs_.syncs == 0) std::this_thread::yield();
  start(2, R"({"bytes":"aGk="})");  // these three wait together
  start(3, R"({"bytes":")" + std::string(400, 'A') + "\"}");
  start(4, R"({"bytes":"aG8="})");
  blobs_.holds = false;
  EXPECT_EQ(heard_.wait_for(3).code(), "blob.put");
  for (const std::uint64_t n : {1u, 2u, 4u}) EXPECT_EQ(heard_.wait_for(n).code(), "ok") << n;
  EXPECT_TRUE(blobs_.get(base::sha256(base::as_bytes("hi"))));
  EXPECT_TRUE(blobs_.get(base::sha256(base::as_bytes("ho"))));
}

TEST_F(BlobTest, says_beforehand_when_it_would_be_busy) {
  put_ = blob_put_executor({.queue = {.at_once = 1, .waiting = 1}}, blobs_);
  blobs_.holds = true;
  const base::Bytes params = testing::value("sys/BlobPutParams@1", R"({"bytes":"aGVsbG8="})");
  put_->start(testing::intent(1, params), heard_);
  while (blobs_.syncs == 0) std::this_thread::yield();
  EXPECT_TRUE(put_->has_room(testing::intent(2, params)));
  put_->start(testing::intent(2, params), heard_);
  EXPECT_FALSE(put_->has_room(testing::intent(3, params)));
  EXPECT_TRUE(put_->has_room(testing::intent(2, params))) << "it is there already";
  put_->start(testing::intent(3, params), heard_);
  EXPECT_EQ(heard_.wait_for(3).code(), "executor.busy");
  blobs_.holds = false;
  EXPECT_EQ(heard_.wait_for(2).code(), "ok");
}

TEST_F(BlobTest, what_is_not_durable_is_an_error) {
  blobs_.fails = true;
  const HeardReceipt receipt = put(1, R"({"bytes":"aGVsbG8="})");
  EXPECT_EQ(receipt.code(), "blob.put");
  EXPECT_EQ(testing::refusal("sys/EffectError@1", receipt), "");
}

}  // namespace
}  // namespace holdfast::executors
