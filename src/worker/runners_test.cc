// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "env/testing.h"
#include "worker/echo_runner.h"
#include "worker/function_runner.h"
#include "worker/native_runner.h"
#include "worker/probe.h"
#include "worker/process_runner.h"
#include "worker/testing_runner.h"

namespace holdfast::work {
namespace {

using testing::RunnerStage;

std::string write_script(const env::testing::TemporaryFolder& folder, const std::string& name,
                         const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(EchoRunnerTest, answers_with_its_items_now_or_later) {
  const auto clock = env::posix_clock();
  EchoRunner runner(*clock);
  RunnerStage stage(runner);
  stage.start("1", "echo", R"({"data":{"items":["a",[1,[2]],{"b":null}]}})");
  EXPECT_EQ(
      stage.outcome("1"),
      R"({"count":4,"items":[{"output":"a"},{"output":1},{"output":2},{"output":{"b":null}}]})");
  stage.start("2", "echo", "{}");
  EXPECT_EQ(stage.outcome("2"), R"({"count":0,"items":[]})");
  stage.start("3", "echo", R"({"data":{"delay_sec":0.05,"items":[3]}})");
  EXPECT_FALSE(stage.has_ended("3"));
  EXPECT_EQ(stage.outcome("3"), R"({"count":1,"items":[{"output":3}]})");
  stage.start("4", "echo", R"({"data":{"delay_sec":-1}})");
  EXPECT_TRUE(stage.has_ended("4"));
}

TEST(EchoRunnerTest, refuses_a_delay_that_is_no_number_and_ends_when_it_is_stopped) {
  const auto clock = env::posix_clock();
  EchoRunner runner(*clock);
  RunnerStage stage(runner);
  for (const char* delay : {"true", R"("1")", "1e300", "[]"}) {
    const std::string name = std::string("bad ") + delay;
    stage.start(name, "echo", std::string(R"({"data":{"delay_sec":)") + delay + "}}");
    EXPECT_TRUE(stage.outcome(name).starts_with("echo.input: data.delay_sec")) << delay;
    EXPECT_FALSE(stage.is_retryable(name));
  }
  stage.start("long", "echo", R"({"data":{"delay_sec":3600}})");
  runner.stop("long", StopReason::kCancelled, Urgency::kSoft);
  EXPECT_TRUE(stage.outcome("long").starts_with("task.stopped"));
}

class ProcessRunnerTest : public ::testing::Test {
 protected:
  std::unique_ptr<ProcessRunner> runner_of(const std::string& script) {
    auto runner = ProcessRunner::of({write_script(folder_, "run", "#!/bin/sh\n" + script)});
    EXPECT_TRUE(runner) << runner.error().to_string();
    return std::move(*runner);
  }
  env::testing::TemporaryFolder folder_;
};

TEST_F(ProcessRunnerTest, gets_json_and_answers_with_json_and_its_errors_are_the_log) {
  const auto runner = runner_of(
      "read line; echo \"got $1 $HOLDFAST_ATTEMPT\" >&2; printf 'half' >&2; echo \"{\\\"in\\\": "
      "$line}\"");
  RunnerStage stage(*runner);
  stage.start("1", "process", R"({"args":["first"],"x":[1,2.5]})", 7);
  EXPECT_EQ(stage.outcome("1"), R"({"in":{"x":[1,2.5],"args":["first"]}})");
  EXPECT_EQ(stage.lines("1"), "err got first 7\nerr half\n");
}

TEST_F(ProcessRunnerTest, an_exit_code_a_signal_and_wrong_output_are_errors) {
  const auto runner = runner_of(
      "read line; case $1 in 3) echo 'disk is full' >&2; exit 3;; 65) exit 65;; term) kill -TERM "
      "$$;; "
      "text) echo hello;; none) ;; esac");
  RunnerStage stage(*runner);
  const auto ran = [&](const std::string& argument) {
    stage.start(argument, "process", R"({"args":[")" + argument + "\"]}");
    return stage.outcome(argument);
  };
  EXPECT_EQ(ran("3"), "process.exit: run exited with 3: disk is full");
  EXPECT_TRUE(stage.is_retryable("3"));
  EXPECT_EQ(ran("65"), "process.exit: run exited with 65");
  EXPECT_FALSE(stage.is_retryable("65"));
  EXPECT_EQ(ran("term"), "process.signal: run was killed by signal 15");
  EXPECT_TRUE(ran("text").starts_with("process.output: standard output of run is not JSON"));
  EXPECT_EQ(ran("none"), "null");
}

TEST_F(ProcessRunnerTest, a_program_that_is_asked_to_yield_leaves_its_output_for_the_next_run) {
  const auto runner = runner_of(
      "read line; trap 'echo \"{\\\"at\\\": 5}\"; exit 75' TERM; echo \"from $HOLDFAST_RESUME\" "
      ">&2; "
      "while true; do sleep 0.02; done");
  RunnerStage stage(*runner);
  stage.start("1", "process", "{}", 1, R"({"at":3})");
  ASSERT_TRUE(stage.run_until([&] { return stage.lines("1") == "err from {\"at\":3}\n"; }));
  runner->stop("1", StopReason::kPreempt, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("1"), "yielded: ");
  EXPECT_EQ(stage.resume("1"), R"({"at":5})");
  stage.start("2", "process", "{}");
  ASSERT_TRUE(stage.run_until([&] { return stage.lines("2") == "err from \n"; }));
  runner->stop("2", StopReason::kCancelled, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("2"), "process.exit: run exited with 75: from ") << "it was not asked to";
}

TEST_F(ProcessRunnerTest, only_programs_that_were_named_are_run) {
  const auto runner = runner_of("true");
  RunnerStage stage(*runner);
  stage.start("1", "process", R"({"program":"/bin/sh"})");
  EXPECT_EQ(stage.outcome("1"), "process.input: program: this worker does not run '/bin/sh'");
  stage.start("2", "process", R"({"program":"run"})");
  EXPECT_EQ(stage.outcome("2"), "null");
  stage.start("3", "process", R"({"args":"x"})");
  EXPECT_EQ(stage.outcome("3"), "process.input: args: expected a list");
}

TEST_F(ProcessRunnerTest, one_that_ignores_sigterm_is_killed_with_its_whole_group) {
  const auto runner = runner_of("trap '' TERM; sleep 3600 & echo $! >&2; wait; wait; sleep 3600");
  RunnerStage stage(*runner);
  stage.start("1", "process", "{}");
  ASSERT_TRUE(stage.run_until([&] { return !stage.lines("1").empty(); }));
  const pid_t grandchild = std::stoi(stage.lines("1").substr(4));
  runner->stop("1", StopReason::kCancelled, Urgency::kKill);
  EXPECT_TRUE(stage.outcome("1").starts_with("process.signal"));
  // It is an orphan: whoever adopts orphans waits for it.
  ASSERT_TRUE(stage.run_until([&] {
    if (::kill(grandchild, 0) != 0) return true;
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.empty() || text[text.rfind(')') + 2] == 'Z';
  }));
}

TEST_F(ProcessRunnerTest, input_that_is_larger_than_a_pipe_arrives_whole) {
  const auto runner = runner_of("wc -c");
  RunnerStage stage(*runner);
  stage.start("1", "process", R"({"x":")" + std::string(300'000, 'y') + "\"}");
  EXPECT_EQ(stage.outcome("1"), "300009");
}

class FunctionRunnerTest : public ::testing::Test {
 protected:
  base::Result<std::unique_ptr<FunctionRunner>> python(const std::string& text) {
    return FunctionRunner::load(python_functions(), write_script(folder_, "tasks.py", text), 4);
  }
  base::Result<std::unique_ptr<FunctionRunner>> node(const std::string& text,
                                                     const char* name = "tasks.mjs") {
    return FunctionRunner::load(node_functions(), write_script(folder_, name, text), 4);
  }
  env::testing::TemporaryFolder folder_;
};

TEST_F(FunctionRunnerTest, python_functions_get_and_give_json_and_what_they_print_is_the_log) {
  auto loaded = python(
      "import os, sys\n"
      "def add(input, task):\n"
      "    print('adding', task.name, task.attempt)\n"
      "    print('to stderr', file=sys.stderr)\n"
      "    os.system('echo from a program')\n"
      "    task.progress({'half': True})\n"
      "    return {'sum': input['a'] + input['b']}\n"
      "def _hidden(): pass\n"
      "def nothing(): pass\n");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->types(), (std::vector<std::string>{"python", "add", "nothing"}));
  RunnerStage stage(**loaded);
  stage.start("1", "add", R"({"a":1,"b":2.5})", 3);
  EXPECT_EQ(stage.outcome("1"), R"({"sum":3.5})");
  EXPECT_NE(stage.lines("1").find("out adding name of 1 3\n"), std::string::npos);
  EXPECT_NE(stage.lines("1").find("out from a program\n"), std::string::npos);
  EXPECT_NE(stage.lines("1").find("err to stderr\n"), std::string::npos);
  EXPECT_EQ(stage.last_progress("1"), R"({"half":true})");
  stage.start("2", "python", R"({"function":"nothing"})");
  EXPECT_EQ(stage.outcome("2"), "null");
  stage.start("3", "python", "{}");
  EXPECT_TRUE(stage.outcome("3").starts_with("python.function: 'function' is needed"));
  stage.start("4", "python", R"({"function":"_hidden"})");
  EXPECT_TRUE(stage.outcome("4").starts_with("python.function: there is no function '_hidden'"));
}

