// SPDX-License-Identifier: Apache-2.0
// The journal beside what the operating system does with the same bytes, in the same loop, so that
// a noisy machine is noisy for both. `ratio` is how much of the raw speed the journal reaches.
// HOLDFAST_BENCH_FOLDER names the folder to write in; the temporary folder else.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "env/posix_disk.h"
#include "env/process.h"
#include "env/random.h"
#include "folder.h"
#include "store/file_journal.h"
#include "store/journal_format.h"

namespace {

using namespace holdfast;
using namespace holdfast::store;
using bench::Folder;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRecordBytes = 200;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

struct World {
  std::unique_ptr<env::Disk> disk = env::posix_disk();
  std::unique_ptr<env::Random> random = env::posix_random();
  std::unique_ptr<env::Process> process = env::posix_process();
  WorldFolder folder;
  OpenedJournal opened;

  explicit World(const std::string& path)
      : folder(WorldFolder::open(*disk, *random, *process, path).take()),
        opened(open_file_journal(folder).take()) {}
  Journal& journal() { return *opened.journal; }
};

// A file of zeros that were written and synced.
std::unique_ptr<env::File> zeros(env::Disk& disk, const std::string& path, std::size_t bytes) {
  auto file = disk.open(path, env::OpenMode::kCreate).take();
  const base::Bytes chunk(kChunkBytes);
  for (std::size_t at = 0; at < bytes; at += chunk.size()) env::write_all(*file, at, chunk).take();
  file->sync_data().take();
  return file;
}

// So many records that the batch has this many bytes, header and all.
std::vector<base::ByteView> records_for(std::size_t batch_bytes, const base::Bytes& record) {
  const std::size_t each = kRecordLengthBytes + record.size();
  const std::size_t count = (batch_bytes - kBatchHeaderBytes) / each;
  return std::vector<base::ByteView>(count, record);
}

double median(std::vector<double>& values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class Work>
double timed_us(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// pwrite + fdatasync over bytes that were written before, against append + sync.
void append_beside_raw(benchmark::State& state) {
  const auto batch_bytes = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kRawFileBytes = std::size_t{64} << 20;
  const Folder folder;
  World world(folder.path() + "/world");
  const auto raw = zeros(*world.disk, folder.path() + "/raw", kRawFileBytes);
  const base::Bytes record(kRecordBytes, 0x5a);
  const auto records = records_for(batch_bytes, record);
  const base::Bytes bytes(batch_bytes, 0x5a);
  std::vector<double> raw_us;
  std::vector<double> journal_us;
  std::size_t at = 0;
  for (auto _ : state) {
    raw_us.push_back(timed_us([&] {
      env::write_all(*raw, at, bytes).take();
      raw->sync_data().take();
    }));
    at = (at + batch_bytes) % kRawFileBytes;
    journal_us.push_back(timed_us([&] {
      world.journal().append(records).take();
      world.journal().sync().take();
    }));
    // What a node does in another thread.
    world.journal().prepare().take();
    world.journal().trim(world.journal().durable()).take();
  }
  double raw_sum = 0;
  double journal_sum = 0;
  for (const double us : raw_us) raw_sum += us;
  for (const double us : journal_us) journal_sum += us;
  state.counters["records"] = static_cast<double>(records.size());
  state.counters["raw_us"] = median(raw_us);
  state.counters["journal_us"] = median(journal_us);
  state.counters["ratio"] = median(raw_us) / median(journal_us);
  state.counters["ratio_of_sums"] = raw_sum / journal_sum;
}
BENCHMARK(append_beside_raw)->Arg(4096)->Arg(16384)->Arg(65536)->Arg(262144)->Iterations(3000);

// Reading a file from the page cache with a CRC32C over it, against reading the records of a
// journal.
void read_beside_raw(benchmark::State& state) {
  const auto batch_bytes = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kJournalBytes = std::size_t{128} << 20;
  const Folder folder;
  World world(folder.path() + "/world");
  const base::Bytes record(kRecordBytes, 0x5a);
  const auto records = records_for(batch_bytes, record);
  for (std::size_t at = 0; at < kJournalBytes; at += batch_bytes) {
    world.journal().append(records).take();
    world.journal().sync().take();
  }
  const auto raw = zeros(*world.disk, folder.path() + "/raw", kJournalBytes);
  base::Bytes chunk(kChunkBytes);
  std::vector<double> raw_us;
  std::vector<double> journal_us;
  for (auto _ : state) {
    raw_us.push_back(timed_us([&] {
      std::uint32_t crc = 0;
      for (std::size_t at = 0; at < kJournalBytes; at += chunk.size()) {
        env::read_all(*raw, at, chunk).take();
        crc = base::crc32c(chunk, crc);
      }
      benchmark::DoNotOptimize(crc);
    }));
    journal_us.push_back(timed_us([&] {
      const auto reader = world.journal().read(1).take();
      std::size_t bytes = 0;
      while (const auto next = reader->next().take()) bytes += next->bytes.size();
      benchmark::DoNotOptimize(bytes);
    }));
  }
  const double raw_median = median(raw_us);
  const double journal_median = median(journal_us);
  state.counters["raw_MB_s"] = static_cast<double>(kJournalBytes) / raw_median;
  state.counters["journal_MB_s"] = static_cast<double>(kJournalBytes) / journal_median;
  state.counters["ratio"] = raw_median / journal_median;
}
BENCHMARK(read_beside_raw)->Arg(4096)->Arg(65536)->Arg(262144)->Iterations(15);

// A world that is not there yet.
void open_new_world(benchmark::State& state) {
  const Folder folder;
  int number = 0;
  for (auto _ : state) World(folder.path() + "/world" + std::to_string(number++));
}
BENCHMARK(open_new_world)->Unit(benchmark::kMillisecond)->Iterations(50);

// A world whose process died after some batches, so that the last one is written again.
void open_after_death(benchmark::State& state) {
  const Folder folder;
  const base::Bytes record(kRecordBytes, 0x5a);
  const auto records = records_for(65536, record);
  for (auto _ : state) {
    World world(folder.path() + "/world");
    state.PauseTiming();
    for (int i = 0; i < 10; ++i) {
      world.journal().append(records).take();
      world.journal().sync().take();
    }
    world.journal().trim(world.journal().durable()).take();
    state.ResumeTiming();
  }
}
BENCHMARK(open_after_death)->Unit(benchmark::kMillisecond)->Iterations(50);

}  // namespace
