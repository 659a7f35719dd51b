// SPDX-License-Identifier: Apache-2.0
// MetricsText: figures as Prometheus reads them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "holdfast/histogram.h"

namespace holdfast::gateway {

class MetricsText {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  using Labels = std::initializer_list<Label>;

  // Everything of one name follows its family.
  void family(std::string_view name, std::string_view kind, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void seconds(Labels labels, std::uint64_t ns);
  void signed_seconds(Labels labels, std::int64_t ns);
  void histogram(Labels labels, const Histogram& histogram);
  void time_histogram(Labels labels, const Histogram& of_ns);  // in seconds

  // A family of one.
  void gauge(std::string_view name, std::string_view help, std::uint64_t value);
  void counter(std::string_view name, std::string_view help, std::uint64_t value);

  const std::string& text() const noexcept { return text_; }

 private:
  void write(std::string_view ending, Labels labels, std::string_view bound,
             std::string_view value);
  void write_histogram(Labels labels, const Histogram& histogram, double unit);

  std::string text_;
  std::string name_;
};

}  // namespace holdfast::gateway
