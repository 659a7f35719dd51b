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
  if (line.event != SwapEvent::kLogSetAside) integer("start_ns", line.who.start_ns);
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

// A log that can be used, and where its next line goes.
struct OpenLog {
  std::unique_ptr<env::File> file;
  std::uint64_t size;
};

base::Result<OpenLog> open_log(const Site& site) {
  TRY(put_aside_when_large(site));
  auto file = TRY(open_or_make(site));
  const std::uint64_t size = TRY(whole_lines(*file));
  return OpenLog{std::move(file), size};
}

base::Result<void> write_line(const Site& site, OpenLog log, const LogLine& line) {
  if (log.size < TRY(log.file->size())) TRY(log.file->truncate(log.size));
  TRY(env::write_all(*log.file, log.size, base::as_bytes(text_of(site, line))));
  return log.file->sync_data();
}

bool is_broken(const base::Error& error) { return error.code() != base::ErrorCode::kUnavailable; }

// Under the first name that is free. The line about it opens the new log.
base::Result<void> set_aside(const Site& site, const base::Error& why) {
  env::Disk& disk = site.host.disk;
  const std::vector<std::string> names = TRY(disk.list(site.place.folder));
  const auto is_there = [&](const std::string& path) {
    return std::find(names.begin(), names.end(), path.substr(site.place.folder.size() + 1)) !=
           names.end();
  };
  if (!is_there(site.place.log()))  // it could not be made
    return base::Error(why.code(), std::string(why.where()), std::string(why.message()));
  for (std::size_t number = 1; number <= kMostBrokenLogs; ++number) {
    const std::string place = site.place.broken_log(number);
    if (is_there(place)) continue;
    TRY(disk.rename(site.place.log(), place));
    LogLine line{.event = SwapEvent::kLogSetAside};
    line.who.pid = site.host.process.id();
    line.reason = why.to_string() + "; it is " + place + " now";
    return write_line(site, TRY(open_log(site)), line);
  }
  return base::Error(base::ErrorCode::kIo, site.place.log(),
                     why.message() + "; and " + std::to_string(kMostBrokenLogs) +
                         " logs have been set aside already");
}

base::Result<void> append_line(const Site& site, const LogLine& line) {
  auto log = open_log(site);
  if (!log && is_broken(log.error())) {
    TRY(set_aside(site, log.error()));
    log = open_log(site);
  }
  return write_line(site, TRY(std::move(log)), line);
}

base::Result<void> append_line_or_begin_anew(const Site& site, const LogLine& line) {
  auto written = append_line(site, line);
  if (written || !is_broken(written.error())) return written;
  TRY(set_aside(site, written.error()));
  return append_line(site, line);
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
    case SwapEvent::kLogSetAside: return "log_set_aside";
  }
  return "unknown";
}

base::Result<void> append(const Site& site, const LogLine& line) {
  return not_busy(append_line(site, line));
}

base::Result<void> append_or_begin_anew(const Site& site, const LogLine& line) {
  return not_busy(append_line_or_begin_anew(site, line));
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