TEST_F(FunctionRunnerTest, python_exceptions_and_results_that_are_no_json_are_errors) {
  auto loaded = python(
      "import os, sys\n"
      "class Hopeless(Exception):\n"
      "    retryable = False\n"
      "    code = 'shop.hopeless'\n"
      "def fails(input): raise ValueError('no')\n"
      "def hopeless(input): raise Hopeless('really')\n"
      "def odd(input): return {1, 2}\n"
      "def nan(input): return float('nan')\n"
      "def leaves(input): sys.exit(3)\n"
      "def dies(input): os._exit(4)\n");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  RunnerStage stage(**loaded);
  const auto ran = [&](const std::string& name) {
    stage.start(name, name, "{}");
    return stage.outcome(name);
  };
  EXPECT_EQ(ran("fails"), "python.exception: ValueError: no");
  EXPECT_TRUE(stage.is_retryable("fails"));
  EXPECT_NE(stage.lines("fails").find("Traceback"), std::string::npos);
  EXPECT_EQ(ran("hopeless"), "shop.hopeless: tasks.Hopeless: really");
  EXPECT_FALSE(stage.is_retryable("hopeless"));
  EXPECT_TRUE(ran("odd").starts_with("python.result: the result is not JSON"));
  EXPECT_TRUE(ran("nan").starts_with("python.result: the result is not JSON"));
  EXPECT_TRUE(ran("leaves").starts_with("python.exception: SystemExit"));
  EXPECT_TRUE(ran("dies").starts_with("python.died: python exited with 4"));
  stage.start("after", "fails", "{}");
  EXPECT_EQ(stage.outcome("after"), "python.exception: ValueError: no") << "another child runs it";
}

