// SPDX-License-Identifier: Apache-2.0
// A world whose workflows reach outside: a request, a program and a blob, with a secret in the
// first two. Real sockets, real children, real files.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "base/testing.h"
#include "env/posix_disk.h"
#include "env/testing.h"
#include "executors/blob.h"
#include "executors/http.h"
#include "executors/process.h"
#include "executors/secrets.h"
#include "executors/testing_server.h"
#include "kernel/testing_lab.h"
#include "node/effect_blobs.h"
#include "node/local_world.h"
#include "node/node.h"

namespace holdfast::node {
namespace {

using kernel::testing::value;

constexpr char kSecret[] = "correct-horse-battery-staple";

constexpr char kDefinitions[] = R"json([
{"$kind":"defschema","name":"fx/Go@1","type":{"record":{"id":{"text":{}}}}},
{"$kind":"defschema","name":"fx/Text@1","type":{"text":{}}},
{"$kind":"defschema","name":"fx/State@1","type":{"record":{"ok":{"nat":{}},"failed":{"nat":{}}}}},
{"$kind":"defschema","name":"fx/Event@1","type":{"variant":{"Go":{"ref":"fx/Go@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defsecret","name":"fx/token@3","binding_id":"env:HOLDFAST_TEST_TOKEN"},
{"$kind":"defmodule","name":"fx/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"fx/Flow@1","state":"fx/State@1","event":"fx/Event@1","key_schema":"fx/Text@1",
 "effects_emitted":["sys/http.request@2","sys/process.run@1","sys/blob.put@1"],
 "impl":{"module":"fx/code@1","entrypoint":"flow"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"fx/Go@1"},{"name":"fx/Text@1"},{"name":"fx/State@1"},
  {"name":"fx/Event@1"}],"modules":[{"name":"fx/code@1"}],"effects":[],"workflows":[{"name":"fx/Flow@1"}],
 "secrets":[{"name":"fx/token@3"}],
 "routing":{"subscriptions":[{"event":"fx/Go@1","workflow":"fx/Flow@1","key_field":"id"}]}}
])json";

class EffectsTest : public ::testing::Test {
 protected:
  EffectsTest() {
    ::setenv("HOLDFAST_TEST_TOKEN", kSecret, 1);
    clock_ = env::posix_clock();
  }
  void open() {
    node_.reset();
    executors_.clear();
    blobs_.reset();
    world_.reset();
    auto opened = LocalWorld::open(*disk_, *random_, *process_, folder_.path() + "/world",
                                   machines_, {.journal = {.segment_bytes = 1 << 20}, .world = {}});
    ASSERT_TRUE(opened) << opened.error().to_string();
    world_ = std::move(*opened);
    auto blobs = WorldEffectBlobs::open(world_->folder());
    ASSERT_TRUE(blobs);
    blobs_ = std::move(*blobs);
    declare_secrets();
    executors_.push_back(std::move(*executors::http_executor({.hosts = {{"127.0.0.1", 0, true}}},
                                                             {*clock_, &secrets_, blobs_.get()})));
    executors_.push_back(std::move(*executors::process_executor(
        {.programs = {"/bin/sh"}, .variables = {"T"}}, *clock_, &secrets_)));
    executors_.push_back(executors::blob_put_executor({}, *blobs_));
    auto started = Node::start(world_->world(), world_->journal(), *clock_, *random_,
                               {{"http", executors_[0].get()},
                                {"process", executors_[1].get()},
                                {"blob.put", executors_[2].get()}});
    ASSERT_TRUE(started);
    node_ = std::move(*started);
  }
  void declare_secrets() {
    const auto declared = executors::secrets_of(world_->world().program().closure());
    ASSERT_TRUE(declared);
    secrets_.declare(*declared);
  }
  kernel::Answer ask(Input input) {
    auto promise = std::make_shared<std::promise<kernel::Answer>>();
    EXPECT_TRUE(node_->send(
        std::move(input), [promise](const kernel::Answer& answer) { promise->set_value(answer); }));
    return promise->get_future().get();
  }
  void begin() {
    open();
    const base::Bytes definitions = value(kDefinitions);
    const kernel::Answer answer = ask(Input::apply(kernel::ApplyManifest{definitions}));
    ASSERT_TRUE(std::holds_alternative<kernel::Accepted>(answer))
        << ::testing::PrintToString(std::get<kernel::Refused>(answer).details);
    declare_secrets();
  }
  // Opens everything that can be opened, once.
  void flow(const kernel::StepInput& input, kernel::StepOutput& output) {
    using kernel::testing::open;
    if (input.mail.kind == kernel::MailKind::kEvent) {
      output.begin_state();
      kernel::testing::write(output.bytes(), R"({"ok":0,"failed":0})");
      const std::string token = R"({"$tag":"secret","$value":{"alias":"fx/token","version":3}})";
      const std::string rest =
          R"(,"headers":{"Authorization":)" + token + R"(},"body":)" + token + "}";
      open(output, "sys/http.request@2",
           R"({"method":"POST","url":")" + server_.url() + "\"" + rest);
      open(output, "sys/http.request@2", R"({"method":"POST","url":"http://127.0.0.1:1/")" + rest);
      open(output, "sys/process.run@1",
           R"({"argv":["/bin/sh","-c","echo $T; cat >&2"],"env":{"T":)" + token + R"(},"stdin":)" +
               token + "}");
      open(output, "sys/process.run@1",
           R"({"argv":["/no/such/program"],"env":{"T":)" + token + "}}");
      output.begin_effect("sys/blob.put@1", {}, {});
      codec::write_map_head(output.bytes(), 1);
      codec::write_text(output.bytes(), "bytes");
      codec::write_bytes(output.bytes(), base::as_bytes("a blob"));
      return;
    }
    const codec::View state = codec::View::of(*input.state);
    const bool good = input.mail.status == kernel::ReceiptStatus::kOk;
    const std::uint64_t ok = *state.find("ok")->nat() + (good ? 1 : 0);
    const std::uint64_t bad = *state.find("failed")->nat() + (good ? 0 : 1);
    const std::string now =
        R"({"ok":)" + std::to_string(ok) + R"(,"failed":)" + std::to_string(bad) + "}";
    if (ok + bad == 5) return kernel::testing::complete(output, now);
    output.begin_state();
    kernel::testing::write(output.bytes(), now);
  }

