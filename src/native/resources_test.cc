// SPDX-License-Identifier: Apache-2.0
#include "holdfast/resources.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "native/testing_steps.h"

namespace holdfast::native::resources_test {
namespace {

using Lines = std::vector<std::string>;

// Says what happens to it.
struct Noted {
  Noted(std::string the_name, Lines& the_notes) : name(std::move(the_name)), notes(the_notes) {
    notes.push_back("+" + name);
  }
  ~Noted() { notes.push_back("-" + name); }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  std::string name;
  Lines& notes;
};
struct Config : Noted {
  using Noted::Noted;
};
struct Db : Noted {
  using Noted::Noted;
};
struct Trace : Noted {
  using Noted::Noted;
};

class ResourcesTest : public ::testing::Test {
 protected:
  template <class T>
  auto make(std::string name) {
    return [this, name] { return std::make_unique<T>(name, notes); };
  }
  template <class Function>
  static std::string thrown(Function function) {
    try {
      function();
    } catch (const StepError& error) {
      return error.code + ": " + error.what();
    }
    return "nothing";
  }

  Lines notes;
  std::shared_ptr<Resources> all = std::make_shared<Resources>();
};

TEST_F(ResourcesTest, of_the_program_are_made_once_and_when_they_are_asked_for) {
  all->add<Config>("config", make<Config>("config")).add<Db>("db", [this](ResourceMaker& maker) {
    return std::make_unique<Db>("db of " + maker.get<Config>().name, notes);
  });
  EXPECT_EQ(notes, Lines());
  const Db* first = nullptr;
  {
    ResourceMaker run(all);
    first = &run.get<Db>("db");
    EXPECT_EQ(notes, (Lines{"+config", "+db of config"}));
  }
  ResourceMaker run(all);
  EXPECT_EQ(&run.get<Db>(), first);
  EXPECT_EQ(notes.size(), 2U);
}

TEST_F(ResourcesTest, end_in_the_other_order) {
  all->add<Db>("db",
               [this](ResourceMaker& maker) {
                 maker.get<Config>();
                 return std::make_unique<Db>("db", notes);
               })
      .add<Config>("config", make<Config>("config"));
  ResourceMaker(all).get<Db>();
  all.reset();
  EXPECT_EQ(notes, (Lines{"+config", "+db", "-db", "-config"}));
}

TEST_F(ResourcesTest, of_a_run_are_its_own_and_end_with_it) {
  all->add<Db>("db", make<Db>("db"))
      .add<Trace>(
          "trace",
          [this](ResourceMaker& maker) {
            return std::make_unique<Trace>("trace to " + maker.get<Db>().name, notes);
          },
          ResourceLife::kRun);
  {
    ResourceMaker one(all);
    ResourceMaker other(all);
    EXPECT_EQ(&one.get<Trace>(), &one.get<Trace>());
    EXPECT_NE(&one.get<Trace>(), &other.get<Trace>());
  }
  EXPECT_EQ(notes, (Lines{"+db", "+trace to db", "+trace to db", "-trace to db", "-trace to db"}));
}

TEST_F(ResourcesTest, are_found_by_name_or_by_type) {
  all->add<Db>("db", make<Db>("db")).add<Db>("copy", make<Db>("copy"));
  all->add<std::string>("text", [] { return "plain value"; });
  ResourceMaker run(all);
  EXPECT_EQ(run.get<Db>("copy").name, "copy");
  EXPECT_EQ(run.get<std::string>(), "plain value");
  EXPECT_EQ(thrown([&] { run.get<Db>(); }),
            "step.no_resource: there are several resources of that type: 'db' and 'copy'");
  EXPECT_EQ(thrown([&] { run.get<Db>("text"); }),
            "step.no_resource: the resource 'text' is of another type");
  EXPECT_EQ(thrown([&] { run.get<Db>("other"); }),
            "step.no_resource: there is no resource 'other'");
  EXPECT_EQ(thrown([&] { run.get<Trace>(); }),
            "step.no_resource: there is no resource of that type");
  EXPECT_EQ(thrown([&] { all->add<Db>("db", make<Db>("db")); }),
            "step.resource_twice: there are two resources 'db'");
}

TEST_F(ResourcesTest, that_need_each_other_are_refused) {
  const auto needing = [](const char* other) {
    return [other](ResourceMaker& maker) { return maker.get<std::string>(other); };
  };
  all->add<std::string>("a", needing("b"))
      .add<std::string>("b", needing("c"))
      .add<std::string>("c", needing("b"))
      .add<std::string>("self", needing("self"));
  ResourceMaker run(all);
  EXPECT_EQ(thrown([&] { run.get<std::string>("a"); }),
            "step.resource_cycle: 'b' needs 'c' needs 'b'");
  EXPECT_EQ(thrown([&] { run.get<std::string>("self"); }),
            "step.resource_cycle: 'self' needs 'self'");
  EXPECT_EQ(thrown([&] { all->make_all(); }), "step.resource_cycle: 'b' needs 'c' needs 'b'");
}

TEST_F(ResourcesTest, of_the_program_need_none_of_a_run) {
  all->add<Trace>("trace", make<Trace>("trace"), ResourceLife::kRun)
      .add<Db>("db", [this](ResourceMaker& maker) {
        maker.get<Trace>();
        return std::make_unique<Db>("db", notes);
      });
  ResourceMaker run(all);
  EXPECT_EQ(thrown([&] { run.get<Db>(); }),
            "step.resource_life: 'db' would outlive 'trace', which it needs");
  EXPECT_EQ(notes, Lines());
}

TEST_F(ResourcesTest, of_the_program_need_none_of_a_run_that_is_there_already) {
  const auto needing = [this](ResourceMaker& maker) {
    maker.get<Trace>();
    return std::make_unique<Db>("db", notes);
  };
  all->add<Trace>("trace", make<Trace>("trace"), ResourceLife::kRun)
      .add<Db>("db", needing)
      .add<Db>("own", needing, ResourceLife::kRun)
      .add<std::string>(
          "text",
          [](ResourceMaker& maker) {
            maker.get<Trace>();
            return maker.get<Db>("db").name;
          },
          ResourceLife::kRun);
  ResourceMaker run(all);
  run.get<Trace>();
  const std::string refused = "step.resource_life: 'db' would outlive 'trace', which it needs";
  EXPECT_EQ(thrown([&] { run.get<Db>("db"); }), refused);
  EXPECT_EQ(thrown([&] { run.get<std::string>("text"); }), refused);
  EXPECT_EQ(thrown([&] { all->make_all(); }), refused);
  EXPECT_EQ(run.get<Db>("own").name, "db");  // one of the run may
}

TEST_F(ResourcesTest, a_factory_that_throws_or_makes_nothing_is_asked_again) {
  int calls = 0;
  all->add<Db>("db", [&]() -> std::unique_ptr<Db> {
    if (++calls == 1) throw StepError("db.away", "nobody there");
    if (calls == 2) return nullptr;
    return std::make_unique<Db>("db", notes);
  });
  ResourceMaker run(all);
  EXPECT_EQ(thrown([&] { run.get<Db>(); }), "db.away: nobody there");
  EXPECT_EQ(thrown([&] { run.get<Db>(); }), "step.no_resource: the factory of 'db' made nothing");
  EXPECT_EQ(run.get<Db>().name, "db");
  EXPECT_EQ(calls, 3);
}

TEST_F(ResourcesTest, many_threads_that_ask_get_the_same) {
  std::atomic<int> made = 0;
  all->add<int>("n", [&] { return ++made; }).add<int>("m", [&](ResourceMaker& maker) {
    return maker.get<int>("n") + 10;
  });
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> sum = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      ResourceMaker run(all);
      sum += i % 2 == 0 ? run.get<int>("n") + 10 : run.get<int>("m");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(sum, 88);
}

// The factory waits until it is told to go on.
class SlowFactory {
 public:
  int make() {
    std::unique_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return goes_on_; });
    return 7;
  }
  void wait_until_called() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_ != 0; });
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    goes_on_ = true;
    changed_.notify_all();
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
  bool goes_on_ = false;
};