TEST_F(FunctionRunnerTest, python_tasks_are_asked_to_stop_and_killed_if_they_do_not) {
  auto loaded = python(
      "import signal, time\n"
      "def listens(input, task):\n"
      "    print('runs')\n"
      "    task.wait(3600)\n"
      "    return {'stopped': task.stopped, 'reason': task.stop_reason}\n"
      "def yields(input, task):\n"
      "    print('runs')\n"
      "    task.wait(3600)\n"
      "    raise task.Yield({'at': 5})\n"
      "def deaf(input):\n"
      "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
      "    print('runs')\n"
      "    time.sleep(3600)\n");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  RunnerStage stage(**loaded);
  for (const char* name : {"listens", "yields", "deaf"}) stage.start(name, name, "{}");
  for (const char* name : {"listens", "yields", "deaf"})
    ASSERT_TRUE(stage.run_until([&] { return stage.lines(name) == "out runs\n"; })) << name;
  for (const char* name : {"listens", "yields", "deaf"})
    (*loaded)->stop(name, StopReason::kPreempt, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("listens"), R"({"reason":"preempt","stopped":true})");
  ASSERT_TRUE(stage.run_until([&] { return stage.has_ended("yields"); }));
  EXPECT_EQ(stage.resume("yields"), R"({"at":5})");
  (*loaded)->stop("deaf", StopReason::kPreempt, Urgency::kTerminate);
  EXPECT_FALSE(stage.has_ended("deaf"));
  (*loaded)->stop("deaf", StopReason::kPreempt, Urgency::kKill);
  EXPECT_TRUE(stage.outcome("deaf").starts_with("python.died: python was killed by signal 9"));
}

