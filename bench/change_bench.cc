// SPDX-License-Identifier: Apache-2.0
// What other definitions cost a world with many instances under way: how long an addition takes,
// and what a rehearsal takes and leaves to the work that goes on.
//
// usage: change_bench [INSTANCES [REHEARSED]]   1 000 000 and 100 000 unless told otherwise
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/check.h"
#include "env/hardware.h"
#include "folder.h"
#include "holdfast/engine.h"
#include "values.h"

namespace {

using namespace holdfast;
using Clock = std::chrono::steady_clock;

struct Joined {
  static constexpr std::string_view kSchema = "bench/Joined@1";
  std::string id;
};
struct Used {
  static constexpr std::string_view kSchema = "bench/Used@1";
  std::string id;
};

// Waits for events, for ever.
struct Member {
  static constexpr std::string_view kWorkflow = "bench/Member@1";
  struct State {
    std::uint64_t times = 0;
  };
  using Events = holdfast::Events<On<Joined, &Joined::id>, On<Used, &Used::id>>;
  using Context = holdfast::Context<Member>;
  static void step(State&, const Joined&, Context&) {}
  static void step(State& state, const Used&, Context&) { ++state.times; }
};
struct Added {
  static constexpr std::string_view kWorkflow = "bench/Added@1";
  struct State {
    std::uint64_t times = 0;
  };
  struct Begun {
    static constexpr std::string_view kSchema = "bench/Begun@1";
    std::string id;
  };
  using Events = holdfast::Events<On<Begun, &Begun::id>>;
  using Context = holdfast::Context<Added>;
  static void step(State&, const Begun&, Context&) {}
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::unique_ptr<Engine> open(const std::string& path) {
  EngineOptions options;
  options.dir = path;
  options.modules = {Module::of<Member>("bench/code@1"), Module::of<Added>("bench/added@1")};
  options.any_file_system = true;
  options.apply_definitions = false;
  auto opened = Engine::open(std::move(options));
  CHECK(static_cast<bool>(opened));
  return std::move(*opened);
}

Applied apply_now(Engine& engine, const Bytes& definitions) {
  std::promise<Result<Applied>> answer;
  engine.apply_raw(definitions, ApplyMode::kApply,
                   [&](Result<Applied> applied) { answer.set_value(std::move(applied)); });
  auto applied = answer.get_future().get();
  CHECK(static_cast<bool>(applied));
  return std::move(*applied);
}

// Sends events, kOnTheWay at a time, until told to stop or there are no more.
template <class Event>
void send(Engine& engine, std::uint64_t count, const std::atomic<bool>* stop,
          std::atomic<std::uint64_t>& sent, std::uint64_t instances) {
  constexpr std::uint64_t kOnTheWay = 512;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t on_the_way = 0;
  for (std::uint64_t i = 0; i < count && (stop == nullptr || !*stop); ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return on_the_way < kOnTheWay; });
    ++on_the_way;
    lock.unlock();
    engine.send(Event{"m" + std::to_string(i * 7919 % instances)}, {}, [&](Result<Sent> answer) {
      CHECK(static_cast<bool>(answer));
      ++sent;
      const std::lock_guard guard(mutex);
      --on_the_way;
      changed.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return on_the_way == 0; });
}

void fill(Engine& engine, std::uint64_t instances) {
  apply_now(engine, bench::value(definitions_of(std::vector{Module::of<Member>("bench/code@1")})));
  std::atomic<std::uint64_t> sent = 0;
  // 7919 is a prime: every instance has its turn once.
  send<Joined>(engine, instances, nullptr, sent, instances);
  std::promise<void> taken;
  engine.take_snapshot([&](auto) { taken.set_value(); });
  taken.get_future().get();
}

const Bytes& with_addition() {
  static const Bytes definitions = bench::value(definitions_of(
      std::vector{Module::of<Member>("bench/code@1"), Module::of<Added>("bench/added@1")}));
  return definitions;
}

void measure_addition(std::uint64_t instances) {
  const bench::Folder folder;
  const auto engine = open(folder.path() + "/world");
  fill(*engine, instances);
  const auto begin = Clock::now();
  const Applied applied = apply_now(*engine, with_addition());
  const double took = seconds_since(begin);
  CHECK(applied.record != 0 && applied.blocking_count == 0);
  std::printf("an addition beside %llu waiting instances: %.1f ms, with its sync\n",
              static_cast<unsigned long long>(instances), took * 1e3);
  CHECK(static_cast<bool>(engine->close()));
}

void measure_rehearsal(std::uint64_t instances) {
  const bench::Folder folder;
  const auto engine = open(folder.path() + "/world");
  fill(*engine, instances);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> sent = 0;
  std::thread client([&] { send<Used>(*engine, ~std::uint64_t{0}, &stop, sent, instances); });
  const auto rate_over = [&](auto work) {
    const std::uint64_t before = sent;
    const auto begin = Clock::now();
    work();
    return static_cast<double>(sent - before) / seconds_since(begin);
  };
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::seconds(5)); };
  pause();  // until it runs evenly
  const double alone = rate_over(pause);
  double took = 0;
  std::uint64_t replayed = 0;
  const double beside = rate_over([&] {
    const auto begin = Clock::now();
    const auto rehearsed = engine->rehearse_raw(with_addition(), {.pin = true});
    CHECK(rehearsed && rehearsed->is_good() && rehearsed->instances == instances);
    took = seconds_since(begin);
    replayed = rehearsed->replayed;
  });
  stop = true;
  client.join();
  std::printf(
      "a rehearsal of %llu instances under way: %.2f s, %llu records replayed; beside it %.0f "
      "events/s, alone %.0f, that is %.0f %%\n",
      static_cast<unsigned long long>(instances), took, static_cast<unsigned long long>(replayed),
      beside, alone, 100 * beside / alone);
  CHECK(static_cast<bool>(engine->close()));
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%s\n", env::hardware().c_str());
  const std::uint64_t instances = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::uint64_t rehearsed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000;
  if (instances != 0) measure_addition(instances);
  if (rehearsed != 0) measure_rehearsal(rehearsed);
  return 0;
}
