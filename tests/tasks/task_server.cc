// SPDX-License-Identifier: Apache-2.0
// The program with tasks that a test performs: a task waits until the folder TASK_VERDICTS has a
// file with the name of its intent. The first character says what came of it: "+" and the result as
// JSON;
// "-" or "!" and a message, for an error that is retryable or not.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "codec/normaliser.h"
#include "codec/view.h"
#include "holdfast/main.h"

namespace {

using holdfast::codec::View;

void write(holdfast::Writer& out, View value) {
  if (const auto text = value.text()) return out.text(*text);
  if (const auto flag = value.boolean()) return out.boolean(*flag);
  if (const auto number = value.integer()) return out.integer(*number);
  if (value.kind() == holdfast::codec::ViewKind::kList) {
    out.list(value.size());
    for (const View each : value.elements()) write(out, each);
  } else if (value.kind() == holdfast::codec::ViewKind::kMap) {
    out.map(value.size());
    for (const auto& [key, each] : value.entries()) {
      out.text(*key.text());
      write(out, each);
    }
  } else {
    out.null();
  }
}

std::optional<holdfast::EffectError> perform(const holdfast::Call& call, holdfast::Writer& out) {
  const char* const folder = std::getenv("TASK_VERDICTS");
  if (folder == nullptr) return holdfast::EffectError{"test.folder", "TASK_VERDICTS is not set"};
  const std::filesystem::path file = std::filesystem::path(folder) / call.key.substr(7);
  while (!call.stopped()) {
    std::ifstream stream(file, std::ios::binary);
    const std::string verdict(std::istreambuf_iterator<char>(stream), {});
    if (verdict.starts_with("+")) {
      holdfast::codec::Normaliser normaliser;
      const auto value =
          normaliser.part_from_json(holdfast::codec::Schema::any(), verdict.substr(1));
      if (!value) return holdfast::EffectError{"test.json", value.error().to_string()};
      out.map(1);
      out.text("result");
      write(out, View::of(*value));
      return std::nullopt;
    }
    if (!verdict.empty())
      return holdfast::EffectError{"executor.failed", verdict.substr(1), verdict.starts_with("-")};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return holdfast::EffectError{"test.stopped", "it was stopped"};
}

}  // namespace

int main(int argc, char** argv) {
  holdfast::Handler handler{"sys/task.run@1",
                            {"worker", "tasks"},
                            [](holdfast::Reader, const holdfast::Call& call,
                               holdfast::Writer& out) { return perform(call, out); }};
  return holdfast::main(argc, argv, {.handlers = {std::move(handler)}});
}
