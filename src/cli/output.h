// SPDX-License-Identifier: Apache-2.0
// How commands speak: results on standard output, errors on standard error, one line first and
// the details after it, or one line of JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "cli/exit_code.h"
#include "codec/buffer.h"
#include "codec/type.h"

namespace holdfast::cli {

// The text on one line that every terminal and JSON can show: control characters, and all bytes
// beyond ASCII where the text is not UTF-8, are written as \xNN.
std::string printable(std::string_view text);

// Says what is odd although what was asked has been done.
void warn(std::string_view message);

void print(std::string_view text);
void print_line(std::string_view text);

// Columns as wide as they must be; the first row is the heading. On a terminal what is under
// STATUS, or beside "status", has a colour.
void print_table(const std::vector<std::vector<std::string>>& rows);

// Something that whoever reads the output should know besides, on standard error.
void remark(std::string_view text);

// From now on a refusal is one line of JSON on standard error, with the members of a problem
// document: "code", "detail", "path" where there is one, "errors" where there are several.
void refuse_in_json();

// What a server has said: it is printed as it is when this error is refused with.
void keep_problem(const base::Error& error, std::string json);

// Says what is wrong and gives the exit code for it.
[[nodiscard]] ExitCode refuse(const base::Error& error);
[[nodiscard]] ExitCode refuse(std::string_view summary, const codec::Errors& errors);
[[nodiscard]] ExitCode misused(std::string_view message);

// The errors as a list in a document that is printed as JSON.
void write_errors(codec::Buffer& out, const codec::Errors& errors);

// Everything on standard input, if it is no more than `limit` bytes.
base::Result<std::string> read_standard_input(std::size_t limit);

// False if something that was printed could not be written. That is said, unless it is because
// nobody reads it any more, as in `holdfast journal | head`.
bool flush_output();

// False: what is printed from now on comes nowhere. For whoever prints much.
bool output_is_wanted();

}  // namespace holdfast::cli
