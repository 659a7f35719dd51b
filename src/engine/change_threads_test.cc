// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/changing.md: programs of several releases on one world, each of which is
// killed behind some action or while it writes some record of the change, and goes on in the next
// process.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "codec/normaliser.h"
#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::change_test {
namespace {

using namespace std::chrono_literals;

// What the processes of one run share: which write to the journal ends the process that makes it,
// and how far they came.
struct JournalKills {
  std::atomic<std::uint64_t> writes = 0;  // to the journal, by all of them
  std::array<std::uint64_t, 2> at = {};   // the numbers of those that end a process; 0: none
  bool is_torn = false;                   // only the head of that write is there
  std::atomic<std::uint64_t> kills = 0;
  std::atomic<std::uint64_t> answered = 0;  // acts
};
JournalKills* kills_here = nullptr;  // null: this process is not killed

// What was written outlives a process that is killed, so nothing needs to wait for the disk.
bool is_sync_skipped = false;

// Every batch of records begins so (docs/formats/journal.md).
bool is_batch(const void* bytes, std::size_t size) {
  constexpr std::string_view kMagic = "HFB1";
  return size >= kMagic.size() && std::memcmp(bytes, kMagic.data(), kMagic.size()) == 0;
}

ssize_t write_or_die(int file, const void* bytes, std::size_t size, off_t offset) {
  JournalKills* const kills = kills_here;
  const auto write = [&](std::size_t count) {
    return static_cast<ssize_t>(::syscall(SYS_pwrite64, file, bytes, count, offset));
  };
  if (kills == nullptr || !is_batch(bytes, size)) return write(size);
  const std::uint64_t number = ++kills->writes;
  if (number != kills->at[0] && number != kills->at[1]) return write(size);
  ++kills->kills;
  // A batch is filled up with zeros, so that half of it may have all of its records.
  constexpr std::size_t kTornBytes = 64;
  static_cast<void>(write(kills->is_torn ? std::min(size, kTornBytes) : size));
  ::kill(::getpid(), SIGKILL);
  return -1;
}

struct Placed {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
};
struct Paid {
  static constexpr std::string_view kSchema = "shop/Paid@1";
  std::string id;
};
struct Charge {
  static constexpr std::string_view kEffect = "shop/charge@1";
  static constexpr Executor kExecutor = worker("bank");
  struct Params {
    std::string id;
  };
  struct Receipt {
    bool ok = true;
  };
};

// Of the thread that ran a step last.
std::atomic<int> nice_of_step = 0;
int nice_here() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

namespace v1 {
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t cents = 0;
  };
  using Events = holdfast::Events<On<Placed, &Placed::id>, On<Paid, &Paid::id>>;
  using Effects = holdfast::Effects<Charge>;
  using Context = holdfast::Context<Order>;
  static void step(State& state, const Placed&, Context&) {
    nice_of_step = nice_here();
    state.cents = 100;
  }
  static void step(State&, const Paid& paid, Context& context) { context.open<Charge>({paid.id}); }
  static void step(State& state, const Received<Charge>&, Context& context) {
    context.complete("v1 " + std::to_string(state.cents));
  }
};
}  // namespace v1

// Has another state, and does not charge any more.
namespace v2 {
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t cents = 0;
    std::string currency;
  };
  using Earlier = v1::Order::State;
  using Events = holdfast::Events<On<Placed, &Placed::id>, On<Paid, &Paid::id>>;
  using Context = holdfast::Context<Order>;
  static std::optional<State> migrate(const Earlier& earlier) {
    if (earlier.cents == 0) return std::nullopt;
    return State{earlier.cents, "EUR"};
  }
  static void step(State& state, const Placed&, Context&) { state = {200, "USD"}; }
  static void step(State& state, const Paid&, Context& context) {
    context.complete("v2 " + std::to_string(state.cents) + " " + state.currency);
  }
};
}  // namespace v2

