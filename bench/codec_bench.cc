// SPDX-License-Identifier: Apache-2.0
// JSON to canonical CBOR with its schema checked, beside nlohmann's parse and to_cbor, which check
// and sort nothing. `codec_bench` ends with a table of medians and ratios; `--once SIZE WHICH` does
// one event inside once(), for bench/instructions to count its instructions.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "env/hardware.h"
#include "events.h"

namespace {

using namespace holdfast;
using base::Bytes;
using base::ByteView;
using codec::Strictness;

class NoTypes : public codec::TypeSource {
 public:
  const codec::Type* find(std::string_view) const override { return nullptr; }
};

codec::Schema schema_of(std::string_view type_json) {
  codec::Normaliser normaliser;
  codec::Errors errors;
  const auto expression = normaliser.from_json(codec::Schema::any(), type_json);
  const auto type = codec::parse_type(codec::View::of(expression.value()), "$", errors);
  CHECK(type.has_value());
  return *codec::Schema::compile(*type, NoTypes(), "$", errors);
}

// One event in all the forms that the benchmarks start from.
struct Input {
  explicit Input(const bench::Event& event)
      : name(event.name), schema(schema_of(event.type)), json(event.json) {
    codec::Normaliser normaliser;
    const auto made = normaliser.from_json(schema, json);
    if (!made) std::cerr << made.error().to_string() << "\n";
    canonical.assign(made.value().begin(), made.value().end());
    theirs = nlohmann::json::to_cbor(nlohmann::json::parse(json));
  }
  std::string name;
  codec::Schema schema;
  std::string json;
  Bytes canonical;
  Bytes theirs;  // the same JSON as CBOR by nlohmann: not canonical, decimals and bytes as text
};

class Work {
 public:
  explicit Work(const Input& input) : input_(input) {}

  void ours() { keep(normaliser_.from_json(input_.schema, input_.json)); }
  void nlohmann_json() {
    bytes_.clear();
    nlohmann::json::to_cbor(nlohmann::json::parse(input_.json), bytes_);
    benchmark::DoNotOptimize(bytes_.data());
  }
  void without_schema() { keep(normaliser_.from_json(any_, input_.json)); }
  void lenient() {
    keep(normaliser_.from_cbor(input_.schema, input_.theirs, Strictness::kLenient));
  }
  void strict() {
    keep(normaliser_.from_cbor(input_.schema, input_.canonical, Strictness::kStrict));
  }
  void json_out() {
    text_.clear();
    codec::write_json(text_, codec::View::of(input_.canonical));
    benchmark::DoNotOptimize(text_.data());
  }
  void nlohmann_out() {
    std::string text = nlohmann::json::from_cbor(ByteView(input_.canonical).subspan(3)).dump();
    benchmark::DoNotOptimize(text.data());
  }