TEST_F(FunctionRunnerTest,
       a_file_that_cannot_be_loaded_is_refused_with_the_words_of_the_interpreter) {
  const auto broken = python("def f(:\n");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().to_string().find("SyntaxError"), std::string::npos);
  const auto empty = python("x = 1\n");
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().to_string().find("has no functions"), std::string::npos);
  const auto missing = FunctionRunner::load(python_functions(), folder_.path() + "/none.py", 4);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), base::ErrorCode::kNotFound);
  const auto thrown = node("throw new Error('no way')\n");
  ASSERT_FALSE(thrown);
  EXPECT_NE(thrown.error().to_string().find("no way"), std::string::npos);
}

TEST_F(FunctionRunnerTest, node_functions_get_and_give_json_and_what_they_print_is_the_log) {
  auto loaded = node(
      "import {execSync} from 'node:child_process';\n"
      "export async function add(input, task) {\n"
      "  console.log('adding', task.name, task.attempt);\n"
      "  console.error('to stderr');\n"
      "  execSync('echo from a program', {stdio: 'inherit'});\n"
      "  task.progress({half: true});\n"
      "  return {sum: input.a + input.b};\n"
      "}\n"
      "export function fails() { throw Object.assign(new Error('no'), {code: 'shop.no', retryable: "
      "false}); }\n"
      "export function odd() { const a = {}; a.a = a; return a; }\n"
      "export function dies() { process.exit(5); }\n"
      "export const listens = (input, task) => new Promise((done) => {\n"
      "  console.log('runs');\n"
      "  task.signal.addEventListener('abort', () => done(task.stopReason));\n"
      "});\n");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  RunnerStage stage(**loaded);
  const auto ran = [&](const std::string& name) {
    stage.start(name, name, R"({"a":1,"b":2.5})");
    return stage.outcome(name);
  };
  EXPECT_EQ(ran("add"), R"({"sum":3.5})");
  EXPECT_NE(stage.lines("add").find("out adding name of add 1\n"), std::string::npos);
  EXPECT_NE(stage.lines("add").find("out from a program\n"), std::string::npos);
  EXPECT_NE(stage.lines("add").find("err to stderr\n"), std::string::npos);
  EXPECT_EQ(stage.last_progress("add"), R"({"half":true})");
  EXPECT_EQ(ran("fails"), "shop.no: Error: no");
  EXPECT_FALSE(stage.is_retryable("fails"));
  EXPECT_TRUE(ran("odd").starts_with("node.result: the result is not JSON"));
  EXPECT_TRUE(ran("dies").starts_with("node.died: node exited with 5"));
  stage.start("listens", "listens", "{}");
  ASSERT_TRUE(stage.run_until([&] { return stage.lines("listens") == "out runs\n"; }));
  (*loaded)->stop("listens", StopReason::kCancelled, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("listens"), R"("cancelled")");
}

TEST_F(FunctionRunnerTest, commonjs_modules_have_functions_too) {
  auto loaded = node("module.exports = {twice: (input) => input.n * 2};\n", "tasks.cjs");
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  RunnerStage stage(**loaded);
  stage.start("1", "twice", R"({"n":21})");
  EXPECT_EQ(stage.outcome("1"), "42");
  stage.start("2", "node", R"({"n":2})");
  EXPECT_EQ(stage.outcome("2"), "4") << "the only function is meant";
}

struct Wanted {
  std::string word;
  std::uint64_t times = 1;
  std::optional<std::string> end;
};
struct Made {
  std::string text;
  std::uint64_t attempt = 0;
};

TEST(NativeRunnerTest, functions_of_the_program_get_and_give_structs) {
  std::vector<TaskFunction> functions;
  functions.push_back(task<Wanted>("repeat", [](const Wanted& input, TaskCall& call) {
    call.log("repeating " + input.word);
    call.progress(Made{"half", 0});
    Made made{{}, call.attempt};
    for (std::uint64_t i = 0; i < input.times; ++i) made.text += input.word;
    made.text += input.end.value_or("");
    return made;
  }));
  functions.push_back(task<Wanted>("fails", [](const Wanted& input, TaskCall&) -> Made {
    if (input.times == 1) throw std::runtime_error("by chance");
    throw TaskFailure("shop.no", "never", false);
  }));
  functions.push_back(task<Wanted>("listens", [](const Wanted&, TaskCall& call) {
    while (!call.stopped()) std::this_thread::yield();
    return Made{"stopped", 0};
  }));
  auto runner = NativeRunner::of(std::move(functions));
  ASSERT_TRUE(runner) << runner.error().to_string();
  RunnerStage stage(**runner);
  stage.start("1", "repeat", R"({"word":"ab","times":3})", 2);
  EXPECT_EQ(stage.outcome("1"), R"({"text":"ababab","attempt":2})");
  EXPECT_EQ(stage.lines("1"), "out repeating ab\n");
  EXPECT_EQ(stage.last_progress("1"), R"({"text":"half","attempt":0})");
  stage.start("2", "repeat", R"({"word":5,"times":3})");
  EXPECT_TRUE(stage.outcome("2").starts_with("task.input: $.word")) << stage.outcome("2");
  EXPECT_FALSE(stage.is_retryable("2"));
  stage.start("3", "fails", R"({"word":"x","times":1})");
  EXPECT_EQ(stage.outcome("3"), "task.exception: by chance");
  stage.start("4", "fails", R"({"word":"x","times":2})");
  EXPECT_EQ(stage.outcome("4"), "shop.no: never");
  EXPECT_FALSE(stage.is_retryable("4"));
  stage.start("5", "listens", R"({"word":"x","times":2})");
  (*runner)->stop("5", StopReason::kCancelled, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("5"), R"({"text":"stopped","attempt":0})");
}

