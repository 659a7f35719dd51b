// SPDX-License-Identifier: Apache-2.0
#include "flows/values.h"

#include <algorithm>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"

namespace holdfast::flows {
namespace {

using codec::View;
using codec::ViewKind;

// "0", "-0.00", "0e5": what a number that is zero looks like as a text.
bool is_zero_text(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const std::string_view digits = text.substr(0, text.find_first_of("eE"));
  return digits.find('0') != std::string_view::npos &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0' || c == '.'; });
}

bool is_true_text(std::string_view text) {
  return !text.empty() && text != "false" && text != "f" && text != "no" && !is_zero_text(text);
}

}  // namespace

bool is_rowset(View value) noexcept {
  if (value.kind() != ViewKind::kMap) return false;
  const auto rows = value.find("rows");
  const auto columns = value.find("columns");
  return rows && rows->kind() == ViewKind::kList && columns && columns->kind() == ViewKind::kList &&
         value.find("row_count");
}

std::optional<View> first_row_column(View rowset, std::string_view column) {
  for (const View row : rowset.find("rows")->elements()) {
    if (!column.empty()) return row.find(column);
    for (const View first : rowset.find("columns")->elements())
      return row.find(first.text().value_or(""));
    return std::nullopt;
  }
  return std::nullopt;
}

bool is_true(View value) {
  if (is_rowset(value)) {
    const auto found = first_row_column(value);
    return found && is_true(*found);
  }
  switch (value.kind()) {
    case ViewKind::kNull: return false;
    case ViewKind::kBool: return value.boolean().value_or(false);
    case ViewKind::kInt:
    case ViewKind::kFloat: return value.real().value_or(1) != 0;
    case ViewKind::kText: return is_true_text(value.text().value_or(""));
    default: return true;
  }
}

base::Bytes row_of(View rowset, View row) {
  codec::Buffer out;
  codec::write_map_head(out, 3);  // in canonical order
  codec::write_text(out, "rows");
  codec::write_list_head(out, 1);
  out.append(row.encoded());
  codec::write_text(out, "columns");
  out.append(rowset.find("columns")->encoded());
  codec::write_text(out, "row_count");
  codec::write_nat(out, 1);
  return out.to_bytes();
}

}  // namespace holdfast::flows
