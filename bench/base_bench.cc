// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "base/crc32c.h"
#include "base/sha256.h"
#include "base/testing_base64.h"

namespace {

using namespace holdfast::base;

void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

Bytes some_bytes(benchmark::State& state) {
  return Bytes(static_cast<std::size_t>(state.range(0)), 0x5a);
}

void sha256_of(benchmark::State& state) {
  const Bytes bytes = some_bytes(state);
  for (auto _ : state) benchmark::DoNotOptimize(sha256(bytes));
  count_bytes(state);
}
BENCHMARK(sha256_of)->Arg(16)->Arg(256)->Arg(65536);

void crc32c_of(benchmark::State& state) {
  const Bytes bytes = some_bytes(state);
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(bytes));
  count_bytes(state);
}
BENCHMARK(crc32c_of)->Arg(16)->Arg(256)->Arg(65536);

void crc32c_by_table(benchmark::State& state) {
  const Bytes bytes = some_bytes(state);
  for (auto _ : state) benchmark::DoNotOptimize(crc32c_ways::by_table(bytes, 0));
  count_bytes(state);
}
BENCHMARK(crc32c_by_table)->Arg(16)->Arg(256)->Arg(65536);

void base64_encode(benchmark::State& state) {
  const Bytes bytes = some_bytes(state);
  std::string text;
  for (auto _ : state) {
    text.clear();
    base64_encode_append(bytes, text);
    benchmark::DoNotOptimize(text.data());
  }
  count_bytes(state);
}
BENCHMARK(base64_encode)->Arg(16)->Arg(65536);

void base64_decode(benchmark::State& state) {
  const std::string text = testing::to_base64(some_bytes(state));
  Bytes bytes;
  for (auto _ : state) {
    bytes.clear();
    benchmark::DoNotOptimize(base64_decode_append(text, bytes));
  }
  count_bytes(state);
}
BENCHMARK(base64_decode)->Arg(16)->Arg(65536);

}  // namespace