TEST(NativeRunnerTest, a_function_yields_when_it_is_asked_and_goes_on_where_it_was) {
  std::vector<TaskFunction> functions;
  functions.push_back(task<Wanted>("counts", [](const Wanted& input, TaskCall& call) {
    Made made = call.resume<Made>().value_or(Made{"", 0});
    while (made.text.size() < input.times) {
      if (call.asked_to_yield()) call.yield(Made{made.text + "y", 7});
      if (made.attempt == 7) made.text += input.word;
      std::this_thread::yield();
    }
    return made;
  }));
  auto runner = NativeRunner::of(std::move(functions));
  ASSERT_TRUE(runner);
  RunnerStage stage(**runner);
  stage.start("1", "counts", R"({"word":"x","times":3})");
  (*runner)->stop("1", StopReason::kPreempt, Urgency::kSoft);
  EXPECT_EQ(stage.outcome("1"), "yielded: ");
  EXPECT_EQ(stage.resume("1"), R"({"text":"y","attempt":7})");
  stage.start("2", "counts", R"({"word":"x","times":3})", 1, stage.resume("1"));
  EXPECT_EQ(stage.outcome("2"), R"({"text":"yxx","attempt":7})");
  stage.start("3", "counts", R"({"word":"x","times":0})", 1, R"({"other":1})");
  EXPECT_EQ(stage.outcome("3"), R"({"text":"","attempt":0})") << "it left another type";
}

TEST(NativeRunnerTest, an_abandoned_function_keeps_its_slot_until_it_returns) {
  static std::atomic<bool> may_end;
  may_end = false;
  std::vector<TaskFunction> functions;
  functions.push_back(task<Made>("deaf", [](const Made& input, TaskCall&) {
    while (!may_end) std::this_thread::yield();
    return input;
  }));
  auto runner = NativeRunner::of(std::move(functions));
  ASSERT_TRUE(runner);
  RunnerStage stage(**runner);
  stage.start("1", "deaf", R"({"text":"x","attempt":1})");
  (*runner)->abandon("1");
  EXPECT_EQ((*runner)->blocked(), 1u);
  may_end = true;
  EXPECT_TRUE(stage.run_until([&] { return (*runner)->blocked() == 0; }));
  EXPECT_FALSE(stage.has_ended("1"));
}

TEST(Probe, reads_what_the_system_and_its_tools_say) {
  const auto devices =
      devices_in("0, NVIDIA A100-SXM4-40GB, 40960\nnonsense\n1, Tesla, T4, 15360\n");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].index, 0u);
  EXPECT_EQ(devices[0].type, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(devices[0].memory_bytes, std::uint64_t{40960} << 20);
  EXPECT_EQ(devices[1].type, "Tesla, T4");
  EXPECT_EQ(memory_in("MemFree: 1 kB\nMemTotal:       2048 kB\n"), std::uint64_t{2048} << 10);
  EXPECT_EQ(memory_in("nothing"), 0u);
  EXPECT_EQ(quota_milli_in("150000 100000\n"), 1500u);
  EXPECT_EQ(quota_milli_in("max 100000\n"), 0u);
  const Resources found = probe_resources();
  EXPECT_GE(found.cpu_milli, 1u);
  EXPECT_GT(found.memory_bytes, std::uint64_t{1} << 20);
}

}  // namespace
}  // namespace holdfast::work
