// SPDX-License-Identifier: Apache-2.0
// FunctionRunner: runs functions of a Python or JavaScript file. Each function is a task type of
// its own; the type `python` or `node` runs the function that `function` in the input names, or the
// only one there is.
//
// The functions run in child processes that live on, one task at a time each, with a small script
// of ours around them (bootstrap.py, bootstrap.mjs) that needs nothing but the standard library.
// What a function prints is the log of its task, line by line. A child that dies takes its task
// with it and nothing else. Children for tasks with GPUs see only those (CUDA_VISIBLE_DEVICES), so
// a child is used again only for the same devices.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "executors/child.h"
#include "worker/limits.h"
#include "worker/line_splitter.h"
#include "worker/runner.h"

namespace holdfast::work {

struct FunctionLanguage {
  std::string_view type;                  // "python", "node"
  std::string program;                    // by path, or by name in PATH
  std::vector<std::string_view> options;  // before the script
  std::string_view script;
};
FunctionLanguage python_functions();
FunctionLanguage node_functions();

class FunctionRunner : public Runner {
 public:
  // Starts a first child and waits until it has loaded the file. kInvalid: the file cannot be
  // loaded, or has no functions; the message is the interpreter's.
  static base::Result<std::unique_ptr<FunctionRunner>> load(
      const FunctionLanguage& language, const std::string& file, std::size_t most_idle,
      std::chrono::milliseconds patience = std::chrono::seconds(60));

  std::vector<std::string> types() const override { return types_; }
  void start(const Task& task, TaskReports& reports) override;
  void stop(const std::string& dispatch, StopReason reason, Urgency urgency) override;
  void abandon(const std::string& dispatch) override;
  void add_polled(std::vector<pollfd>& polled) override;
  void go_on(const pollfd* polled, TaskReports& reports) override;
  std::size_t polled_count() const override { return hosts_.size() * kPolledOfHost; }

 private:
  static constexpr std::size_t kPolledOfHost = 4;
  static constexpr std::size_t kMaxMessageBytes = 16 * kMiB;

  // A child and the task that it runs.
  struct Host {
    executors::Child child;
    std::vector<std::uint64_t> devices;
    std::string unwritten = {};
    LineSplitter output{kMaxMessageBytes};
    LineSplitter errors{kMaxLineBytes};
    std::string dispatch = {};  // empty: it is idle
    std::string last_line = {};
    std::vector<std::string> functions = {};  // once it is ready
    bool is_ready = false;
    std::string broken = {};
  };
  using Hosts = std::list<Host>;

  FunctionRunner(const FunctionLanguage& language, executors::Program program, std::string file,
                 std::size_t most_idle);
  base::Result<Hosts::iterator> launch(const std::vector<std::uint64_t>& devices);
  base::Result<void> wait_until_ready(Host& host, std::chrono::milliseconds patience);
  Hosts::iterator idle_host(const std::vector<std::uint64_t>& devices);
  Host* host_of(const std::string& dispatch);
  std::string work_message(const Task& task) const;
  void write(Host& host);
  void read(Host& host, const pollfd* polled, bool has_ended, TaskReports* reports);
  void take_output(Host& host, std::string_view line, TaskReports* reports);
  void take_message(Host& host, std::string_view json, TaskReports* reports);
  void take_error_line(Host& host, std::string_view line, TaskReports* reports);
  void remove_idle();
  std::string death_of(Host& host);

  const FunctionLanguage language_;
  executors::Program program_;
  const std::string file_;
  const std::size_t most_idle_;
  const std::string marker_;
  std::vector<std::string> types_;
  Hosts hosts_;
};

}  // namespace holdfast::work