struct Invoice {
  static constexpr std::string_view kWorkflow = "shop/Invoice@1";
  struct State {
    std::uint64_t n = 0;
  };
  using Events = holdfast::Events<On<Paid, &Paid::id>>;
  using Context = holdfast::Context<Invoice>;
  static void step(State&, const Paid&, Context& context) { context.complete(std::string("sent")); }
};

struct Packed {
  static constexpr std::string_view kSchema = "shop/Packed@1";
  std::string text;
};
struct Sent {
  static constexpr std::string_view kSchema = "shop/Sent@1";
  std::string text;
};

// Packs when it was paid. A later release calls the step otherwise, or has one more.
template <int kRelease>
struct Parcel : StepWorkflow {
  static constexpr std::string_view kWorkflow = "shop/Parcel@1";
  using Events = holdfast::Events<On<Placed, &Placed::id>, On<Paid, &Paid::id>>;
  using Stop = Sent;
  Packed pack(const Placed&, StepContext& context) {
    static_cast<void>(context.wait_for<Paid>());
    return {"release " + std::to_string(kRelease)};
  }
  Sent send(const Packed& packed, StepContext&) { return {packed.text + " sent"}; }
  Sent check(const Packed& packed, StepContext&) { return {packed.text + " checked"}; }
  static auto steps() {
    if constexpr (kRelease == 1)
      return StepsOf<Parcel>().step("pack", &Parcel::pack).step("send", &Parcel::send);
    if constexpr (kRelease == 2)  // renamed
      return StepsOf<Parcel>().step("wrap", &Parcel::pack).step("send", &Parcel::send);
    if constexpr (kRelease == 3)  // another one instead of `send`
      return StepsOf<Parcel>().step("pack", &Parcel::pack).step("check", &Parcel::check);
  }
};

struct Release {
  std::vector<Module> modules;
  std::vector<Handler> handlers;
};

std::vector<Handler> bank() {
  return {handle<Charge>([](const Charge::Params&, const Call&) { return Charge::Receipt{}; })};
}

template <class Workflow>
std::string end_of(Engine& engine, const std::string& key) {
  const auto ended = engine.wait<Workflow>(key, 60s);
  if (!ended) return ended.error().message;
  if constexpr (std::is_base_of_v<StepWorkflow, Workflow>) {
    const auto sent = ended->template result_as<Sent>();
    return sent ? sent->text : "no result";
  } else {
    return ended->template result_as<std::string>().value_or("no result");
  }
}

// One thing that a program of some release does, which is durable when it returns.
struct Act {
  std::size_t release = 0;
  std::function<void(Engine&)> run;
};

class ChangeTest : public ::testing::Test {
 protected:
  void TearDown() override { is_sync_skipped = false; }

  static std::unique_ptr<Engine> open(const std::string& dir, const Release& release) {
    EngineOptions options;
    options.dir = dir;
    options.modules = release.modules;
    options.handlers = release.handlers;
    options.any_file_system = true;
    auto opened = Engine::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }

  // Does the acts from `begin` to `end` in a process that is killed behind the last of them.
  void run_killed(const std::string& dir, const std::vector<Release>& releases,
                  const std::vector<Act>& acts, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const std::size_t release = acts[at].release;
      std::size_t stop = at;
      while (stop < end && acts[stop].release == release) ++stop;
      const pid_t child = fork();
      if (child == 0) {
        const auto engine = open(dir, releases[release]);
        if (engine == nullptr) _exit(1);
        for (std::size_t i = at; i < stop; ++i) acts[i].run(*engine);
        if (HasFailure()) _exit(1);
        ::kill(getpid(), SIGKILL);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      at = stop;
    }
  }

