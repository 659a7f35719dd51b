// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_course.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "cli/bench_share.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kEnd = 200'000;  // what the first and the last figures are of

constexpr double kWidth = 720;
constexpr double kHeight = 160;  // of one of the two diagrams
constexpr double kLeft = 70;
constexpr double kTop = 40;
constexpr double kGap = 60;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.1f" : "%.0f", value);
  return text;
}

double per_s(const std::vector<Finished>& all, std::size_t begin, std::size_t end) {
  const double from = begin == 0 ? 0 : all[begin - 1].at_s;
  const double took = all[end - 1].at_s - from;
  return took > 0 ? static_cast<double>(end - begin) / took : 0;
}

// What a line shows of a span.
using Value = std::function<double(const CourseSpan&)>;

struct Diagram {
  const Course& course;
  double top;
  double most;  // the value at its top
  double seconds;

  double x(double at_s) const { return kLeft + at_s / seconds * kWidth; }
  double y(double value) const { return top + kHeight - std::min(value / most, 1.0) * kHeight; }

  std::string frame(const std::string& name) const {
    std::string svg =
        "<text x=\"" + number(kLeft) + "\" y=\"" + number(top - 8) + "\">" + name + "</text>\n";
    for (int i = 0; i <= 4; ++i) {
      const double value = most * i / 4;
      svg += "<line x1=\"" + number(kLeft) + "\" x2=\"" + number(kLeft + kWidth) + "\" y1=\"" +
             number(y(value)) + "\" y2=\"" + number(y(value)) + "\" stroke=\"#ccc\"/>\n";
      svg += "<text x=\"" + number(kLeft - 6) + "\" y=\"" + number(y(value) + 4) +
             "\" text-anchor=\"end\">" + number(value) + "</text>\n";
    }
    return svg;
  }

  std::string line(const std::string& colour, const Value& value) const {
    std::string svg =
        "<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"" + colour + "\" points=\"";
    for (const CourseSpan& span : course.spans)
      svg += number(x(span.begin_s)) + "," + number(y(value(span))) + " ";
    return svg + "\"/>\n";
  }
};

double largest(const Course& course, const Value& value) {
  double most = 1;
  for (const CourseSpan& span : course.spans) most = std::max(most, value(span));
  return most;
}

}  // namespace

Course course_of(const std::vector<Finished>& finished, double seconds, std::size_t spans) {
  Course course;
  if (finished.empty() || spans == 0) return course;
  std::vector<double> took;
  took.reserve(finished.size());
  double last_s = 0;
  for (const Finished& each : finished) {
    took.push_back(each.took_us);
    course.stall_ms = std::max(course.stall_ms, (each.at_s - last_s) * 1000);
    last_s = each.at_s;
  }
  course.p50_us = at_share(took, 0.5);
  course.p99_us = at_share(took, 0.99);
  course.max_us = *std::ranges::max_element(took);
  const std::size_t end = std::min(kEnd, finished.size());
  course.first_per_s = per_s(finished, 0, end);
  course.last_per_s = per_s(finished, finished.size() - end, finished.size());

  const double length = seconds / static_cast<double>(spans);
  auto at = finished.begin();
  for (std::size_t i = 0; i < spans; ++i) {
    const double end_s = length * static_cast<double>(i + 1);
    took.clear();
    for (; at != finished.end() && (at->at_s < end_s || i + 1 == spans); ++at)
      took.push_back(at->took_us);
    CourseSpan& span = course.spans.emplace_back();
    span.begin_s = length * static_cast<double>(i);
    span.per_s = static_cast<double>(took.size()) / length;
    span.p50_us = at_share(took, 0.5);
    span.p99_us = at_share(took, 0.99);
    span.max_us = took.empty() ? 0 : *std::ranges::max_element(took);
  }
  return course;
}

std::string plot_of(const Course& course, const std::string& title) {
  const double seconds = course.spans.size() < 2
                             ? 1
                             : course.spans[1].begin_s * static_cast<double>(course.spans.size());
  const auto ms = [](double CourseSpan::*field) {
    return [field](const CourseSpan& span) { return span.*field / 1000; };
  };
  const auto rate = [](const CourseSpan& span) { return span.per_s; };
  const double below = kTop + kHeight + kGap;
  const Diagram throughput{course, kTop, largest(course, rate), seconds};
  const Diagram latency{course, below, largest(course, ms(&CourseSpan::max_us)), seconds};
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    number(kLeft + kWidth + 20) + "\" height=\"" + number(below + kHeight + 40) +
                    "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  svg += "<title>" + title + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += throughput.frame("workflows per second: " + title) + throughput.line("#06c", rate);
  svg += latency.frame("latency in ms: p50 blue, p99 orange, largest red");
  svg += latency.line("#c00", ms(&CourseSpan::max_us));
  svg += latency.line("#e80", ms(&CourseSpan::p99_us));
  svg += latency.line("#06c", ms(&CourseSpan::p50_us));
  for (int i = 0; i <= 4; ++i) {
    const double at_s = seconds * i / 4;
    svg += "<text x=\"" + number(latency.x(at_s)) + "\" y=\"" + number(below + kHeight + 18) +
           "\" text-anchor=\"middle\">" + number(at_s) + " s</text>\n";
  }
  return svg + "</svg>\n";
}

base::Result<void> write_plot(const std::string& path, const Course& course,
                              const std::string& title) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                             &std::fclose);
  const std::string svg = plot_of(course, title);
  if (file == nullptr || std::fwrite(svg.data(), 1, svg.size(), file.get()) != svg.size() ||
      std::fflush(file.get()) != 0)
    return base::Error(base::ErrorCode::kIo, path, "cannot be written");
  return {};
}

}  // namespace holdfast::cli
