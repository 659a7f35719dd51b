// SPDX-License-Identifier: Apache-2.0
#include "worker/outbox.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

constexpr std::string_view kOutboxName = "holdfast outbox ";
constexpr std::string_view kOutboxHead = "holdfast outbox 1\n";

// Length of the body and CRC-32C of length and body, little-endian.
constexpr std::size_t kFrameHeadBytes = 8;
constexpr std::size_t kMaxDispatchBytes = 256;
constexpr std::size_t kMaxFrameBody = kMaxReportBytes + kMaxDispatchBytes + 8;

// A file that is smaller is not worth writing anew.
constexpr std::uint64_t kRewriteFrom = 16 * kMiB;
constexpr std::uint64_t kRewriteFactor = 4;

// More than held reports and the garbage among them can come to.
constexpr std::size_t kMaxOutboxFile = std::size_t{1} << 30;

enum class FrameKind : std::uint8_t { kPut = 1, kDrop = 2 };

std::uint32_t number_at(const std::uint8_t* at) {
  return std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
         std::uint32_t{at[3]} << 24;
}

void put_number(std::uint8_t* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Kind, length of the dispatch, dispatch, report.
void write_frame(codec::Buffer& out, FrameKind kind, std::string_view dispatch,
                 base::ByteView report) {
  CHECK(dispatch.size() <= kMaxDispatchBytes && report.size() <= kMaxReportBytes);
  const std::size_t begin = out.size();
  out.room(kFrameHeadBytes + 3 + dispatch.size() + report.size());
  out.advance(kFrameHeadBytes);
  out.push(static_cast<std::uint8_t>(kind));
  out.push(static_cast<std::uint8_t>(dispatch.size()));
  out.push(static_cast<std::uint8_t>(dispatch.size() >> 8));
  out.append(base::as_bytes(dispatch));
  out.append(report);
  std::uint8_t* const head = out.data() + begin;
  put_number(head, static_cast<std::uint32_t>(out.size() - begin - kFrameHeadBytes));
  const std::uint32_t of_length = base::crc32c({head, 4});
  put_number(head + 4, base::crc32c(out.view(begin + kFrameHeadBytes, out.size()), of_length));
}

struct Frame {
  FrameKind kind;
  std::string dispatch;
  base::ByteView report;
  std::size_t size;  // with its head
};

// Nothing: no whole frame begins here.
std::optional<Frame> frame_at(base::ByteView bytes) {
  if (bytes.size() < kFrameHeadBytes) return std::nullopt;
  const std::size_t length = number_at(bytes.data());
  if (length < 3 || length > kMaxFrameBody || length > bytes.size() - kFrameHeadBytes)
    return std::nullopt;
  const base::ByteView body = bytes.subspan(kFrameHeadBytes, length);
  if (base::crc32c(body, base::crc32c(bytes.first(4))) != number_at(bytes.data() + 4))
    return std::nullopt;
  const std::size_t name = std::size_t{body[1]} | std::size_t{body[2]} << 8;
  const auto kind = static_cast<FrameKind>(body[0]);
  if (name > body.size() - 3 || (kind != FrameKind::kPut && kind != FrameKind::kDrop))
    return std::nullopt;
  return Frame{kind, std::string(base::as_text(body.subspan(3, name))), body.subspan(3 + name),
               kFrameHeadBytes + length};
}

}  // namespace

base::Result<Outbox> Outbox::open(env::Disk& disk, std::string path) {
  Outbox outbox(disk, std::move(path));
  auto bytes = env::read_file(disk, outbox.path_, kMaxOutboxFile);
  if (bytes) {
    TRY(outbox.read(*bytes));
  } else if (bytes.error().code() != base::ErrorCode::kNotFound) {
    return std::move(bytes).error();
  }
  // What was read may be in memory only, and something unreadable may stand at the end.
  TRY(outbox.rewrite());
  return outbox;
}

base::Result<void> Outbox::read(base::ByteView bytes) {
  const std::string_view text = base::as_text(bytes);
  if (!text.starts_with(kOutboxHead)) {
    const bool is_newer = text.starts_with(kOutboxName);
    return base::invalid(path_, is_newer ? "was written by a newer version of holdfast: " +
                                               std::string(text.substr(0, text.find('\n')))
                                         : "is not an outbox");
  }
  bytes = bytes.subspan(kOutboxHead.size());
  while (const auto frame = frame_at(bytes)) {
    if (frame->kind == FrameKind::kPut) {
      put(frame->dispatch, {frame->report.begin(), frame->report.end()});
    } else {
      drop(frame->dispatch);
    }
    unwritten_.clear();
    bytes = bytes.subspan(frame->size);
  }
  recovered_ = {held_.size(), bytes.size()};
  return {};
}

void Outbox::forget(std::map<std::string, base::Bytes>::iterator held) {
  held_bytes_ -= held->second.size();
  held_.erase(held);
}

void Outbox::put(const std::string& dispatch, base::Bytes report) {
  if (const auto known = held_.find(dispatch); known != held_.end()) forget(known);
  if (!is_broken_) write_frame(unwritten_, FrameKind::kPut, dispatch, report);
  has_new_put_ = true;
  held_bytes_ += report.size();
  held_.emplace(dispatch, std::move(report));
}

void Outbox::drop(const std::string& dispatch) {
  const auto known = held_.find(dispatch);
  if (known == held_.end()) return;
  forget(known);
  if (!is_broken_) write_frame(unwritten_, FrameKind::kDrop, dispatch, {});
}

base::Result<void> Outbox::flush() {
  if (!has_unwritten()) return {};
  const std::uint64_t size = end_ + unwritten_.size();
  const bool is_mostly_garbage = size > kRewriteFrom && size > kRewriteFactor * held_bytes_;
  if (is_broken_ || is_mostly_garbage) return rewrite();
  return append();
}

base::Result<void> Outbox::append() {
  is_broken_ = true;  // until all of it has succeeded
  TRY(env::write_all(*file_, end_, unwritten_.view()));
  // A drop that is lost is made again: the receiver answers the same report the same way.
  if (has_new_put_) TRY(file_->sync_data());
  is_broken_ = false;
  has_new_put_ = false;
  end_ += unwritten_.size();
  unwritten_.clear();
  return {};
}

base::Result<void> Outbox::rewrite() {
  is_broken_ = true;
  unwritten_.clear();
  codec::Buffer out;
  out.append(base::as_bytes(kOutboxHead));
  for (const auto& [dispatch, report] : held_) write_frame(out, FrameKind::kPut, dispatch, report);
  file_.reset();
  TRY(env::replace_file(*disk_, path_, out.view()));
  file_ = TRY(disk_->open(path_, env::OpenMode::kReadWrite));
  end_ = out.size();
  has_new_put_ = false;
  is_broken_ = false;
  return {};
}

}  // namespace holdfast::work
