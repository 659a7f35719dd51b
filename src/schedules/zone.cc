// SPDX-License-Identifier: Apache-2.0
#include "schedules/zone.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::schedules {
namespace {

constexpr std::size_t kHeaderBytes = 44;
constexpr std::uint32_t kMostChanges = 10'000;
constexpr std::int32_t kMostOffset = 26 * 3600;  // seconds; RFC 8536 asks for less than 26 hours

base::Error bad_file(const char* why) {
  return {base::ErrorCode::kInvalid, "the time zone file is not good: " + std::string(why)};
}

// Big-endian integers at a place in the file. Asking past the end gives zeros and is remembered.
class ZoneFile {
 public:
  explicit ZoneFile(base::ByteView bytes) : bytes_(bytes) {}

  std::size_t place() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  void skip(std::size_t count) { at_ += std::min(count, left()); }
  base::ByteView take(std::size_t count) {
    if (count > left()) {
      is_short_ = true;
      return {};
    }
    const base::ByteView found = bytes_.subspan(at_, count);
    at_ += count;
    return found;
  }
  std::uint8_t byte() {
    const base::ByteView found = take(1);
    return found.empty() ? std::uint8_t{0} : found[0];
  }
  std::uint32_t nat32() { return static_cast<std::uint32_t>(number(4)); }
  std::int32_t int32() { return static_cast<std::int32_t>(nat32()); }
  std::int64_t int64() { return static_cast<std::int64_t>(number(8)); }
  bool is_short() const { return is_short_; }

 private:
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(count)) value = value << 8 | byte;
    return value;
  }

  base::ByteView bytes_;
  std::size_t at_ = 0;
  bool is_short_ = false;
};

struct ZoneHeader {
  std::uint8_t version = 0;
  std::uint32_t utc_marks = 0;
  std::uint32_t standard_marks = 0;
  std::uint32_t leaps = 0;
  std::uint32_t changes = 0;
  std::uint32_t kinds = 0;
  std::uint32_t letters = 0;

  std::size_t body_bytes(std::size_t time_bytes) const {
    return std::size_t{changes} * (time_bytes + 1) + std::size_t{kinds} * 6 + letters +
           std::size_t{leaps} * (time_bytes + 4) + standard_marks + utc_marks;
  }
};

std::optional<ZoneHeader> header_in(ZoneFile& file) {
  if (file.left() < kHeaderBytes || base::as_text(file.take(4)) != "TZif") return std::nullopt;
  ZoneHeader header;
  header.version = file.byte();
  file.skip(15);
  header.utc_marks = file.nat32();
  header.standard_marks = file.nat32();
  header.leaps = file.nat32();
  header.changes = file.nat32();
  header.kinds = file.nat32();
  header.letters = file.nat32();
  const bool is_sane = header.changes <= kMostChanges && header.kinds >= 1 && header.kinds <= 256;
  return is_sane ? std::optional(header) : std::nullopt;
}

}  // namespace

base::Result<Zone> Zone::parse(base::ByteView tzif) {
  ZoneFile file(tzif);
  auto header = header_in(file);
  if (!header) return bad_file("its header");
  std::size_t time_bytes = 4;
  if (header->version >= '2') {  // the same again follows, with longer times
    file.skip(header->body_bytes(4));
    header = header_in(file);
    if (!header) return bad_file("its second header");
    time_bytes = 8;
  }
  if (file.left() < header->body_bytes(time_bytes)) return bad_file("it is cut off");
  const std::size_t end = file.place() + header->body_bytes(time_bytes);

  Zone zone;
  for (std::uint32_t i = 0; i < header->changes; ++i)
    zone.changes_.push_back({time_bytes == 8 ? file.int64() : file.int32(), 0});
  const base::ByteView kinds = file.take(header->changes);
  std::vector<std::int32_t> offsets;
  for (std::uint32_t i = 0; i < header->kinds; ++i) {
    offsets.push_back(file.int32());
    file.skip(2);
  }
  if (file.is_short()) return bad_file("it is cut off");
  for (const std::int32_t offset : offsets) {
    if (offset < -kMostOffset || offset > kMostOffset) return bad_file("an offset is too large");
  }
  zone.first_offset_ = offsets.front();
  for (std::size_t i = 0; i < zone.changes_.size(); ++i) {
    if (kinds[i] >= offsets.size()) return bad_file("a change names no offset");
    zone.changes_[i].offset = offsets[kinds[i]];
    if (i > 0 && zone.changes_[i].at <= zone.changes_[i - 1].at)
      return bad_file("its changes are not in order");
  }
  if (time_bytes == 4) return zone;
  file.skip(end - file.place());
  std::string_view footer = base::as_text(file.take(file.left()));
  if (footer.size() < 2 || footer.front() != '\n' || footer.back() != '\n')
    return bad_file("its last line");
  footer = footer.substr(1, footer.size() - 2);
  if (footer.empty()) return zone;
  zone.rule_ = YearlyRule::parse(footer);
  if (!zone.rule_) return bad_file("the rule in its last line");
  return zone;
}

std::int32_t Zone::offset_at(std::int64_t utc) const {
  if (rule_ && (changes_.empty() || utc >= changes_.back().at)) return rule_->offset_at(utc);
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), utc,
                                      [](std::int64_t at, const Change& c) { return at < c.at; });
  return after == changes_.begin() ? first_offset_ : std::prev(after)->offset;
}

std::int64_t Zone::change_after(std::int64_t utc) const {
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), utc,
                                      [](std::int64_t at, const Change& c) { return at < c.at; });
  if (after != changes_.end()) return after->at;
  return rule_ ? rule_->change_after(utc) : std::numeric_limits<std::int64_t>::max();
}

std::int64_t Zone::instant_of(std::int64_t local) const {
  // No offset is larger than this, so the offsets that may hold are those around it.
  const std::int64_t from = local - kMostOffset;
  const std::int64_t until = local + kMostOffset;
  std::int64_t begins = from;
  for (;;) {
    const std::int64_t ends = change_after(begins);
    const std::int64_t instant = local - offset_at(begins);
    // Before the stretch begins: a change passed over this local time.
    if (instant < begins) return begins;
    if (instant < ends) return instant;
    if (ends > until) return instant;
    begins = ends;
  }
}

bool is_zone_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '/' || name.back() == '/') return false;
  char before = '/';
  for (const char c : name) {
    const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-' || c == '/';
    if (!is_good || (c == '/' && before == '/')) return false;
    before = c;
  }
  return true;
}

}  // namespace holdfast::schedules
