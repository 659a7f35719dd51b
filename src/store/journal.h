// SPDX-License-Identifier: Apache-2.0
// Journal: the records of a world, in order, durable. It is all that the rest of the program knows
// about where they are kept.
//
//   append -> sync -> acknowledge: one sync serves everybody whose record is in the batch.
//
// Promises:
//  1. What sync() has returned survives any crash or power cut, on a device that honours flush.
//  2. Records are numbered from 1 without gaps, and read back as they were, or not at all: what
//     cannot be read is kCorrupt, naming the file and the offset.
//  3. After a failed sync nothing is ever acknowledged again by this journal: every later call
//     gives the same error, and the process must end. Opening again finds what can be saved.
//  4. Each opening has a higher epoch than all before, and it is durable when opening returns.
//  5. What is pinned can be read to the end, also when it is given up meanwhile; but only so much
//     is held for those who pin, after which the oldest goes and the pin says so, and no trimming
//     is held up for good: see trim().
//
// What a record means is for others. read, pin, prepare, has_room, first, first_on_disk, durable
// and epoch are for any thread, everything else for one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::store {

// From 1; 0 stands for "before the first".
using RecordNumber = std::uint64_t;

struct Record {
  RecordNumber number;
  base::ByteView bytes;  // until the reader is asked again
};

// A place in the journal that moves forward.
class JournalReader {
 public:
  virtual ~JournalReader() = default;

  // The next durable record, or nothing while there is none. kNotFound: it was trimmed, and this
  // reader has to begin elsewhere.
  virtual base::Result<std::optional<Record>> next() = 0;

  // The record that next() will give.
  virtual RecordNumber cursor() const = 0;
};

// Records that stay while it is there, for somebody who has to see all of them or none. For any
// thread; it may outlive the journal.
class JournalPin {
 public:
  virtual ~JournalPin() = default;

  // The first that stays, and with it all that are behind it.
  virtual RecordNumber first() const = 0;

  // False: it took so long that too much would have to be held; first() is gone.
  virtual bool holds() const = 0;
};

// What an append may use up when the disk is full.
enum class Room : std::uint8_t {
  kNormal,
  kReserve,  // also what is kept back for the results of work that has begun
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Writes the records as one batch, and gives the number of the last. The one before must be
  // synced. After kUnavailable (no space) and kTooLarge (more than max_batch_bytes()
  // together, each record counting 4 more) the
  // journal is as before; any other error has ended it, as a failed sync does.
  virtual base::Result<RecordNumber> append(std::span<const base::ByteView> records,
                                            Room room = Room::kNormal) = 0;

  // Makes the batch durable. Gives the last durable record.
  virtual base::Result<RecordNumber> sync() = 0;

  // Says in the journal that everything up to here is durable, so that the last batch can be
  // judged like all others. For quiet moments; does nothing when it was said already.
  virtual base::Result<void> mark() = 0;

  // Does slow work ahead of time, so that append need not, a piece at a time; kUnavailable: no
  // space. has_room: the work for appends of this kind is done, so they will find room for a while.
  virtual base::Result<void> prepare() = 0;
  virtual bool has_room(Room room) const = 0;

  // Gives up records below this one, as far as it is convenient: first() tells. Whoever pins from
  // now on pins none of them; what was pinned before leaves the disk with a later trim, so that
  // readers who come one after the other do not hold it for ever. kUnavailable: a full disk had no
  // room even for that; the rest is still there, and one may go on and try again.
  virtual base::Result<void> trim(RecordNumber below) = 0;

  // kNotFound: trimmed. Reading from last() + 1 waits for what comes.
  virtual base::Result<std::unique_ptr<JournalReader>> read(RecordNumber from) = 0;

  // From this record on, or from first() where that is later.
  virtual std::unique_ptr<JournalPin> pin(RecordNumber from) = 0;

  // The first that is not given up; last() + 1 if there is none.
  virtual RecordNumber first() const = 0;
  // The first that the disk has: what is given up and pinned is there, also after a restart.
  virtual RecordNumber first_on_disk() const = 0;
  virtual RecordNumber last() const = 0;  // the last that was appended
  virtual RecordNumber durable() const = 0;
  virtual std::uint64_t epoch() const = 0;
  virtual std::size_t max_batch_bytes() const = 0;

  // Marks, and ends the journal in order. Without it the journal ends as if the process had died.
  virtual base::Result<void> close() = 0;
};

}  // namespace holdfast::store
