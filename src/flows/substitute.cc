// SPDX-License-Identifier: Apache-2.0
#include "flows/substitute.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "flows/values.h"

namespace holdfast::flows {
namespace {

using codec::View;
using codec::ViewKind;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_part(char c) { return is_letter(c) || is_digit(c); }

std::string quote_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// A negative number in parentheses: "3-$n" must not become a comment.
std::string number_text(View value) {
  std::string text = codec::to_json(value);
  return text.starts_with('-') ? "(" + text + ")" : text;
}

std::string sql_value(View value) {
  switch (value.kind()) {
    case ViewKind::kNull: return "NULL";
    case ViewKind::kBool: return value.boolean().value_or(false) ? "TRUE" : "FALSE";
    case ViewKind::kInt:
    case ViewKind::kFloat: return number_text(value);
    case ViewKind::kText: return quote_literal(value.text().value_or(""));
    default: return quote_literal(codec::to_json(value));
  }
}

std::string raw_value(View value) {
  if (value.kind() == ViewKind::kText) return std::string(value.text().value_or(""));
  return codec::to_json(value);
}

// The end of what begins at `at` and is not looked into: a literal, a quoted name, a comment, a
// text in dollars, or an identifier. `at` itself: nothing of the kind.
class SqlSkipper {
 public:
  explicit SqlSkipper(std::string_view text) : text_(text) {}

  std::size_t skip(std::size_t at) const {
    const char c = text_[at];
    if (c == '\'') return quoted(at, at > 0 && (text_[at - 1] == 'E' || text_[at - 1] == 'e'));
    if (c == '"') return quoted(at, false);
    if (text_.substr(at, 2) == "--") return std::min(text_.find('\n', at), text_.size());
    if (text_.substr(at, 2) == "/*") return comment(at);
    if (c == '$') return dollars(at);
    if (!is_letter(c)) return at;
    // An identifier, which may hold dollars. The letter before a literal is not taken with it.
    std::size_t end = at;
    while (end < text_.size() && (is_part(text_[end]) || text_[end] == '$')) ++end;
    return end;
  }

 private:
  std::size_t quoted(std::size_t at, bool has_escapes) const {
    const char quote = text_[at];
    for (std::size_t end = at + 1; end < text_.size(); ++end) {
      if (has_escapes && text_[end] == '\\') {
        ++end;
      } else if (text_[end] == quote) {
        if (end + 1 < text_.size() && text_[end + 1] == quote) {
          ++end;
        } else {
          return end + 1;
        }
      }
    }
    return text_.size();
  }

  std::size_t comment(std::size_t at) const {
    std::size_t depth = 0;
    for (std::size_t end = at; end + 1 < text_.size(); ++end) {
      const std::string_view two = text_.substr(end, 2);
      if (two == "/*") {
        ++depth;
        ++end;
      } else if (two == "*/") {
        ++end;
        if (--depth == 0) return end + 1;
      }
    }
    return text_.size();
  }

  std::size_t dollars(std::size_t at) const {
    std::size_t end = at + 1;
    if (end < text_.size() && is_letter(text_[end]))
      while (end < text_.size() && is_part(text_[end])) ++end;
    if (end >= text_.size() || text_[end] != '$') return at;
    const std::string_view tag = text_.substr(at, end + 1 - at);
    const std::size_t closing = text_.find(tag, end + 1);
    return closing == std::string_view::npos ? text_.size() : closing + tag.size();
  }

  std::string_view text_;
};

struct Reference {
  std::string_view name;
  std::string_view column;  // "*": all rows
  bool is_optional = false;
  std::size_t end = 0;
};

// At a "$" that a letter follows.
Reference reference_at(std::string_view text, std::size_t at) {
  Reference found;
  std::size_t end = at + 1;
  while (end < text.size() && is_part(text[end])) ++end;
  found.name = text.substr(at + 1, end - at - 1);
  if (end + 1 < text.size() && text[end] == '.') {
    if (text[end + 1] == '*') {
      found.column = "*";
      end += 2;
    } else if (is_letter(text[end + 1])) {
      std::size_t last = end + 1;
      while (last < text.size() && is_part(text[last])) ++last;
      found.column = text.substr(end + 1, last - end - 1);
      end = last;
    }
  }
  if (end < text.size() && text[end] == '?' && found.column != "*") {
    found.is_optional = true;
    ++end;
  }
  found.end = end;
  return found;
}

class Substitution {
 public:
  Substitution(Quoting quoting, const FindResult& result) : quoting_(quoting), result_(result) {}

