// SPDX-License-Identifier: Apache-2.0
// What the tests of executors share: intents out of JSON, and somebody who hears the receipts. For
// tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "executors/executor.h"
#include "executors/secrets.h"

namespace holdfast::executors::testing {

inline base::Hash name(std::uint64_t n) { return base::sha256(base::as_bytes(std::to_string(n))); }

// The value of a system schema, canonical, without the self-describe tag.
inline codec::Schema schema(std::string_view called) {
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  codec::Errors errors;
  const codec::Type* const type = builtin.find(called);
  EXPECT_NE(type, nullptr) << called;
  auto compiled = codec::Schema::compile(*type, builtin, "$", errors);
  EXPECT_TRUE(compiled);
  return std::move(*compiled);
}

inline base::Bytes value(const codec::Schema& schema, std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(schema, json);
  EXPECT_TRUE(made) << made.error().to_string() << " in " << json;
  if (!made) return {0xf6};
  return {made->begin(), made->end()};
}

inline base::Bytes value(std::string_view of, std::string_view json) {
  return value(schema(of), json);
}
inline base::Bytes any_value(std::string_view json) { return value(codec::Schema::any(), json); }

inline kernel::OpenIntent intent(std::uint64_t n, const base::Bytes& params) {
  const std::shared_ptr<std::uint8_t[]> bytes(new std::uint8_t[params.size()]);
  std::copy(params.begin(), params.end(), bytes.get());
  return {name(n), nullptr, {}, {}, {bytes.get(), params.size()}, bytes};
}

struct HeardReceipt {
  kernel::ReceiptStatus status = kernel::ReceiptStatus::kOk;
  base::Bytes payload;

  codec::View view() const { return codec::View::of(payload); }
  std::string json() const { return codec::to_json(view()); }
  std::string text(std::string_view field) const {
    const auto found = view().find(field);
    if (!found) return "absent";
    if (found->text()) return std::string(*found->text());
    if (found->bytes()) return std::string(base::as_text(*found->bytes()));
    return "not a text";
  }
  std::int64_t number(std::string_view field) const {
    const auto found = view().find(field);
    return found ? found->integer().value_or(-1) : -2;
  }
  std::string code() const { return status == kernel::ReceiptStatus::kOk ? "ok" : text("code"); }
};

class Heard : public Reports {
 public:
  void report(const kernel::ReceiptArrived& receipt) override {
    const std::lock_guard lock(mutex_);
    receipts_[receipt.intent].push_back(
        {receipt.status, {receipt.payload.begin(), receipt.payload.end()}});
    changed_.notify_all();
  }
  void report(const kernel::ProgressArrived&) override {}

  // Waits for it; fails the test when it does not come.
  HeardReceipt wait_for(std::uint64_t n) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::seconds(60),
                                        [&] { return !receipts_[name(n)].empty(); });
    EXPECT_TRUE(came) << "no receipt came";
    return came ? receipts_[name(n)].front() : HeardReceipt{};
  }
  std::size_t count(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    return receipts_[name(n)].size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<base::Hash, std::vector<HeardReceipt>> receipts_;
};

// The payload as the kernel would take it, or the reason why it would not.
inline std::string refusal(std::string_view of, const HeardReceipt& receipt) {
  codec::Normaliser normaliser;
  const auto taken = normaliser.part_from_cbor(schema(of), receipt.payload);
  return taken ? "" : taken.error().to_string();
}

// Secrets that are simply there.
class KnownSecrets : public SecretSource {
 public:
  explicit KnownSecrets(std::map<std::string, std::string, std::less<>> secrets)
      : secrets_(std::move(secrets)) {}
  base::Result<Secret> find(std::string_view called) const override {
    const auto found = secrets_.find(called);
    if (found == secrets_.end())
      return base::Error(base::ErrorCode::kNotFound, std::string(called), "no such secret");
    return Secret(found->second);
  }

 private:
  std::map<std::string, std::string, std::less<>> secrets_;
};

}  // namespace holdfast::executors::testing
