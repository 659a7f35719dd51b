// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "codec/printable.h"
#include "steps/draw.h"
#include "steps/layout.h"
#include "steps/tone_style.h"

namespace holdfast::steps {
namespace {

using Shape = Picture::Shape;
using Tone = Picture::Tone;

constexpr std::size_t kMostLetters = 64;  // of a line
constexpr int kLine = 16;
constexpr int kPadding = 10;

// How wide a text is in a font whose letters are all alike, of 12 pixels.
int width_of(std::size_t letters) { return static_cast<int>((letters * 73 + 9) / 10); }

std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string shortened(const std::string& text) {
  if (letters_in(text) <= kMostLetters) return text;
  std::size_t letters = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++letters == kMostLetters) break;
  }
  return text.substr(0, end) + "…";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t bytes = codec::unshown_at(text, i); bytes != 0) {
      out += ' ';  // XML has none of these, or people see nothing
      i += bytes - 1;
      continue;
    }
    switch (const char c = text[i]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string attribute(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

class SvgWriter {
 public:
  explicit SvgWriter(const Picture& picture) : picture_(picture) {
    std::map<std::string, std::size_t, std::less<>> numbers;
    for (const Picture::Node& node : picture_.nodes) {
      numbers.emplace(node.id, boxes_.size());
      boxes_.push_back(box_of(node));
    }
    std::vector<LayoutArrow> arrows;
    for (const Picture::Edge& edge : picture_.edges)
      arrows.emplace_back(numbers[edge.from], numbers[edge.to]);
    layout_ = lay_out(boxes_, arrows);
    for (const std::string& line : picture_.title)
      layout_.width = std::max(layout_.width, width_of(letters_in(shortened(line))) + 2 * kPadding);
    top_ = picture_.title.empty() ? 0 : static_cast<int>(picture_.title.size()) * kLine + kPadding;
  }

  std::string write() {
    const std::string size =
        std::to_string(layout_.width) + " " + std::to_string(layout_.height + top_);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"" +
           attribute("width", layout_.width) + attribute("height", layout_.height + top_) +
           " font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\""
           " font-size=\"12\" text-anchor=\"middle\">\n"
           "<defs>\n";
    marker("arrow", "#333333");
    marker("unused", "#b0b0b0");
    out_ += "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    for (std::size_t i = 0; i < picture_.title.size(); ++i)
      text(layout_.width / 2, kPadding + kLine * static_cast<int>(i + 1) - 4, picture_.title[i],
           i == 0 ? " font-weight=\"bold\"" : "");
    for (std::size_t i = 0; i < picture_.edges.size(); ++i) arrow(i);
    for (std::size_t i = 0; i < picture_.nodes.size(); ++i) node(i);
    for (std::size_t i = 0; i < picture_.edges.size(); ++i) label(i);
    return std::move(out_) + "</svg>\n";
  }

 private:
  static LayoutBox box_of(const Picture::Node& node) {
    std::size_t letters = letters_in(shortened(node.label));
    for (const std::string& note : node.notes)
      letters = std::max(letters, letters_in(shortened(note)));
    const int sides = node.shape == Shape::kStep ? 2 * kPadding : 4 * kPadding;
    return {std::max(width_of(letters), 40) + sides,
            kLine * static_cast<int>(1 + node.notes.size()) + 2 * kPadding};
  }

  void marker(const char* id, const char* colour) {
    out_ += std::string("<marker id=\"") + id +
            "\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\""
            " orient=\"auto-start-reverse\"><path d=\"M0,0 L10,5 L0,10 z\" fill=\"" +
            colour + "\"/></marker>\n";
  }

  void text(int x, int y, const std::string& line, const std::string& more) {
    out_ += "<text" + attribute("x", x) + attribute("y", y) + more + ">" +
            escaped(shortened(line)) + "</text>\n";
  }

  std::string at(Place place) const {
    return std::to_string(place.x) + "," + std::to_string(place.y + top_);
  }

  // Two points, and the way of the curve between them.
  std::string bend(Place from, Place to) const {
    const int middle = (from.y + to.y) / 2;
    return " C" + at({from.x, middle}) + " " + at({to.x, middle}) + " " + at(to);
  }

  void arrow(std::size_t number) {
    const Picture::Edge& edge = picture_.edges[number];
    const Layout::Path& path = layout_.paths[number];
    if (path.points.empty()) return;
    std::string way = "M" + at(path.points[0]);
    for (std::size_t i = 1; i < path.points.size(); ++i)
      way += i % 2 == 1 ? bend(path.points[i - 1], path.points[i]) : " L" + at(path.points[i]);
    const std::string name = edge.is_unused ? "unused" : "arrow";
    out_ += "<path d=\"" + way + "\" fill=\"none\" stroke=\"" +
            (edge.is_unused ? "#b0b0b0" : "#333333") + "\"" +
            (edge.is_dotted ? " stroke-dasharray=\"3 3\"" : "") +
            (path.leads_up ? " marker-start=\"url(#" : " marker-end=\"url(#") + name + ")\"/>\n";
  }

  // In the middle of the last bend, near where it leads: there the arrows are apart. Those to one
  // handler come from everywhere, and are apart where they begin.
  void label(std::size_t number) {
    const Picture::Edge& edge = picture_.edges[number];
    const std::vector<Place>& points = layout_.paths[number].points;
    if (edge.label.empty() || points.size() < 2) return;
    const bool is_above = layout_.paths[number].leads_up != edge.is_dotted;
    const std::size_t i = is_above ? 0 : points.size() - 2;
    const int x = (points[i].x + points[i + 1].x) / 2;
    const int y = (points[i].y + points[i + 1].y) / 2 + top_;
    const int width = width_of(letters_in(shortened(edge.label)));
    rectangle(x - width / 2, y - 7, width, 14, 2, " fill=\"white\"");  // the arrow is behind it
    text(x, y + 4, edge.label,
         std::string(" font-size=\"11\"") +
             (edge.is_unused ? " fill=\"#8a8a8a\"" : " fill=\"#333333\""));
  }

  void node(std::size_t number) {
    const Picture::Node& node = picture_.nodes[number];
    const LayoutBox& box = boxes_[number];
    const Place place = layout_.boxes[number];
    const ToneStyle& style = style_of(node.tone);
    const std::string look =
        " fill=\"" + std::string(style.fill) + "\" stroke=\"" + std::string(style.stroke) + "\"";
    const int left = place.x - box.width / 2;
    const int top = place.y + top_;
    out_ += "<g>";
    if (node.shape == Shape::kOutside) {
      const int right = left + box.width;
      const int middle = top + box.height / 2;
      out_ += "<polygon points=\"" + at({left, middle - top_}) + " " + at({left + 14, top - top_}) +
              " " + at({right - 14, top - top_}) + " " + at({right, middle - top_}) + " " +
              at({right - 14, top + box.height - top_}) + " " +
              at({left + 14, top + box.height - top_}) + "\"" + look + "/>\n";
    } else {
      const int round = node.shape == Shape::kStep ? 3 : std::min(box.height / 2, 18);
      rectangle(left, top, box.width, box.height, round, look);
      if (node.shape == Shape::kEnd)
        rectangle(left + 3, top + 3, box.width - 6, box.height - 6, std::max(round - 3, 0),
                  " fill=\"none\" stroke=\"" + std::string(style.stroke) + "\"");
    }
    const std::string colour = " fill=\"" + std::string(style.text) + "\"";
    int y = top + kPadding + kLine - 4;
    text(place.x, y, node.label,
         colour + (node.shape == Shape::kStep ? " font-weight=\"bold\"" : ""));
    for (const std::string& note : node.notes) text(place.x, y += kLine, note, colour);
    out_ += "</g>\n";
  }

  void rectangle(int x, int y, int width, int height, int round, const std::string& look) {
    out_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
            attribute("height", height) + attribute("rx", round) + look + "/>\n";
  }

  const Picture& picture_;
  std::vector<LayoutBox> boxes_;
  Layout layout_;
  int top_ = 0;
  std::string out_;
};

}  // namespace

base::Result<std::string> draw_svg(const Picture& picture) {
  TRY(check_size(picture));
  return SvgWriter(picture).write();
}

}  // namespace holdfast::steps
