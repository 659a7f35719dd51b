// SPDX-License-Identifier: Apache-2.0
// What the refused step workflows share.
#pragma once

#include "holdfast/steps.h"

struct Begin {
  static constexpr std::string_view kSchema = "shop/Begin@1";
  std::string id;
};
struct Answer {
  static constexpr std::string_view kSchema = "shop/Answer@1";
  std::string id;
};
struct Question {
  static constexpr std::string_view kSchema = "shop/Question@1";
  std::string text;
};
struct End {
  static constexpr std::string_view kSchema = "shop/End@1";
  std::string text;
};

struct Base : holdfast::StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Flow@1";
  using Events =
      holdfast::Events<holdfast::On<Begin, &Begin::id>, holdfast::On<Answer, &Answer::id>>;
  using Stop = End;
};
