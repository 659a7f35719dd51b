// SPDX-License-Identifier: Apache-2.0
// A journal that is another one, but for what a test changes. For tests only.
#pragma once

#include <memory>
#include <span>

#include "store/journal.h"

namespace holdfast::node::testing {

class JournalAround : public store::Journal {
 public:
  explicit JournalAround(store::Journal& inner) : inner_(inner) {}

  base::Result<store::RecordNumber> append(std::span<const base::ByteView> records,
                                           store::Room room) override {
    return inner_.append(records, room);
  }
  base::Result<store::RecordNumber> sync() override { return inner_.sync(); }
  base::Result<void> mark() override { return inner_.mark(); }
  base::Result<void> prepare() override { return inner_.prepare(); }
  bool has_room(store::Room room) const override { return inner_.has_room(room); }
  base::Result<void> trim(store::RecordNumber below) override { return inner_.trim(below); }
  base::Result<std::unique_ptr<store::JournalReader>> read(store::RecordNumber from) override {
    return inner_.read(from);
  }
  std::unique_ptr<store::JournalPin> pin(store::RecordNumber from) override {
    return inner_.pin(from);
  }
  store::RecordNumber first() const override { return inner_.first(); }
  store::RecordNumber first_on_disk() const override { return inner_.first_on_disk(); }
  store::RecordNumber last() const override { return inner_.last(); }
  store::RecordNumber durable() const override { return inner_.durable(); }
  std::uint64_t epoch() const override { return inner_.epoch(); }
  std::size_t max_batch_bytes() const override { return inner_.max_batch_bytes(); }
  base::Result<void> close() override { return inner_.close(); }

 private:
  store::Journal& inner_;
};

}  // namespace holdfast::node::testing