TEST_F(ResourcesTest, one_that_takes_long_keeps_nobody_from_the_others) {
  SlowFactory factory;
  all->add<int>("slow", [&] { return factory.make(); })
      .add<Db>("db", make<Db>("db"))
      .add<Config>("config", make<Config>("config"));
  ResourceMaker(all).get<Db>();
  int got = 0;
  std::thread slow([&] { got = ResourceMaker(all).get<int>(); });
  factory.wait_until_called();
  EXPECT_EQ(ResourceMaker(all).get<Db>().name, "db") << "was there";
  EXPECT_EQ(ResourceMaker(all).get<Config>().name, "config") << "is made";
  factory.go_on();
  EXPECT_EQ(ResourceMaker(all).get<int>(), 7);
  slow.join();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(factory.calls(), 1);
}

// Each thread has made one half of the circle when it asks for the other.
TEST_F(ResourcesTest, that_need_each_other_are_refused_on_different_threads_too) {
  std::atomic<int> begun = 0;
  const auto needing = [&](const char* other) {
    return [&begun, other](ResourceMaker& maker) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      return maker.get<std::string>(other);
    };
  };
  all->add<std::string>("a", needing("b")).add<std::string>("b", needing("a"));
  std::string first;
  std::thread other([&] { first = thrown([&] { ResourceMaker(all).get<std::string>("a"); }); });
  const std::string second = thrown([&] { ResourceMaker(all).get<std::string>("b"); });
  other.join();
  for (const std::string& refused : {first, second}) {
    EXPECT_TRUE(refused == "step.resource_cycle: 'a' needs 'b' needs 'a'" ||
                refused == "step.resource_cycle: 'b' needs 'a' needs 'b'")
        << refused;
  }
}

