// SPDX-License-Identifier: Apache-2.0
#include "schedules/zone.h"

#include <gtest/gtest.h>

#include "schedules/testing_zones.h"

namespace holdfast::schedules {
namespace {

using testing::s_at;
using testing::text_of_s;
using testing::zone_bytes;
using testing::zone_named;

TEST(Zone, offsets_are_those_of_the_tz_database_in_the_past_and_far_ahead) {
  struct Row {
    const char* zone;
    const char* utc;
    std::int32_t offset;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
           {"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
           {"Europe/Berlin", "2026-10-25T00:59:59Z", 7200},
           {"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
           {"Europe/Berlin", "2300-07-01T00:00:00Z", 7200},
           {"Europe/Berlin", "2300-01-01T00:00:00Z", 3600},
           {"America/New_York", "2026-03-08T06:59:59Z", -18000},
           {"America/New_York", "2026-03-08T07:00:00Z", -14400},
           {"America/New_York", "2100-12-31T23:59:59Z", -18000},
           {"Australia/Sydney", "2060-01-01T00:00:00Z", 39600},  // summer spans New Year
           {"Australia/Sydney", "2060-06-01T00:00:00Z", 36000},
           {"Australia/Lord_Howe", "2060-01-01T00:00:00Z", 39600},  // by half an hour
           {"Australia/Lord_Howe", "2060-06-01T00:00:00Z", 37800},
           {"Asia/Kolkata", "2026-06-01T00:00:00Z", 19800},
           {"Pacific/Apia", "2011-12-30T09:59:59Z", -36000},
           {"Pacific/Apia", "2011-12-30T10:00:00Z", 50400},  // a whole day was left out
           {"Asia/Jerusalem", "2060-07-01T00:00:00Z", 10800},
           {"UTC", "2026-06-01T00:00:00Z", 0}}) {
    EXPECT_EQ(zone_named(row.zone).offset_at(s_at(row.utc)), row.offset)
        << row.zone << " " << row.utc;
  }
}

TEST(Zone, a_local_time_means_its_first_instant_or_the_change_that_left_it_out) {
  struct Row {
    const char* zone;
    const char* local;
    const char* utc;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Europe/Berlin", "2026-07-01T12:00:00Z", "2026-07-01T10:00:00Z"},
           {"Europe/Berlin", "2026-03-29T01:59:59Z", "2026-03-29T00:59:59Z"},
           {"Europe/Berlin", "2026-03-29T02:30:00Z", "2026-03-29T01:00:00Z"},  // never shown
           {"Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z"},
           {"Europe/Berlin", "2026-10-25T02:30:00Z", "2026-10-25T00:30:00Z"},  // shown twice
           {"Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z"},
           {"Pacific/Apia", "2011-12-30T12:00:00Z", "2011-12-30T10:00:00Z"},
           {"Pacific/Apia", "2011-12-31T00:00:00Z", "2011-12-30T10:00:00Z"},
           {"America/Sao_Paulo", "2060-07-01T12:00:00Z", "2060-07-01T15:00:00Z"}}) {
    EXPECT_EQ(text_of_s(zone_named(row.zone).instant_of(s_at(row.local))), row.utc)
        << row.zone << " " << row.local;
  }
}

TEST(Zone, a_file_that_is_cut_or_changed_is_refused_or_read_and_does_no_harm) {
  const base::Bytes good = zone_bytes("Europe/Berlin");
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(Zone::parse(base::ByteView(good).first(size))) << size;
  for (std::size_t at = 0; at < good.size(); ++at) {
    base::Bytes bad = good;
    bad[at] = static_cast<std::uint8_t>(bad[at] ^ 0xFF);
    if (const auto zone = Zone::parse(bad)) {
      static_cast<void>(zone->instant_of(s_at("2026-07-01T12:00:00Z")));
    }
  }
}

TEST(Zone, yearly_rules_have_the_forms_of_posix) {
  EXPECT_TRUE(YearlyRule::parse("CET-1CEST,M3.5.0,M10.5.0/3"));
  EXPECT_TRUE(YearlyRule::parse("<+03>-3"));
  EXPECT_TRUE(YearlyRule::parse("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"));
  EXPECT_TRUE(YearlyRule::parse("EST5EDT4,J60/2,300/26:30:15"));
  for (const char* text : {"", "CE-1", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0",
                           "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0x", "<+03-3"})
    EXPECT_FALSE(YearlyRule::parse(text)) << text;
}

TEST(Zone, a_name_is_not_a_path_to_elsewhere) {
  EXPECT_TRUE(is_zone_name("Europe/Berlin"));
  EXPECT_TRUE(is_zone_name("Etc/GMT+3"));
  for (const char* name :
       {"", "/etc/passwd", "../passwd", "Europe/../x", "Europe//Berlin", "a b", "Europe/", "x.y"})
    EXPECT_FALSE(is_zone_name(name)) << name;
}

}  // namespace
}  // namespace holdfast::schedules