  // All of the acts that were not answered yet, in processes that are killed where `kills` says so,
  // and behind the last act of their release. One that was not answered is done again.
  static void run_killed_at_writes(const std::string& dir, const std::vector<Release>& releases,
                                   const std::vector<Act>& acts, JournalKills& kills) {
    std::size_t processes = 0;
    while (kills.answered < acts.size()) {
      ASSERT_LE(++processes, acts.size() + kills.at.size());
      const std::size_t begin = kills.answered;
      const pid_t child = fork();
      if (child == 0) {
        kills_here = &kills;
        const auto engine = open(dir, releases[acts[begin].release]);
        if (engine == nullptr) _exit(1);
        for (std::size_t i = begin; i < acts.size() && acts[i].release == acts[begin].release;
             ++i) {
          acts[i].run(*engine);
          if (HasFailure()) _exit(1);
          ++kills.answered;
        }
        ::kill(getpid(), SIGKILL);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
  }

  static void judge_once(const std::string& dir, const Release& release,
                         const std::function<void(Engine&)>& judge) {
    const auto engine = open(dir, release);
    ASSERT_NE(engine, nullptr);
    judge(*engine);
    ASSERT_TRUE(engine->close());
  }

  // All of the acts, with a kill at each write to the journal, which has a record or several: all
  // of it is there and nobody was answered, or only its head. Once, and twice: then the next
  // process is killed at its first write as well.
  static void run_recipe_over_records(const std::vector<Release>& releases,
                                      const std::vector<Act>& acts,
                                      const std::function<void(Engine&)>& judge) {
    void* const shared = ::mmap(nullptr, sizeof(JournalKills), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    struct How {
      bool is_torn;
      bool is_twice;
    };
    for (const How how : {How{false, false}, How{true, false}, How{true, true}}) {
      for (std::uint64_t write = 1;; ++write) {
        SCOPED_TRACE("killed at write " + std::to_string(write) +
                     (how.is_twice ? " and the next" : "") + (how.is_torn ? ", torn" : ""));
        auto* const kills = new (shared)
            JournalKills{.at = {write, how.is_twice ? write + 1 : 0}, .is_torn = how.is_torn};
        env::testing::TemporaryFolder folder;
        const std::string dir = folder.path() + "/world";
        run_killed_at_writes(dir, releases, acts, *kills);
        if (HasFatalFailure()) return;
        judge_once(dir, releases[acts.back().release], judge);
        if (HasFailure()) return;
        if (kills->kills != 0) continue;
        EXPECT_GT(write, acts.size() / 2) << "acts write records";
        break;
      }
    }
    ::munmap(shared, sizeof(JournalKills));
  }

  // All of the acts, with a kill behind each of them, once and twice; then `judge` looks, also
  // after one more restart.
  void run_recipe(const std::vector<Release>& releases, const std::vector<Act>& acts,
                  const std::function<void(Engine&)>& judge) {
    is_sync_skipped = true;
    run_recipe_over_records(releases, acts, judge);
    if (HasFailure()) return;
    for (std::size_t first = 0; first <= acts.size(); ++first) {
      for (const std::size_t second : {first, std::min(first + 1, acts.size())}) {
        SCOPED_TRACE("killed after " + std::to_string(first) + " and " + std::to_string(second));
        env::testing::TemporaryFolder folder;
        const std::string dir = folder.path() + "/world";
        run_killed(dir, releases, acts, 0, first);
        run_killed(dir, releases, acts, first, second);
        run_killed(dir, releases, acts, second, acts.size());
        for (int i = 0; i < 2; ++i) judge_once(dir, releases[acts.back().release], judge);
        if (HasFatalFailure()) return;
      }
    }
  }

  template <class Event>
  static std::function<void(Engine&)> sends(std::string key) {
    return [key](Engine& engine) {
      const auto sent = engine.send(Event{key}, {.id = std::string(Event::kSchema) + key});
      EXPECT_TRUE(sent) << sent.error().message;
    };
  }
};

TEST_F(ChangeTest, add_a_workflow) {
  const std::vector<Release> releases{
      {{Module::of<v1::Order>("shop/code@1")}, bank()},
      {{Module::of<v1::Order>("shop/code@1"), Module::of<Invoice>("shop/invoices@1")}, bank()}};
  run_recipe(releases, {{0, sends<Placed>("a")}, {1, sends<Placed>("b")}, {1, sends<Paid>("a")}},
             [](Engine& engine) {
               EXPECT_EQ(end_of<v1::Order>(engine, "a"), "v1 100");
               EXPECT_EQ(end_of<Invoice>(engine, "a"), "sent");
               EXPECT_EQ(engine.query<v1::Order>("b")->status, InstanceStatus::kRunning);
             });
}

// Those that wait for the bank when the effect is dropped go on with the release before.
TEST_F(ChangeTest, change_a_state_and_drop_an_effect) {
  const std::vector<Release> releases{
      {{Module::of<v1::Order>("shop/code@1")}, bank()},
      {{Module::of<v2::Order>("shop/code@1").with_earlier(Module::of<v1::Order>("shop/code@1"))},
       bank()}};
  run_recipe(releases,
             {{0, sends<Placed>("old")},
              {0, sends<Placed>("moves")},
              {1, sends<Placed>("new")},
              {1, sends<Paid>("old")},
              {1,
               [](Engine& engine) {
                 EXPECT_EQ(end_of<v1::Order>(engine, "old"), "v1 100");
                 const auto migrated = engine.migrate("shop/Order@1", "test");
                 ASSERT_TRUE(migrated) << migrated.error().message;
                 EXPECT_EQ(migrated->stays, 0u);
               }},
              {1, sends<Paid>("moves")},
              {1, sends<Paid>("new")}},
             [](Engine& engine) {
               EXPECT_EQ(end_of<v2::Order>(engine, "moves"), "v2 100 EUR");
               EXPECT_EQ(end_of<v2::Order>(engine, "new"), "v2 200 USD");
             });
}

TEST_F(ChangeTest, rename_a_step) {
  const std::vector<Release> releases{
      {{Module::of<Parcel<1>>("shop/code@1")}, step_handlers(std::make_shared<Parcel<1>>())},
      {{Module::of<Parcel<2>>("shop/code@1").with_earlier(Module::of<Parcel<1>>("shop/code@1"))},
       with_earlier(step_handlers(std::make_shared<Parcel<2>>()),
                    step_handlers(std::make_shared<Parcel<1>>()))}};
  run_recipe(releases,
             {{0, sends<Placed>("old")},
              {1, sends<Placed>("new")},
              {1, sends<Paid>("old")},
              {1, sends<Paid>("new")}},
             [](Engine& engine) {
               EXPECT_EQ(end_of<Parcel<2>>(engine, "old"), "release 1 sent");
               EXPECT_EQ(end_of<Parcel<2>>(engine, "new"), "release 2 sent");
             });
}

TEST_F(ChangeTest, roll_back) {
  const Release before{
      {Module::of<v1::Order>("shop/code@1").with_earlier(Module::of<v2::Order>("shop/code@1"))},
      bank()};
  const Release after{
      {Module::of<v2::Order>("shop/code@1").with_earlier(Module::of<v1::Order>("shop/code@1"))},
      bank()};
  run_recipe({before, after, before},
             {{0, sends<Placed>("a")},
              {1, sends<Placed>("b")},
              {2, sends<Placed>("c")},
              {2, sends<Paid>("a")},
              {2, sends<Paid>("b")},
              {2, sends<Paid>("c")}},
             [](Engine& engine) {
               EXPECT_EQ(end_of<v1::Order>(engine, "a"), "v1 100");
               const auto b = engine.wait<v2::Order>("b", 60s);
               ASSERT_TRUE(b);
               EXPECT_EQ(b->result_as<std::string>(), "v2 200 USD");
               EXPECT_EQ(end_of<v1::Order>(engine, "c"), "v1 100");
             });
}

TEST_F(ChangeTest, a_run_moves_to_a_graph_that_has_what_it_needs) {
  const std::vector<Release> releases{
      {{Module::of<Parcel<1>>("shop/code@1")}, step_handlers(std::make_shared<Parcel<1>>())},
      {{Module::of<Parcel<3>>("shop/code@1").with_earlier(Module::of<Parcel<1>>("shop/code@1"))},
       with_earlier(step_handlers(std::make_shared<Parcel<3>>()),
                    step_handlers(std::make_shared<Parcel<1>>()))}};
  run_recipe(
      releases,
      {{0, sends<Placed>("a")},
       {0,
        [](Engine& engine) {
          for (int i = 0; i < 6000; ++i) {
            const auto run = engine.query<Parcel<1>>("a");
            if (run && run->status == InstanceStatus::kRunning) return;
            std::this_thread::sleep_for(10ms);
          }
          ADD_FAILURE() << "it never waits for an event";
        }},
       {1,
        [](Engine& engine) {
          const auto migrated = engine.migrate("shop/Parcel@1");
          ASSERT_TRUE(migrated) << migrated.error().message;
          EXPECT_EQ(migrated->stays, 0u);
        }},
       {1, sends<Paid>("a")}},
      [](Engine& engine) { EXPECT_EQ(end_of<Parcel<3>>(engine, "a"), "release 3 checked"); });
}

TEST_F(ChangeTest, a_rehearsal_tells_what_would_become_of_every_instance) {
  env::testing::TemporaryFolder folder;
  const std::string dir = folder.path() + "/world";
  const Module with_migration =
      Module::of<v2::Order>("shop/code@1").with_earlier(Module::of<v1::Order>("shop/code@1"));
  {
    const auto engine = open(dir, {{Module::of<v1::Order>("shop/code@1")}, bank()});
    ASSERT_NE(engine, nullptr);
    for (int i = 0; i < 20; ++i) sends<Placed>("k" + std::to_string(i))(*engine);
    ASSERT_TRUE(engine->close());
  }
  // The new program with the definitions of before.
  EngineOptions options;
  options.dir = dir;
  options.modules = {with_migration};
  options.handlers = bank();
  options.any_file_system = true;
  options.apply_definitions = false;
  auto opened = Engine::open(std::move(options));
  ASSERT_TRUE(opened) << opened.error().message;
  Engine& engine = **opened;
  const std::uint64_t records = engine.last_durable();
  codec::Normaliser normaliser;
  const auto made =
      normaliser.part_from_json(codec::Schema::any(), definitions_of(std::vector{with_migration}));
  ASSERT_TRUE(made);
  const Bytes definitions(made->begin(), made->end());

  const int nice_before = nice_here();
  const auto blocked = engine.rehearse_raw(definitions);
  EXPECT_GE(nice_of_step, 10) << "what is under way goes first";
  EXPECT_EQ(nice_here(), nice_before) << "the caller goes on as it was";
  ASSERT_TRUE(blocked) << blocked.error().message;
  EXPECT_FALSE(blocked->is_good());
  EXPECT_EQ(blocked->instances, 20u);
  EXPECT_EQ(blocked->applied.blocking_count, 20u);

  const auto pinned = engine.rehearse_raw(definitions, {.pin = true});
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_TRUE(pinned->is_good());
  ASSERT_EQ(pinned->applied.pinned.size(), 1u);
  EXPECT_EQ(pinned->applied.pinned[0].instances, 20u);
  EXPECT_EQ(pinned->applied.record, 0u);
  EXPECT_GE(pinned->replayed, 20u);

  const auto moved = engine.rehearse_raw(definitions, {.migrate = true});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_TRUE(moved->is_good());
  EXPECT_EQ(moved->migrated.moved, 20u);
  EXPECT_EQ(engine.last_durable(), records) << "the world has not changed";
  EXPECT_EQ(engine.query<v1::Order>("k1")->state.cents, 100u);
}

}  // namespace
}  // namespace holdfast::change_test

// Instead of those of the C library: what the engine writes comes here.
extern "C" ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  return holdfast::change_test::write_or_die(file, bytes, size, offset);
}
extern "C" ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t offset) {
  return holdfast::change_test::write_or_die(file, bytes, size, offset);
}
extern "C" int fdatasync(int file) {
  if (holdfast::change_test::is_sync_skipped) return 0;
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
extern "C" int fsync(int file) {
  if (holdfast::change_test::is_sync_skipped) return 0;
  return static_cast<int>(::syscall(SYS_fsync, file));
}