  std::string outcome() {
    const kernel::Cell* cell = *world_->world().find("fx/Flow@1", value("\"a\""));
    if (cell == nullptr) return "absent";
    return std::string(name_of(cell->status())) + " " + kernel::testing::json_of(cell->outcome);
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  std::unique_ptr<env::Clock> clock_;
  executors::testing::Server server_{
      [](const std::string& request) { return executors::testing::answer(request); }};
  executors::LocalSecrets secrets_{{{"HOLDFAST_TEST_TOKEN"}, {}}};
  kernel::testing::Machines machines_{
      {"flow", [this](const auto& in, auto& out) { flow(in, out); }}};
  std::unique_ptr<LocalWorld> world_;
  std::unique_ptr<WorldEffectBlobs> blobs_;
  std::vector<std::unique_ptr<executors::Executor>> executors_;
  std::unique_ptr<Node> node_;
};

TEST_F(EffectsTest, are_performed_and_no_byte_of_the_world_tells_a_secret) {
  begin();
  const base::Bytes event = value(R"({"id":"a"})");
  const kernel::Answer sent = ask(Input::event({"fx/Go@1", event, {}}));
  ASSERT_EQ(std::get<kernel::Accepted>(sent).deliveries, 1u);
  const std::uint64_t last = std::get<kernel::Accepted>(sent).record + 5;  // one a receipt
  for (int i = 0; i < 6000 && world_->journal().durable() < last; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(node_->stop());
  ASSERT_EQ(outcome(), R"(completed {"ok":3,"failed":2})");
  ASSERT_TRUE(world_->take_snapshot(1));

  ASSERT_EQ(server_.requests(), 1);
  EXPECT_NE(server_.heard()[0].find(std::string("Authorization: ") + kSecret), std::string::npos);
  EXPECT_TRUE(blobs_->get(base::sha256(base::as_bytes("a blob"))));

  open();
  EXPECT_EQ(outcome(), R"(completed {"ok":3,"failed":2})") << "and replay needs no secret";
  ASSERT_TRUE(node_->stop());

  std::size_t files = 0;
  std::size_t masked = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!file.is_regular_file()) continue;
    ++files;
    const std::string bytes = base::testing::file_text(file.path());
    for (const char* word : {kSecret, "horse-battery"})
      EXPECT_EQ(bytes.find(word), std::string::npos) << file.path();
    if (bytes.find("****************************") != std::string::npos) ++masked;
  }
  EXPECT_GE(files, 4u);
  EXPECT_GE(masked, 1u) << "what came back held it, and is there";
}

}  // namespace
}  // namespace holdfast::node
