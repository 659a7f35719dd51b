// SPDX-License-Identifier: Apache-2.0
#include "gateway/metrics_text.h"

#include <charconv>

#include "codec/printable.h"

namespace holdfast::gateway {
namespace {

constexpr double kNsPerSecond = 1e9;

std::string text_of(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

// Codes are texts of workflows: what a terminal would obey is spelled.
void append_quoted(std::string& text, std::string_view value) {
  text += '"';
  for (const char c : codec::printable(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  text += '"';
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view kind, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(name).append(" ").append(kind).append("\n");
}

void MetricsText::write(std::string_view ending, Labels labels, std::string_view bound,
                        std::string_view value) {
  text_.append(name_).append(ending);
  std::string_view separator = "{";
  for (const Label& label : labels) {
    text_.append(separator).append(label.name).append("=");
    append_quoted(text_, label.value);
    separator = ",";
  }
  if (!bound.empty()) {
    text_.append(separator).append("le=");
    append_quoted(text_, bound);
    separator = ",";
  }
  text_.append(separator == "," ? "} " : " ").append(value).append("\n");
}

void MetricsText::sample(Labels labels, std::uint64_t value) {
  write("", labels, "", std::to_string(value));
}

void MetricsText::seconds(Labels labels, std::uint64_t ns) {
  write("", labels, "", text_of(static_cast<double>(ns) / kNsPerSecond));
}

void MetricsText::signed_seconds(Labels labels, std::int64_t ns) {
  write("", labels, "", text_of(static_cast<double>(ns) / kNsPerSecond));
}

void MetricsText::histogram(Labels labels, const Histogram& histogram) {
  write_histogram(labels, histogram, 1);
}

void MetricsText::time_histogram(Labels labels, const Histogram& of_ns) {
  write_histogram(labels, of_ns, kNsPerSecond);
}

void MetricsText::write_histogram(Labels labels, const Histogram& histogram, double unit) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    below += histogram.count(i);
    write("_bucket", labels, text_of(static_cast<double>(histogram.bounds()[i]) / unit),
          std::to_string(below));
  }
  const std::string total = std::to_string(histogram.total());
  write("_bucket", labels, "+Inf", total);
  write("_sum", labels, "", text_of(static_cast<double>(histogram.sum()) / unit));
  write("_count", labels, "", total);
}

void MetricsText::gauge(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "gauge", help);
  sample({}, value);
}

void MetricsText::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "counter", help);
  sample({}, value);
}

}  // namespace holdfast::gateway
