// SPDX-License-Identifier: Apache-2.0
#include "workers/log_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/crc32c.h"
#include "env/quiet_thread.h"

namespace holdfast::workers {
namespace {

constexpr std::size_t kFrameHead = 8;
constexpr std::string_view kSuffix = ".log";

// A whole report: as many lines as a request may bring, with what stands around them.
constexpr std::size_t kMostReportBytes = kMaxLogLines * (kMaxLogLineBytes + 64) + 1024;

template <class Number>
void put_fixed(base::Bytes& out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put_sized(base::Bytes& out, std::string_view text) {
  put_fixed(out, static_cast<std::uint32_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
}

void put_frame(base::Bytes& out, const LogReportOfTask& report) {
  const std::size_t begin = out.size();
  out.resize(begin + kFrameHead);
  put_sized(out, report.task);
  put_fixed(out, report.dispatch);
  put_fixed(out, report.attempt);
  put_fixed(out, report.from);
  put_fixed(out, static_cast<std::uint32_t>(report.lines.size()));
  for (const LogLine& line : report.lines) {
    put_fixed(out, line.time_ns);
    out.push_back(line.is_error ? 1 : 0);
    put_sized(out, line.text);
  }
  base::Bytes head;
  const auto length = static_cast<std::uint32_t>(out.size() - begin - kFrameHead);
  put_fixed(head, length);
  put_fixed(head, base::crc32c(base::ByteView(out).subspan(begin + kFrameHead)));
  std::ranges::copy(head, out.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Reads front to back; after an error everything is zero or empty.
class FixedReader {
 public:
  explicit FixedReader(base::ByteView bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    if (rest_.size() < sizeof(Number)) return fail(), Number{0};
    Number value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      value = static_cast<Number>(value | static_cast<Number>(rest_[i]) << (8 * i));
    rest_ = rest_.subspan(sizeof(Number));
    return value;
  }

  std::string text() {
    const auto size = number<std::uint32_t>();
    if (size > rest_.size()) return fail(), std::string();
    std::string made(rest_.begin(), rest_.begin() + size);
    rest_ = rest_.subspan(size);
    return made;
  }

  bool is_good() const noexcept { return is_good_; }
  bool empty() const noexcept { return rest_.empty(); }
  std::size_t left() const noexcept { return rest_.size(); }

 private:
  void fail() {
    is_good_ = false;
    rest_ = {};
  }

  base::ByteView rest_;
  bool is_good_ = true;
};

std::optional<LogReportOfTask> read_report(base::ByteView body) {
  FixedReader reader(body);
  LogReportOfTask report;
  report.task = reader.text();
  report.dispatch = reader.number<std::uint64_t>();
  report.attempt = reader.number<std::uint64_t>();
  report.from = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && reader.is_good(); ++i) {
    LogLine line;
    line.time_ns = reader.number<std::uint64_t>();
    line.is_error = reader.number<std::uint8_t>() != 0;
    line.text = reader.text();
    report.lines.push_back(std::move(line));
  }
  if (!reader.is_good() || !reader.empty()) return std::nullopt;
  return report;
}

// Visits the frames that are whole; where they end.
std::size_t read_frames(base::ByteView bytes, const LogFile::Visit& visit) {
  std::size_t at = 0;
  while (bytes.size() - at >= kFrameHead) {
    FixedReader head(bytes.subspan(at, kFrameHead));
    const auto length = head.number<std::uint32_t>();
    const auto crc = head.number<std::uint32_t>();
    if (length > bytes.size() - at - kFrameHead) break;
    const base::ByteView body = bytes.subspan(at + kFrameHead, length);
    if (base::crc32c(body) != crc) break;
    const auto report = read_report(body);
    if (!report) break;
    visit(*report);
    at += kFrameHead + length;
  }
  return at;
}

// The number in "00000012.log". Nothing: it is another file.
std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  std::uint64_t number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string LogFile::path_of(std::uint64_t segment) const {
  std::string digits = std::to_string(segment);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return folder_ + "/" + digits + std::string(kSuffix);
}

base::Result<std::unique_ptr<LogFile>> LogFile::open(std::unique_ptr<env::Disk> disk,
                                                     std::string folder, LogFileLimits limits,
                                                     const Visit& visit) {
  std::unique_ptr<LogFile> file(new LogFile(std::move(disk), std::move(folder), limits));
  TRY(file->disk_->make_directory(file->folder_));
  TRY(file->read_segments(visit));
  file->thread_ = env::quiet_thread([self = file.get()] { self->loop(); });
  return file;
}

base::Result<void> LogFile::read_segments(const Visit& visit) {
  for (const std::string& name : TRY(disk_->list(folder_)))
    if (const auto number = segment_number(name)) segments_.push_back(*number);
  std::ranges::sort(segments_);
  // What was queued last goes over the size of a segment.
  const std::size_t most = limits_.segment_bytes + limits_.queue_bytes + kMostReportBytes;
  for (const std::uint64_t segment : segments_) {
    const auto bytes = env::read_file(*disk_, path_of(segment), most);
    // One that cannot be read is as good as gone; the others are not.
    size_ = bytes ? read_frames(*bytes, visit) : limits_.segment_bytes;
  }
  if (segments_.empty() || size_ >= limits_.segment_bytes) return {};
  auto opened = disk_->open(path_of(segments_.back()), env::OpenMode::kReadWrite);
  if (!opened) return {};
  // What is not whole would hide what is written after it.
  if (!(*opened)->truncate(size_)) return {};
  file_ = std::move(*opened);
  return {};
}

LogFile::~LogFile() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void LogFile::append(const LogReportOfTask& report) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() > limits_.queue_bytes) {
    ++dropped_;
    return;
  }
  put_frame(queue_, report);
  ++queued_;
  changed_.notify_one();
}

std::uint64_t LogFile::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void LogFile::loop() {
  for (;;) {
    base::Bytes bytes;
    std::uint64_t reports = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      bytes = std::exchange(queue_, {});
      reports = std::exchange(queued_, 0);
    }
    if (write(bytes)) continue;
    file_.reset();  // the next ones begin a segment of their own
    const std::lock_guard lock(mutex_);
    dropped_ += reports;
  }
}

base::Result<void> LogFile::write(base::ByteView bytes) {
  if (!file_ || size_ >= limits_.segment_bytes) TRY(begin_segment());
  TRY(env::write_all(*file_, size_, bytes));
  size_ += bytes.size();
  return {};
}

base::Result<void> LogFile::begin_segment() {
  file_.reset();
  const std::uint64_t next = segments_.empty() ? 1 : segments_.back() + 1;
  // Room first, so that a full disk gets some back.
  while (segments_.size() >= limits_.segments) {
    auto removed = disk_->remove(path_of(segments_.front()));
    if (!removed && removed.error().code() != base::ErrorCode::kNotFound)
      return std::move(removed).error();
    segments_.erase(segments_.begin());
  }
  file_ = TRY(disk_->open(path_of(next), env::OpenMode::kCreate));
  segments_.push_back(next);
  size_ = 0;
  return {};
}

}  // namespace holdfast::workers
