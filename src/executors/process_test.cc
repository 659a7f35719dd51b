// SPDX-License-Identifier: Apache-2.0
#include "executors/process.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/base64.h"
#include "base/testing.h"
#include "env/testing.h"
#include "executors/testing.h"

namespace holdfast::executors {
namespace {

using testing::HeardReceipt;
using testing::name;

constexpr std::uint64_t kMs = 1'000'000;

class ProcessTest : public ::testing::Test {
 protected:
  ProcessTest() { make({.grace_ns = 200 * kMs}); }
  static std::vector<std::string> programs() {
    return {"/bin/cat", "/bin/echo",    "/bin/false", "/bin/ls",  "/bin/pwd",
            "/bin/sh",  "/usr/bin/env", "/bin/sleep", "/bin/true"};
  }
  void make(ProcessOptions options) {
    executor_.reset();
    if (options.programs.empty()) options.programs = programs();
    options.variables = {"A", "K", "PATH"};
    auto made = process_executor(options, *clock_, &secrets_);
    ASSERT_TRUE(made) << made.error().to_string();
    executor_ = std::move(*made);
  }
  // A script that anybody may run, in place of what has that name.
  std::string tool(const std::string& script) {
    const std::string path = folder_.path() + "/tool";
    std::ofstream(path + ".new") << script;
    EXPECT_EQ(::chmod((path + ".new").c_str(), 0755), 0);
    std::filesystem::rename(path + ".new", path);
    return path;
  }
  void start(std::uint64_t n, std::string_view json) {
    executor_->start(testing::intent(n, testing::value("sys/ProcessRunParams@1", json)), heard_);
  }
  HeardReceipt run(std::uint64_t n, std::string_view json) {
    start(n, json);
    HeardReceipt receipt = heard_.wait_for(n);
    EXPECT_EQ(
        testing::refusal(receipt.status == kernel::ReceiptStatus::kOk ? "sys/ProcessRunReceipt@1"
                                                                      : "sys/EffectError@1",
                         receipt),
        "");
    return receipt;
  }
  static std::string sh(const std::string& script, const std::string& more = "") {
    return R"({"argv":["/bin/sh","-c",")" + script + R"("])" + more + "}";
  }
  static std::string base64(std::string_view bytes) {
    std::string text;
    base::base64_encode_append(base::as_bytes(bytes), text);
    return text;
  }
  // A line of a file that a child writes, when it is there.
  std::string line_of(const std::string& file) {
    const std::string path = folder_.path() + "/" + file;
    for (int i = 0; i < 6000; ++i) {
      const std::string text = base::testing::file_text(path);
      if (text.find('\n') != std::string::npos) return text.substr(0, text.find('\n'));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "nobody wrote " << file;
    return "0";
  }
  static bool is_gone(pid_t id) {
    for (int i = 0; i < 12'000; ++i) {
      std::ifstream file("/proc/" + std::to_string(id) + "/stat");
      std::string number;
      std::string command;
      std::string state;
      if (!(file >> number >> command >> state) || state == "Z" || state == "X") return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<env::Clock> clock_ = env::posix_clock();
  testing::KnownSecrets secrets_{{{"shop/key@1", "s3cr3t-value"}}};
  testing::Heard heard_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ProcessTest, output_and_exit_code_are_in_the_receipt) {
  const HeardReceipt receipt = run(1, sh("printf out; printf err >&2; exit 3"));
  EXPECT_EQ(receipt.code(), "ok");
  EXPECT_EQ(receipt.number("exit_code"), 3);
  EXPECT_TRUE(receipt.view().find("signal")->is_null());
  EXPECT_EQ(receipt.text("stdout"), "out");
  EXPECT_EQ(receipt.text("stderr"), "err");
  const auto timings = receipt.view().find("timings");
  EXPECT_LE(*timings->find("start_ns")->nat(), *timings->find("end_ns")->nat());
}

TEST_F(ProcessTest, a_signal_that_kills_is_in_the_receipt) {
  const HeardReceipt receipt = run(1, sh("kill -9 $$"));
  EXPECT_EQ(receipt.number("signal"), 9);
  EXPECT_TRUE(receipt.view().find("exit_code")->is_null());
}

TEST_F(ProcessTest, params_of_another_form_are_an_error_and_no_end) {
  std::uint64_t n = 1;
  for (const char* json : {R"({"argv":{"a":"/bin/true"}})", R"({"argv":[""]})", R"({"argv":[]})",
                           R"({"argv":["true"]})", R"({"argv":7})", "7"}) {
    executor_->start(testing::intent(n, testing::any_value(json)), heard_);
    EXPECT_EQ(heard_.wait_for(n).status, kernel::ReceiptStatus::kError) << json;
    ++n;
  }
}

TEST_F(ProcessTest, only_programs_of_the_list_are_run_and_without_one_none) {
  const std::string file = folder_.path() + "/made";
  EXPECT_EQ(run(1, R"({"argv":["/bin/touch",")" + file + "\"]}").code(), "process.program_refused");
  EXPECT_EQ(run(2, R"({"argv":["/bin/../bin/true"]})").code(), "process.program_refused");
  EXPECT_EQ(run(3, R"({"argv":["/bin/true/"]})").code(), "process.program_refused");
  executor_ = process_executor({}, *clock_, nullptr).take();
  const HeardReceipt refused = run(4, R"({"argv":["/bin/true"]})");
  EXPECT_EQ(refused.code(), "process.program_refused");
  EXPECT_EQ(refused.text("message"), "this node does not run /bin/true");
  EXPECT_FALSE(std::filesystem::exists(file));
  for (const char* wrong : {"true", "", "./true"}) {
    const auto made = process_executor({.programs = {wrong}}, *clock_, nullptr);
    ASSERT_FALSE(made) << wrong;
    EXPECT_EQ(made.error().code(), base::ErrorCode::kInvalid);
  }
}

TEST_F(ProcessTest, arguments_go_through_no_shell) {
  EXPECT_EQ(run(1, R"({"argv":["/bin/echo","$HOME; `id`","*"]})").text("stdout"),
            "$HOME; `id` *\n");
}

TEST_F(ProcessTest, the_environment_is_what_is_asked_for_and_the_key) {
  ASSERT_EQ(::setenv("HOLDFAST_TEST_LEAK", "yes", 1), 0);
  const HeardReceipt receipt = run(1, R"({"argv":["/usr/bin/env"],"env":{"A":{"literal":"1"}}})");
  EXPECT_EQ(receipt.text("stdout"), "A=1\nHOLDFAST_IDEMPOTENCY_KEY=" + name(1).to_text() + "\n");
  EXPECT_EQ(run(2, R"({"argv":["/usr/bin/env"]})").text("stdout"),
            "HOLDFAST_IDEMPOTENCY_KEY=" + name(2).to_text() + "\n");
}

TEST_F(ProcessTest, params_set_no_variable_that_the_node_does_not_list) {
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "B", "HOME", "a", "AA"}) {
    const HeardReceipt receipt =
        run(std::hash<std::string>()(name),
            R"({"argv":["/usr/bin/env"],"env":{"A":{"literal":"1"},")" + std::string(name) +
                R"(":{"literal":"/proc/self/fd/0"}}})");
    EXPECT_EQ(receipt.code(), "process.variable_refused") << name;
    EXPECT_NE(receipt.text("message").find(name), std::string::npos) << receipt.json();
  }
}

