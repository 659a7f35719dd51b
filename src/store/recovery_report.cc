// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "store/file_journal.h"

namespace holdfast::store {
namespace {

std::string count_of(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string describe_torn(const RecoveryReport::TornTail& torn) {
  std::string text = "cut " + count_of(torn.bytes, "torn byte") + " off " + torn.segment + " at " +
                     std::to_string(torn.offset);
  text += torn.kept_in.empty() ? ", no space for a copy, they stay in the file"
                               : ", copy in " + torn.kept_in;
  if (torn.older_removed != 0)
    text += ", removed " + count_of(torn.older_removed, "older copy file");
  return text;
}

}  // namespace

std::string describe(const RecoveryReport& report) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!report.was_clean)
    add("journal was not closed: copied " + count_of(report.copied_records, "record") + " (" +
        count_of(report.copied_bytes, "byte") + ") into a new segment");
  if (report.torn) add(describe_torn(*report.torn));
  for (const std::string& path : report.unusable_spares)
    add("spare segment " + path + " cannot be used; it holds nothing");
  return text.empty() ? text : "recovery: " + text;
}

}  // namespace holdfast::store
