// SPDX-License-Identifier: Apache-2.0
// A world whose files were changed at will, also with checksums that fit: opening and reading
// answer or refuse, and what was opened can be written to and opened again.
//
// The input is a list of changes, each one byte of kind, one of file, two of place, one of length
// and then the bytes.
#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"
#include "env/process.h"
#include "env/random.h"
#include "env/sim_disk.h"
#include "store/file_journal.h"
#include "store/little_endian.h"

namespace {

using namespace holdfast;
using namespace holdfast::store;

constexpr JournalOptions kSmall = {.segment_bytes = 6 * kBlockBytes};

struct Open {
  WorldFolder folder;
  OpenedJournal opened;
};

base::Result<std::unique_ptr<Open>> open_world(env::SimDisk& disk) {
  static const auto process = env::posix_process();
  static const auto random = env::seeded_random(1);
  auto open =
      std::make_unique<Open>(Open{TRY(WorldFolder::open(disk, *random, *process, "./w")), {}});
  open->opened = TRY(open_file_journal(open->folder, kSmall));
  return open;
}

bool commit(Journal& journal, std::size_t bytes) {
  const base::Bytes record(bytes, 'r');
  const std::vector<base::ByteView> records = {record, record};
  return journal.append(records) && journal.sync();
}

const env::DiskState& small_world() {
  static const env::DiskState kState = [] {
    env::SimDisk disk;
    for (int opening = 0; opening < 2; ++opening) {
      const auto open = *open_world(disk);
      for (int i = 0; i < 5; ++i) CHECK(commit(*open->opened.journal, 700));
      if (opening == 0) CHECK(open->opened.journal->close());
    }
    return disk.now();
  }();
  return kState;
}

std::uint32_t number_at(base::ByteView file, std::size_t at) {
  std::uint32_t number = 0;
  FieldReader(file.subspan(at, 4)).number(number);
  return number;
}

void set_number(base::Bytes& file, std::size_t at, std::uint32_t number) {
  FieldWriter(std::span(file).subspan(at, 4)).number(number);
}

// Makes the checksums of the header in this block right again: of the segment, or of a batch.
void seal(base::Bytes& file, std::size_t block) {
  const std::size_t at = block * kBlockBytes;
  if (at + kBlockBytes > file.size()) return;
  const base::ByteView bytes = file;
  if (block == 0) {
    set_number(file, 8, base::crc32c(bytes.subspan(12, kBlockBytes - 12)));
    return;
  }
  const std::uint32_t length = number_at(bytes, at + 8);
  if (length >= kBatchHeaderBytes && length <= file.size() - at) {
    set_number(file, at + 16,
               base::crc32c(bytes.subspan(at + kBatchHeaderBytes, length - kBatchHeaderBytes)));
  }
  set_number(file, at + 4,
             base::crc32c(bytes.subspan(at + 8, kBatchHeaderBytes - 8), number_at(bytes, 8)));
}

void change(env::DiskState& state, base::ByteView& input) {
  const unsigned kind = input[0] % 8;
  auto file = state.files.begin();
  std::advance(file, input[1] % state.files.size());
  const std::size_t place = std::size_t{input[2]} | std::size_t{input[3]} << 8;
  const std::size_t length = std::min<std::size_t>(input[4], input.size() - 5);
  const base::ByteView bytes = input.subspan(5, length);
  input = input.subspan(5 + length);
  base::Bytes& contents = file->second;
  if (kind == 0) {
    contents.resize(std::min(place, contents.size()));
  } else if (kind <= 3) {
    seal(contents, place % 8);
  } else if (place < contents.size()) {
    std::copy_n(bytes.begin(), std::min(length, contents.size() - place),
                contents.begin() + static_cast<std::ptrdiff_t>(place));
  }
}

// Whether all of it could be read.
bool read_all(Journal& journal) {
  const auto reader = journal.read(journal.first());
  CHECK(reader.has_value());
  for (;;) {
    const auto record = (*reader)->next();
    if (!record) {
      CHECK(record.error().code() == base::ErrorCode::kCorrupt);
      return false;
    }
    if (!record->has_value()) break;
  }
  CHECK((*reader)->cursor() == journal.durable() + 1);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  env::DiskState state = small_world();
  base::ByteView input(data, size);
  while (input.size() >= 5) change(state, input);
  env::SimDisk disk(std::move(state));
  RecordNumber last = 0;
  bool was_whole = false;
  {
    const auto open = open_world(disk);
    if (!open) return 0;
    Journal& journal = *(*open)->opened.journal;
    was_whole = read_all(journal);
    last = journal.durable();
    // No journal gets there by itself.
    if (std::max(last, journal.epoch()) > std::uint64_t{1} << 60) return 0;
    CHECK(commit(journal, 3000));
  }
  const auto again = open_world(disk);
  CHECK(again.has_value());
  CHECK((*again)->opened.journal->durable() == last + 2);
  CHECK(read_all(*(*again)->opened.journal) == was_whole);
  return 0;
}