TEST_F(ProcessTest, no_list_may_have_a_variable_that_loads_code) {
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT", "LD_", "GLIBC_TUNABLES", "GCONV_PATH", "",
                           "A=B", "HOLDFAST_IDEMPOTENCY_KEY"}) {
    const auto made = process_executor({.variables = {"A", name}}, *clock_, nullptr);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code(), base::ErrorCode::kInvalid);
    EXPECT_NE(made.error().message().find("'" + std::string(name) + "'"), std::string::npos);
  }
}

TEST_F(ProcessTest, the_working_directory_is_what_is_asked_for) {
  EXPECT_EQ(run(1, R"({"argv":["/bin/pwd"]})").text("stdout"), "/\n");
  EXPECT_EQ(run(2, R"({"argv":["/bin/pwd"],"cwd":")" + folder_.path() + R"("})").text("stdout"),
            folder_.path() + "\n");
}

TEST_F(ProcessTest, stdin_comes_from_the_params_and_is_empty_otherwise) {
  EXPECT_EQ(run(1, R"({"argv":["/bin/cat"],"stdin":{"literal":"aGVsbG8="}})").text("stdout"),
            "hello");
  EXPECT_EQ(run(2, R"({"argv":["/bin/cat"]})").text("stdout"), "");
  // More than a pipe holds, to a program that reads nothing of it.
  const std::string much(400'000, 'A');
  EXPECT_EQ(
      run(3, R"({"argv":["/bin/true"],"stdin":{"literal":")" + much + R"("}})").number("exit_code"),
      0);
}

TEST_F(ProcessTest, more_input_than_a_pipe_holds_is_read_whole) {
  const std::string text(300'000, 'x');
  const std::string input = R"({"literal":")" + base64(text) + R"("})";
  EXPECT_EQ(run(1, R"({"argv":["/bin/cat"],"stdin":)" + input + "}").text("stdout"), text);
  // Some of it, and then no more.
  EXPECT_EQ(run(2, sh("head -c 5; exit 7", R"(,"stdin":)" + input)).number("exit_code"), 7);
}

// A file that can be mapped would be a way to run anything, through whatever reads it.
TEST_F(ProcessTest, a_library_on_stdin_cannot_be_loaded_from_there) {
  std::string library;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        if (std::string_view(info->dlpi_name).find("libgcc_s") != std::string_view::npos)
          *static_cast<std::string*>(found) = info->dlpi_name;
        return 0;
      },
      &library);
  ASSERT_FALSE(library.empty());
  const auto preload = [](const std::string& path) { return "LD_PRELOAD=" + path + " /bin/true"; };
  EXPECT_EQ(run(1, sh(preload(library))).text("stderr"), "") << "it can be loaded from a file";
  const std::string bytes = base::testing::file_text(library);
  const HeardReceipt receipt =
      run(2, sh(preload("/proc/self/fd/0"), R"(,"stdin":{"literal":")" + base64(bytes) + R"("})"));
  EXPECT_NE(receipt.text("stderr").find("cannot be preloaded"), std::string::npos)
      << receipt.text("stderr");
  EXPECT_EQ(
      run(3, sh("test -p /dev/stdin", R"(,"stdin":{"literal":"aGVsbG8="})")).number("exit_code"),
      0);
}

