// SPDX-License-Identifier: Apache-2.0
// CursorBook: the named cursors of a world. Each is a file in one folder, replaced whenever the
// cursor moves, and durable before a call returns.
//
// Promises:
//  1. A cursor moves past an event only when its consumer has acknowledged that event, or has
//     rejected it kMostTries times; then the event is in quarantine, with the reason. Reading
//     changes nothing: a consumer that is away loses nothing and spends no tries.
//  2. While the journal can hold them, the records of events that were not acknowledged stay.
//     If they are gone, reading is an error (`is_beyond_horizon`) and never a silent gap.
//  3. Everything is bounded: cursors, quarantined events, what one call reads.
//
// Calls read and write files: not for the thread that serves connections. From any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cursors/cursor_state.h"
#include "env/disk.h"
#include "holdfast/engine.h"

namespace holdfast::cursors {

inline constexpr std::uint32_t kMostTries = 5;
inline constexpr std::size_t kMostCursors = 64;
inline constexpr std::size_t kMostQuarantined = 100;
inline constexpr std::size_t kMostReasonBytes = 4096;

enum class From : std::uint8_t { kOldest, kNow };

struct CursorInfo {
  std::string name = {};
  CursorState state = {};
  std::uint64_t behind = 0;  // records after the one that it stands at
  bool is_beyond_horizon = false;
};

struct EventPage {
  std::vector<TaskEvent> events = {};
  std::uint64_t next_record = 0;  // nothing before this record is left to read
};

struct Rejected {
  std::uint32_t tries = 0;
  bool is_quarantined = false;
};

class CursorBook {
 public:
  // What a cursor that cannot be read is, is an error: it would be a silent gap.
  static base::Result<std::unique_ptr<CursorBook>> open(std::unique_ptr<env::Disk> disk,
                                                        std::string folder, Engine& engine);

  // kConflict: there is one. kUnavailable: there are too many. kInvalid: the name is none.
  base::Result<CursorInfo> create(const std::string& name, From from);
  base::Result<void> remove(const std::string& name);
  base::Result<std::vector<CursorInfo>> list();
  base::Result<CursorInfo> info(const std::string& name);

  // Events that were not acknowledged, the first ones. kEnded: they are beyond the horizon.
  base::Result<EventPage> read(const std::string& name, std::size_t most);

  // All events up to this one are done with; or this one, if it was replayed. kConflict: the cursor
  // is past it, or there is no such event yet.
  base::Result<void> acknowledge(const std::string& name, const EventId& id);

  // Only the first one that `read` gives. kUnavailable: the quarantine is full.
  base::Result<Rejected> reject(const std::string& name, const EventId& id,
                                const std::string& reason, std::uint64_t now_ns);

  // Gives a quarantined event out again.
  base::Result<void> replay(const std::string& name, const EventId& id);

  // Leaves out what was not read: the only way on for a cursor beyond the horizon.
  base::Result<CursorInfo> reset(const std::string& name, From from);

 private:
  struct Cursor {
    CursorState state = {};
    std::uint64_t scanned = 0;              // no event is between state.next and this record
    std::shared_ptr<const void> hold = {};  // of the records that were not read
  };

  CursorBook(std::unique_ptr<env::Disk> disk, std::string folder, Engine& engine)
      : disk_(std::move(disk)), folder_(std::move(folder)), engine_(engine) {}

  base::Result<Cursor*> find(const std::string& name);
  base::Result<void> save(const std::string& name, Cursor& cursor, CursorState state);
  base::Result<EventPage> scan(Cursor& cursor, std::size_t most);
  base::Result<EventId> start(From from);
  CursorInfo info_of(const std::string& name, const Cursor& cursor, const JournalPart& journal);
  std::string path_of(const std::string& name) const;

  const std::unique_ptr<env::Disk> disk_;
  const std::string folder_;
  Engine& engine_;
  std::mutex mutex_;
  std::map<std::string, Cursor> cursors_;
};

}  // namespace holdfast::cursors
