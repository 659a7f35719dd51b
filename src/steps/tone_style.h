// SPDX-License-Identifier: Apache-2.0
// How the tones of a picture look. Internal to this folder.
#pragma once

#include <string_view>

#include "steps/picture.h"

namespace holdfast::steps {

struct ToneStyle {
  std::string_view name;
  std::string_view fill;
  std::string_view stroke;
  std::string_view text;
};

// In the order of the tones.
inline constexpr ToneStyle kToneStyles[] = {
    {"plain", "#ffffff", "#333333", "#111111"},   {"unused", "#f7f7f7", "#b0b0b0", "#8a8a8a"},
    {"done", "#d8f0dc", "#2e7d46", "#111111"},    {"running", "#d6e6fb", "#1f5fb4", "#111111"},
    {"waiting", "#fdf1c7", "#a97a00", "#111111"}, {"failed", "#f9d9d6", "#b3261e", "#111111"},
};

inline const ToneStyle& style_of(Picture::Tone tone) {
  return kToneStyles[static_cast<std::size_t>(tone)];
}

}  // namespace holdfast::steps