  base::Result<std::string> run(std::string_view text) {
    const SqlSkipper skipper(text);
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = quoting_ == Quoting::kSql ? skipper.skip(at) : at;
      if (end != at) {
        out_ += text.substr(at, end - at);
        at = end;
      } else if (text[at] == '$' && at + 1 < text.size() && is_letter(text[at + 1])) {
        const Reference reference = reference_at(text, at);
        TRY(put(reference, text.substr(at, reference.end - at)));
        at = reference.end;
      } else {
        out_ += text[at++];
      }
      if (out_.size() > kMaxTextBytes)
        return base::Error(
            base::ErrorCode::kTooLarge,
            "the text with its values has more than " + std::to_string(kMaxTextBytes) + " bytes");
    }
    return std::move(out_);
  }

 private:
  base::Result<void> put(const Reference& reference, std::string_view as_written) {
    const auto value = result_(reference.name);
    if (!value) {
      out_ += as_written;
      return {};
    }
    if (reference.column == "*") return put_rows(reference, *value);
    std::optional<View> found;
    if (is_rowset(*value)) {
      found = first_row_column(*value, reference.column);
      const bool is_unknown = !found && !reference.column.empty() && has_rows(*value);
      if (is_unknown && value->find(reference.column)) {
        found = value->find(reference.column);  // "row_count"
      } else if (is_unknown && quoting_ == Quoting::kSql) {
        out_ += as_written;
        return {};
      }
    } else {
      found = reference.column.empty() ? value : value->find(reference.column);
    }
    if (found && !found->is_null()) {
      out_ += quoting_ == Quoting::kSql ? sql_value(*found) : raw_value(*found);
      return {};
    }
    if (!reference.is_optional)
      return base::invalid(std::string(as_written), found ? "is NULL" : "has no value");
    if (quoting_ == Quoting::kSql) out_ += "NULL";
    return {};
  }

  static bool has_rows(View rowset) { return rowset.find("rows")->size() != 0; }

  base::Result<void> put_rows(const Reference& reference, View value) {
    if (!is_rowset(value)) return base::invalid("$" + std::string(reference.name), "has no rows");
    const View rows = *value.find("rows");
    const View columns = *value.find("columns");
    if (rows.size() > kMaxRowsSubstituted)
      return base::Error(base::ErrorCode::kTooLarge, "$" + std::string(reference.name),
                         "has more than " + std::to_string(kMaxRowsSubstituted) + " rows");
    if (quoting_ == Quoting::kRaw) {
      out_ += codec::to_json(rows);
      return {};
    }
    if (rows.size() == 0 || columns.size() == 0) {
      out_ += "(SELECT WHERE FALSE) AS " + quote_name(reference.name);
      return {};
    }
    out_ += "(VALUES ";
    std::string_view before = "(";
    for (const View row : rows.elements()) {
      for (const View column : columns.elements()) {
        const auto cell = row.find(column.text().value_or(""));
        out_ += before;
        out_ += cell ? sql_value(*cell) : "NULL";
        before = ", ";
      }
      before = "), (";
      if (out_.size() > kMaxTextBytes) return {};  // the caller says so
    }
    out_ += ")) AS " + quote_name(reference.name);
    before = "(";
    for (const View column : columns.elements()) {
      out_ += before;
      out_ += quote_name(column.text().value_or(""));
      before = ", ";
    }
    out_ += ")";
    return {};
  }

  const Quoting quoting_;
  const FindResult& result_;
  std::string out_;
};

std::string put_variables(std::string_view text, const FindVariable& variable) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '{') {
      const std::size_t close = text.find('}', at);
      const std::string_view name =
          close == std::string_view::npos ? "" : text.substr(at + 1, close - at - 1);
      const auto value = is_name(name) ? variable(name) : std::nullopt;
      if (value) {
        out += *value;
        at = close + 1;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

}  // namespace

std::string quote_literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

base::Result<std::string> substitute(std::string_view text, Quoting quoting,
                                     const FindVariable& variable, const FindResult& result) {
  const std::string with_variables = put_variables(text, variable);
  if (with_variables.size() > kMaxTextBytes)
    return base::Error(base::ErrorCode::kTooLarge, "the text with its variables has more than " +
                                                       std::to_string(kMaxTextBytes) + " bytes");
  return Substitution(quoting, result).run(with_variables);
}

}  // namespace holdfast::flows