TEST_F(ResourcesTest, who_waits_for_a_factory_that_throws_asks_it_again) {
  std::atomic<int> calls = 0;
  std::atomic<bool> is_waited_for = false;
  all->add<int>("n", [&] {
    if (++calls > 1) return 7;
    while (!is_waited_for) std::this_thread::yield();
    throw StepError("n.away", "nobody there");
  });
  std::string first;
  std::thread failing([&] { first = thrown([&] { ResourceMaker(all).get<int>(); }); });
  while (calls == 0) std::this_thread::yield();
  is_waited_for = true;
  EXPECT_EQ(ResourceMaker(all).get<int>(), 7);
  failing.join();
  EXPECT_EQ(first, "n.away: nobody there");
}

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};
struct Uses : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Uses@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  End use(const Begin&, StepContext& context) {
    std::string text = context.resource<Db>().name;
    text += context.resource<Trace>("trace").name;
    return {text};
  }
  StepTask<End> wait(const Begin&, TaskContext& context) {
    context.resource<Trace>("trace");
    co_await context.wait_for<Begin>();
    co_return End{};
  }
  static auto steps() { return StepsOf<Uses>().step("use", &Uses::use).step("wait", &Uses::wait); }
};

TEST_F(ResourcesTest, a_body_gets_them_from_its_context) {
  all->add<Db>("db", make<Db>("db")).add<Trace>("trace", make<Trace>("t"), ResourceLife::kRun);
  testing::BodyOf<Uses> body(std::make_shared<Uses>(), all);
  EXPECT_EQ(body.run("use", Begin{}), Lines{R"(returned test/End@1{"text":"dbt"})"});
  EXPECT_EQ(notes, (Lines{"+db", "+t", "-t"}));
  // A wait ends the run, and what is its own.
  EXPECT_EQ(body.run("wait", Begin{}), Lines{"waits #1 test/Begin@1"});
  EXPECT_EQ(notes, (Lines{"+db", "+t", "-t", "+t", "-t"}));
}

TEST_F(ResourcesTest, a_body_that_asks_for_one_that_is_not_there_fails) {
  testing::BodyOf<Uses> without;
  EXPECT_EQ(without.run("use", Begin{}),
            Lines{"failed step.no_resource: the program gives no resources to its steps"});
  testing::BodyOf<Uses> empty(std::make_shared<Uses>(), all);
  EXPECT_EQ(empty.run("use", Begin{}),
            Lines{"failed step.no_resource: there is no resource of that type"});
}

}  // namespace
}  // namespace holdfast::native::resources_test
