// SPDX-License-Identifier: Apache-2.0
// Substitution: what the texts of a flow say in place of {variables} and $results.
//
//   {name}     the variable, as it is; a name that is not known stays
//   $name      first column of the first row
//   $name.col  this column of the first row, or a field of a value that is no rowset
//   $name.*    all rows, as something that stands after FROM
//   ...?       NULL where there is no row, or the value is NULL; without it that is an error
//
// In SQL values are quoted. Literals, quoted names, comments and $$ texts are left as they are: a
// value that stood inside of quotes could end them. What is not quoted there, as in an address, is
// the affair of whoever wrote the flow.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/view.h"
#include "flows/program.h"

namespace holdfast::flows {

inline constexpr std::size_t kMaxRowsSubstituted = 10'000;
inline constexpr std::size_t kMaxTextBytes = std::size_t{512} << 10;

// Nothing: no such result.
using FindResult = std::function<std::optional<codec::View>(std::string_view name)>;
using FindVariable = std::function<std::optional<std::string_view>(std::string_view name)>;

enum class Quoting : std::uint8_t { kSql, kRaw };

// kInvalid: a value is not there. kTooLarge: the text, or the rows.
base::Result<std::string> substitute(std::string_view text, Quoting quoting,
                                     const FindVariable& variable, const FindResult& result);

// A literal of SQL, with standard_conforming_strings on.
std::string quote_literal(std::string_view text);

}  // namespace holdfast::flows