TEST_F(ProcessTest, a_program_is_the_file_that_it_was_when_it_was_allowed) {
  const std::string path = tool("#!/bin/sh\nexit 3\n");
  const std::string json = R"({"argv":[")" + path + R"("]})";
  make({.programs = {path}});
  EXPECT_EQ(run(1, json).number("exit_code"), 3);

  struct stat before {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  std::fstream(path, std::ios::in | std::ios::out) << "#!/bin/sh\nexit 4\n";
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const HeardReceipt written = run(2, json);
  EXPECT_EQ(written.code(), "process.program_changed") << "of the same size and time";
  EXPECT_TRUE(*written.view().find("retryable")->boolean());
  EXPECT_NE(written.text("message").find(path), std::string::npos);

  tool("#!/bin/sh\nexit 5\n");
  EXPECT_EQ(run(3, json).code(), "process.program_changed") << "another file";
  std::filesystem::remove(path);
  EXPECT_EQ(run(4, json).code(), "process.program_changed") << "none";
  tool("#!/bin/sh\nexit 6\n");
  make({.programs = {path}});
  EXPECT_EQ(run(5, json).number("exit_code"), 6) << "allowed as it is now";
}

TEST_F(ProcessTest, a_new_link_or_mode_does_not_make_another_program) {
  const std::string path = tool("#!/bin/sh\nexit 3\n");
  const std::string json = R"({"argv":[")" + path + R"("]})";
  make({.programs = {path}});
  std::filesystem::create_hard_link(path, path + ".link");
  EXPECT_EQ(run(1, json).number("exit_code"), 3);
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  EXPECT_EQ(run(2, json).number("exit_code"), 3);
  EXPECT_EQ(run(3, json).number("exit_code"), 3);
}

// The folder of the program is exchanged for another one, over and over.
TEST_F(ProcessTest, what_runs_is_the_file_that_was_checked) {
  const std::string now = folder_.path() + "/now";
  const std::string other = folder_.path() + "/other";
  for (const auto& [place, program] : {std::pair(now, "/bin/true"), {other, "/bin/false"}}) {
    std::filesystem::create_directory(place);
    std::filesystem::copy_file(program, place + "/tool");
  }
  make({.programs = {now + "/tool"}});
  std::jthread flips([&](const std::stop_token& ends) {
    while (!ends.stop_requested())
      ::renameat2(AT_FDCWD, now.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  std::size_t ran = 0;
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    start(n, R"({"argv":[")" + now + R"(/tool"]})");
    const HeardReceipt receipt = heard_.wait_for(n);
    if (receipt.status != kernel::ReceiptStatus::kOk) continue;
    ++ran;
    ASSERT_EQ(receipt.number("exit_code"), 0) << "the other one was run, at try " << n;
  }
  EXPECT_GT(ran, 0u);
}

TEST_F(ProcessTest, a_script_can_find_its_own_place) {
  const std::string path = tool("#!/bin/sh\nreadlink -f \"$0\"\n");
  make({.programs = {path}});
  EXPECT_EQ(run(1, R"({"argv":[")" + path + R"("]})").text("stdout"),
            std::filesystem::canonical(path).string() + "\n");
}

TEST_F(ProcessTest, what_is_not_there_or_cannot_be_run_is_not_allowed) {
  for (const std::string& wrong :
       {std::string("/no/such/program"), std::string("/etc/passwd"), folder_.path()}) {
    const auto made = process_executor({.programs = {wrong}}, *clock_, nullptr);
    ASSERT_FALSE(made) << wrong;
    EXPECT_EQ(made.error().code(), base::ErrorCode::kInvalid);
    EXPECT_NE(made.error().message().find("'" + wrong + "'"), std::string::npos);
  }
}

TEST_F(ProcessTest, a_child_has_the_usual_number_of_descriptors_and_leaves_no_core_file) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);
  const HeardReceipt receipt = run(1, sh("ulimit -n; ulimit -c"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const rlim_t expected = std::min<rlim_t>(raised.rlim_max, 1024);
  EXPECT_EQ(receipt.text("stdout"), std::to_string(expected) + "\n0\n");
}

TEST_F(ProcessTest, no_descriptor_of_ours_reaches_a_child) {
  const int leak = ::open("/dev/null", O_RDONLY);  // not marked to be closed
  ASSERT_GE(leak, 0);
  const HeardReceipt receipt = run(1, R"({"argv":["/bin/ls","/proc/self/fd"]})");
  ::close(leak);
  EXPECT_EQ(receipt.text("stdout"), "0\n1\n2\n3\n") << "3 is the folder that ls reads";
}

TEST_F(ProcessTest, more_output_than_the_limit_is_counted_and_not_kept) {
  make({.output_bytes = 1000});
  const HeardReceipt receipt = run(1, sh("head -c 3000000 /dev/zero; echo end >&2"));
  EXPECT_EQ(receipt.text("stdout").size(), 1000u);
  EXPECT_EQ(receipt.number("stdout_size"), 3'000'000);
  EXPECT_EQ(receipt.text("stderr"), "end\n");
  EXPECT_EQ(run(2, sh("echo 12345", R"(,"max_output_bytes":3)")).text("stdout"), "123");
}

TEST_F(ProcessTest, one_that_cannot_be_started_is_an_error) {
  const std::string garbage = tool("this is no program");
  make({.programs = {garbage, "/bin/ls"}});
  for (const auto& [json, code, word] : std::vector<std::array<std::string, 3>>{
           {R"({"argv":[")" + garbage + R"("]})", "process.not_started", "execve"},
           {R"({"argv":["/bin/ls"],"cwd":"/no/such/folder"})", "process.not_started", "chdir"},
           {R"({"argv":["ls"]})", "process.params", "whole path"},
           {R"({"argv":[]})", "process.params", "argv"},
           {R"({"argv":["/bin/ls"],"env":{"A=B":{"literal":""}}})", "process.params", "env"},
           {R"({"argv":["/bin/ls"],"env":{"HOLDFAST_IDEMPOTENCY_KEY":{"literal":""}}})",
            "process.params", "env"},
           {R"({"argv":["/bin/ls"],"env":{"K":{"secret":{"alias":"shop/other","version":1}}}})",
            "process.params", "no such secret"}}) {
    const std::uint64_t n = std::hash<std::string>()(json);
    const HeardReceipt receipt = run(n, json);
    EXPECT_EQ(receipt.status, kernel::ReceiptStatus::kError);
    EXPECT_EQ(receipt.code(), code) << json;
    EXPECT_NE(receipt.text("message").find(word), std::string::npos) << receipt.json();
  }
}

TEST_F(ProcessTest, params_of_another_shape_are_an_error) {
  executor_->start(testing::intent(1, {0xf6}), heard_);
  EXPECT_EQ(heard_.wait_for(1).code(), "process.params");
}

TEST_F(ProcessTest, one_that_takes_too_long_is_asked_to_end_and_then_made_to) {
  const HeardReceipt polite =
      run(1, sh("trap 'exit 0' TERM; while :; do sleep 0.01; done", R"(,"timeout_ns":50000000)"));
  EXPECT_EQ(polite.status, kernel::ReceiptStatus::kTimeout);
  EXPECT_EQ(polite.code(), "process.timeout");
  // One that was asked before it could shut its ears is given more time.
  const std::string file = folder_.path() + "/deaf";
  std::uint64_t limit_ns = 50 * kMs;
  std::int64_t before = 0;
  for (std::uint64_t n = 2; !std::filesystem::exists(file); ++n, limit_ns *= 2) {
    before = clock_->since_boot_ns();
    const HeardReceipt deaf =
        run(n, sh("trap '' TERM; echo x > " + file + "; while :; do sleep 0.01; done",
                  R"(,"timeout_ns":)" + std::to_string(limit_ns)));
    EXPECT_EQ(deaf.code(), "process.timeout");
  }
  EXPECT_GE(clock_->since_boot_ns() - before, static_cast<std::int64_t>(limit_ns / 2 + 200 * kMs));
}

TEST_F(ProcessTest, the_executor_s_limit_holds_where_nobody_asks) {
  make({.time_limit_ns = 50 * kMs, .grace_ns = 50 * kMs});
  EXPECT_EQ(run(1, R"({"argv":["/bin/sleep","100"]})").code(), "process.timeout");
  EXPECT_EQ(run(2, R"({"argv":["/bin/sleep","100"],"timeout_ns":9000000000000})").code(),
            "process.timeout");
}

TEST_F(ProcessTest, stopping_one_kills_its_whole_group_without_a_receipt) {
  start(1, sh("trap '' TERM; (trap '' TERM; sleep 1000) & echo $! > " + folder_.path() +
              "/inner; echo $$ > " + folder_.path() + "/outer; wait; sleep 1000"));
  const pid_t inner = std::stoi(line_of("inner"));
  const pid_t outer = std::stoi(line_of("outer"));
  executor_->stop(name(1));
  executor_->stop(name(1));
  EXPECT_TRUE(is_gone(outer));
  EXPECT_TRUE(is_gone(inner));
  EXPECT_EQ(run(2, R"({"argv":["/bin/true"]})").number("exit_code"), 0);
  EXPECT_EQ(heard_.count(1), 0u);
}

TEST_F(ProcessTest, what_a_program_leaves_behind_in_its_group_ends_with_it) {
  const HeardReceipt receipt =
      run(1, sh("sleep 1000 & echo $! > " + folder_.path() + "/left; echo done"));
  EXPECT_EQ(receipt.text("stdout"), "done\n");
  EXPECT_TRUE(is_gone(std::stoi(line_of("left"))));
}

TEST_F(ProcessTest, no_more_run_at_once_than_allowed_and_all_are_run) {
  make({.queue = {.at_once = 2}});
  const std::string script = "echo x >> " + folder_.path() + "/now; ls " + folder_.path() +
                             " | grep -c here; touch " + folder_.path() +
                             "/here$$; sleep 0.05; ls " + folder_.path() + " | grep -c here; rm " +
                             folder_.path() + "/here$$";
  for (std::uint64_t n = 0; n < 8; ++n)
    start(n, sh(script, R"(,"env":{"PATH":{"literal":"/usr/bin:/bin"}})"));
  for (std::uint64_t n = 0; n < 8; ++n) {
    const std::string out = heard_.wait_for(n).text("stdout");
    ASSERT_EQ(out.size(), 4u) << out;
    EXPECT_LE(out[2], '2');
  }
}

TEST_F(ProcessTest, a_program_that_takes_long_leaves_places_for_others) {
  make({.queue = {.at_once = 4}, .grace_ns = kMs});
  for (std::uint64_t n = 0; n < 20; ++n) start(n, R"({"argv":["/bin/sleep","1000"]})");
  for (std::uint64_t n = 20; n < 25; ++n)
    EXPECT_EQ(run(n, R"({"argv":["/bin/true"]})").number("exit_code"), 0);
}

TEST_F(ProcessTest, one_whose_time_is_over_ends_and_says_so_when_it_has_ended) {
  make({.queue = {.at_once = 1}, .grace_ns = 200 * kMs});
  start(1, sh("echo $$ > " + folder_.path() + "/first; sleep 1000"));
  const pid_t first = std::stoi(line_of("first"));
  start(2, R"({"argv":["/bin/true"]})");
  EXPECT_TRUE(executor_->end_late(name(2))) << "it waits, and the node says that it is late";
  EXPECT_FALSE(executor_->end_late(name(1)));
  const HeardReceipt receipt = heard_.wait_for(1);
  EXPECT_EQ(receipt.status, kernel::ReceiptStatus::kTimeout);
  EXPECT_EQ(receipt.code(), "process.timeout");
  EXPECT_TRUE(is_gone(first));
  EXPECT_EQ(heard_.count(2), 0u);
}

TEST_F(ProcessTest, one_that_waits_is_stopped_before_it_begins) {
  make({.queue = {.at_once = 1, .waiting = 1}, .grace_ns = kMs});
  start(1, sh("echo $$ > " + folder_.path() + "/first; sleep 1000"));
  line_of("first");
  start(2, sh("touch " + folder_.path() + "/second"));
  start(3, R"({"argv":["/bin/true"]})");
  EXPECT_EQ(heard_.wait_for(3).code(), "executor.busy");
  EXPECT_EQ(*heard_.wait_for(3).view().find("retryable")->boolean(), true);
  executor_->stop(name(2));
  executor_->stop(name(1));
  EXPECT_EQ(run(4, R"({"argv":["/bin/true"]})").number("exit_code"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/second"));
}

TEST_F(ProcessTest, one_that_is_told_twice_runs_once) {
  const std::string script = sh("echo x >> " + folder_.path() + "/runs; while [ ! -e " +
                                folder_.path() + "/go_on ]; do sleep 0.01; done");
  start(1, script);
  start(1, script);
  line_of("runs");
  start(1, script);
  std::ofstream(folder_.path() + "/go_on").close();
  heard_.wait_for(1);
  executor_->shut_down();
  EXPECT_EQ(heard_.count(1), 1u);
  EXPECT_EQ(base::testing::file_text(folder_.path() + "/runs"), "x\n");
}

TEST_F(ProcessTest, secrets_reach_the_child_and_are_hidden_in_what_comes_back) {
  const std::string reference = R"({"secret":{"alias":"shop/key","version":1}})";
  const HeardReceipt receipt =
      run(1, sh("test \\\"$K\\\" = s3cr3t-value && cat; echo $K >&2",
                R"(,"stdin":)" + reference + R"(,"env":{"K":)" + reference + "}"));
  EXPECT_EQ(receipt.text("stdout"), "************");
  EXPECT_EQ(receipt.text("stderr"), "************\n");
}

TEST_F(ProcessTest, no_part_of_a_secret_is_left_where_output_is_cut) {
  const std::string reference = R"({"secret":{"alias":"shop/key","version":1}})";
  const HeardReceipt receipt =
      run(1, sh("echo ab$K", R"(,"max_output_bytes":6,"env":{"K":)" + reference + "}"));
  EXPECT_EQ(receipt.text("stdout"), "ab****");
}

TEST_F(ProcessTest, ending_kills_what_runs_and_reports_nothing) {
  start(1, sh("echo $$ > " + folder_.path() + "/id; sleep 1000"));
  const pid_t id = std::stoi(line_of("id"));
  executor_->shut_down();
  EXPECT_TRUE(is_gone(id));
  start(2, R"({"argv":["/bin/true"]})");
  EXPECT_EQ(heard_.count(1) + heard_.count(2), 0u);
}

// As the first process of a container is made the parent of all orphans.
TEST_F(ProcessTest, orphans_that_become_ours_are_waited_for) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  EXPECT_EQ(run(1, sh("sleep 1000 & sleep 1000 & exit 0")).number("exit_code"), 0);
  bool any = true;
  for (int i = 0; i < 12'000 && any; ++i) {
    siginfo_t info{};
    any = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(any) << "a child that nobody waits for";
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

TEST_F(ProcessTest, a_program_that_ignores_its_children_cannot_have_any) {
  struct sigaction before {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGCHLD, &ignored, &before), 0);
  const HeardReceipt receipt = run(1, R"({"argv":["/bin/true"]})");
  const auto made = process_executor({}, *clock_, nullptr);
  ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
  EXPECT_EQ(receipt.code(), "process.not_started");
  EXPECT_NE(receipt.text("message").find("SIGCHLD"), std::string::npos);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), base::ErrorCode::kConflict);
}

// Somebody else in the program forks at any time, and does not go on to another program: what was
// open then stays open there.
TEST_F(ProcessTest, children_that_others_have_do_not_hold_up_a_start) {
  std::atomic<bool> ends = false;
  std::vector<pid_t> children;
  std::thread others([&] {
    while (!ends && children.size() < 400) {
      const pid_t id = ::fork();
      if (id == 0) {
        while (true) ::pause();
      }
      if (id > 0) children.push_back(id);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (std::uint64_t n = 1; n <= 200 && !HasFailure(); ++n)
    EXPECT_EQ(run(n, R"({"argv":["/bin/true"]})").code(), "ok");
  ends = true;
  others.join();
  for (const pid_t id : children) {
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }
}

// The child of a process that is killed, which cannot tidy up.
TEST_F(ProcessTest, children_die_with_us) {
  executor_.reset();
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    auto made = process_executor({.programs = programs()}, *clock_, nullptr);
    if (!made) ::_exit(1);
    executor_ = std::move(*made);
    start(1, sh("echo $$ > " + folder_.path() + "/orphan; exec sleep 1000"));
    while (true) ::pause();
  }
  const pid_t id = std::stoi(line_of("orphan"));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  EXPECT_TRUE(is_gone(id));
}

}  // namespace
}  // namespace holdfast::executors