 private:
  static void keep(const base::Result<ByteView>& canonical) {
    CHECK(canonical.has_value());
    benchmark::DoNotOptimize(canonical->data());
  }
  const Input& input_;
  codec::Schema any_ = codec::Schema::any();
  codec::Normaliser normaliser_;
  Bytes bytes_;
  codec::Buffer text_;
};

struct Step {
  const char* name;
  void (Work::*run)();
  const char* beside;  // what it is compared with in the table
};

constexpr Step kSteps[] = {
    {"nlohmann: parse, to_cbor", &Work::nlohmann_json, nullptr},
    {"ours: JSON to canonical, schema", &Work::ours, "nlohmann: parse, to_cbor"},
    {"ours: JSON to canonical, any", &Work::without_schema, "nlohmann: parse, to_cbor"},
    {"ours: CBOR to canonical", &Work::lenient, "nlohmann: parse, to_cbor"},
    {"ours: strict decode", &Work::strict, "nlohmann: parse, to_cbor"},
    {"nlohmann: from_cbor, dump", &Work::nlohmann_out, nullptr},
    {"ours: canonical to JSON", &Work::json_out, "nlohmann: from_cbor, dump"},
};

// Keeps the time of every repetition and prints the table at the end.
class Table : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration)
        times_[run.run_name.function_name].push_back(run.GetAdjustedCPUTime());
    }
  }

  void print(const std::vector<Input>& inputs) {
    for (const Input& input : inputs) {
      std::printf("\n%s event: %zu bytes of JSON, %zu of canonical CBOR\n", input.name.c_str(),
                  input.json.size(), input.canonical.size());
      std::printf("  %-34s %12s %8s %9s %8s\n", "", "median", "spread", "MB/s", "ratio");
      for (const Step& step : kSteps) row(input, step);
    }
    std::printf("\nrefusals of 16 MB\n");
    for (const auto& [name, times] : times_) {
      if (name.rfind("refuse", 0) == 0)
        std::printf("  %-34s %9.2f us\n", name.c_str(), median(name) / 1e3);
    }
  }

 private:
  static std::string key(const Input& input, const char* step) { return input.name + " " + step; }

  double median(const std::string& name) {
    std::vector<double>& times = times_[name];
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
  }

  void row(const Input& input, const Step& step) {
    const std::string name = key(input, step.name);
    const double middle = median(name);
    if (middle == 0) return;
    const double spread = (times_[name].back() - times_[name].front()) / middle;
    std::printf("  %-34s %9.2f us %7.0f%% %9.0f", step.name, middle / 1e3, spread * 100,
                static_cast<double>(input.json.size()) / middle * 1e3);
    if (step.beside != nullptr) std::printf(" %7.1fx", median(key(input, step.beside)) / middle);
    std::printf("\n");
  }

  std::map<std::string, std::vector<double>> times_;
};

void add_benchmarks(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    for (const Step& step : kSteps) {
      benchmark::RegisterBenchmark((input.name + " " + step.name).c_str(),
                                   [&input, run = step.run](benchmark::State& state) {
                                     Work work(input);
                                     for (auto _ : state) (work.*run)();
                                   });
    }
  }
  const auto refusal = [](const char* name, std::string text, bool cbor) {
    benchmark::RegisterBenchmark(name, [text = std::move(text), cbor](benchmark::State& state) {
      codec::Normaliser normaliser;
      const codec::Schema any = codec::Schema::any();
      for (auto _ : state) {
        const auto refused =
            cbor ? normaliser.from_cbor(any, base::as_bytes(text), Strictness::kLenient)
                 : normaliser.from_json(any, text);
        CHECK(!refused.has_value());
      }
    });
  };
  constexpr std::size_t kSize = std::size_t{16} << 20;
  refusal("refuse nested JSON", std::string(kSize, '['), false);
  refusal("refuse nested CBOR", std::string(kSize, '\x81'), true);
  refusal("refuse a length that lies", "\x9b" + std::string(kSize - 1, '\x7f'), true);
}

}  // namespace

// What bench/instructions counts.
__attribute__((noinline)) void once(Work& work, void (Work::*run)()) { (work.*run)(); }

int main(int argc, char** argv) {
  std::vector<Input> inputs;
  for (const bench::Event& event : bench::events()) inputs.emplace_back(event);
  if (argc == 4 && std::string_view(argv[1]) == "--once") {
    for (const Input& input : inputs) {
      if (input.name != argv[2]) continue;
      Work work(input);
      const auto run = kSteps[std::stoul(argv[3])].run;
      (work.*run)();  // buffers grow in the first one
      once(work, run);
      std::printf("%zu\t%s\n", input.json.size(), kSteps[std::stoul(argv[3])].name);
    }
    return 0;
  }
  std::vector<char*> arguments(argv, argv + argc);
  std::string defaults[] = {"--benchmark_repetitions=9", "--benchmark_min_time=0.05",
                            "--benchmark_enable_random_interleaving=true"};
  for (std::string& option : defaults) arguments.insert(arguments.begin() + 1, option.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  add_benchmarks(inputs);
  Table table;
  std::printf("%s; CPU time, median of the repetitions, spread from fastest to slowest\n",
              env::hardware().c_str());
  benchmark::RunSpecifiedBenchmarks(&table);
  table.print(inputs);
  return 0;
}
