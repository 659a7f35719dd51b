// SPDX-License-Identifier: Apache-2.0
#include "registry/swap_log.h"

#include <algorithm>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "registry/not_busy.h"
#include "registry/utc.h"

namespace holdfast::registry {
namespace {

// Enough for what can have been written since a marker was made: names of workflows are bounded.
constexpr std::uint64_t kTailBytes = std::uint64_t{256} << 10;
constexpr std::size_t kMostNamedPerLine = 100;

std::string text_of(const Site& site, const LogLine& line) {
  codec::Buffer out;
  std::size_t members = 0;
  const auto text = [&](const char* name, std::string_view value) {
    ++members;
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  const auto integer = [&](const char* name, std::int64_t value) {
    ++members;
    codec::write_text(out, name);
    codec::write_int(out, value);
  };
  text("event", to_string(line.event));
  text("time", to_utc(site.host.clock.wall_ns()));
  if (!line.recipe.empty()) text("recipe", line.recipe);
  if (!line.who.nonce.empty()) text("swap_id", line.who.nonce);
  integer("pid", line.who.pid);
  integer("start_ns", line.who.start_ns);
  if (!line.reason.empty()) text("reason", codec::printable(line.reason, kMaxReason));
  if (!line.workflows.empty()) {
    ++members;
    const std::size_t named = std::min(line.workflows.size(), kMostNamedPerLine);
    codec::write_text(out, "workflows");
    codec::write_list_head(out, named);
    for (std::size_t i = 0; i < named; ++i) codec::write_text(out, line.workflows[i]);
    integer("workflow_count", static_cast<std::int64_t>(line.workflows.size()));
  }
  codec::Buffer whole;
  codec::write_map_head(whole, members);
  whole.append(out.view());
  return codec::to_json(codec::View::of(whole.view())) + "\n";
}

base::Result<std::unique_ptr<env::File>> open_or_make(const Site& site) {
  env::Disk& disk = site.host.disk;
  auto file = disk.open(site.place.log(), env::OpenMode::kReadWrite);
  if (file || file.error().code() != base::ErrorCode::kNotFound) return file;
  auto made = TRY(disk.open(site.place.log(), env::OpenMode::kCreate));
  TRY(disk.sync_directory(site.place.folder));
  return made;
}

base::Result<void> put_aside_when_large(const Site& site) {
  env::Disk& disk = site.host.disk;
  const auto file = disk.open(site.place.log(), env::OpenMode::kRead);
  if (!file || TRY((*file)->size()) < kMaxLogBytes) return {};
  return disk.rename(site.place.log(), site.place.older_log());
}

base::Result<std::string> tail_of(const env::File& file) {
  const std::uint64_t size = TRY(file.size());
  const std::uint64_t begin = size - std::min(size, kTailBytes);
  std::string tail(size - begin, '\0');
  TRY(env::read_all(file, begin, {reinterpret_cast<std::uint8_t*>(tail.data()), tail.size()}));
  return tail;
}

// How many bytes of it are whole lines. No line is longer than what is read here.
base::Result<std::uint64_t> whole_lines(const env::File& file) {
  const std::uint64_t size = TRY(file.size());
  const std::string tail = TRY(tail_of(file));
  const std::size_t end = tail.rfind('\n');
  return size - tail.size() + (end == std::string::npos ? 0 : end + 1);
}

base::Result<void> append_line(const Site& site, const LogLine& line) {
  TRY(put_aside_when_large(site));
  const auto file = TRY(open_or_make(site));
  const std::uint64_t size = TRY(whole_lines(*file));
  if (size < TRY(file->size())) TRY(file->truncate(size));
  TRY(env::write_all(*file, size, base::as_bytes(text_of(site, line))));
  return file->sync_data();
}

}  // namespace

std::string_view to_string(SwapEvent event) {
  switch (event) {
    case SwapEvent::kBegun: return "swap_begun";
    case SwapEvent::kRefused: return "swap_refused";
    case SwapEvent::kFinished: return "swap_finished";
    case SwapEvent::kAborted: return "swap_aborted";
    case SwapEvent::kOrphanCleared: return "orphan_marker_cleared";
    case SwapEvent::kPreemptRequested: return "preempt_requested";
  }
  return "unknown";
}

base::Result<void> append(const Site& site, const LogLine& line) {
  return not_busy(append_line(site, line));
}

base::Result<bool> is_logged(const Site& site, SwapEvent event, std::string_view swap_id) {
  const auto file = not_busy(site.host.disk.open(site.place.log(), env::OpenMode::kRead));
  if (!file) {
    if (file.error().code() == base::ErrorCode::kNotFound) return false;
    return base::Error(file.error().code(), file.error().where(), file.error().message());
  }
  const std::string tail = TRY(tail_of(**file));
  const std::string begin = "{\"event\":\"" + std::string(to_string(event)) + "\",";
  const std::string id = "\"swap_id\":\"" + std::string(swap_id) + "\"";
  std::string_view rest = tail;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    // A line without an end was cut short: it does not count, and will be written again.
    if (end == std::string_view::npos) break;
    const std::string_view each = rest.substr(0, end);
    if (each.starts_with(begin) && each.find(id) != std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace holdfast::registry
