// SPDX-License-Identifier: Apache-2.0
// A picture as text: Mermaid, DOT for Graphviz, or SVG, whose layout is our own. The same picture
// is the same text each time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "steps/picture.h"

namespace holdfast::steps {

// kTooLarge: it has so many boxes or arrows that nobody would see anything (2000 of each).
base::Result<void> check_size(const Picture& picture);

std::string draw_mermaid(const Picture& picture);
std::string draw_dot(const Picture& picture);

// kTooLarge: as check_size says.
base::Result<std::string> draw_svg(const Picture& picture);

enum class DrawingFormat : std::uint8_t { kMermaid, kDot, kSvg };

// "mermaid", "dot", "svg".
std::optional<DrawingFormat> drawing_format(std::string_view name);

// kTooLarge: as check_size says, whatever the format.
base::Result<std::string> draw(const Picture& picture, DrawingFormat format);

}  // namespace holdfast::steps
