// SPDX-License-Identifier: Apache-2.0
// A program with workflows of its own, one for each way to wait, and the whole command line of
// Holdfast around them.
//
// usage: waits make FOLDER    makes a world in which every kind of wait stands, and prints which
//                             instance waits in which way, as JSON
//        waits fail FOLDER    makes a world with an instance for each way to fail: its own step,
//                             a receipt that is an error, one that says that it took too long
//        waits ...            the command line
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "codec/normaliser.h"
#include "env/posix_disk.h"
#include "holdfast/main.h"
#include "holdfast/workflow.h"
#include "kernel/limits.h"
#include "native/machines.h"
#include "node/local_world.h"

namespace {

using namespace holdfast;

constexpr std::uint64_t kSecond = 1'000'000'000;

struct Begin {
  static constexpr std::string_view kSchema = "waits/Begin@1";
  std::string id;
};

template <std::size_t N>
struct Text {
  char text[N];
  consteval Text(const char (&given)[N]) { std::copy_n(given, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

template <Text kName, Text kKind>
struct Asks {
  static constexpr std::string_view kEffect = kName.view();
  static constexpr Executor kExecutor =
      kKind.view() == "worker" ? worker("desk") : built_in(kKind.view());
  struct Params {
    std::string what;
  };
  struct Receipt {};
};

// One workflow for each who may perform an effect.
template <Text kName, class Effect>
struct ForReceipt {
  static constexpr std::string_view kWorkflow = kName.view();
  struct State {
    std::uint64_t begun = 0;
  };
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Effect>;
  using Context = holdfast::Context<ForReceipt>;

  static void step(State& state, const Begin& begin, Context& context) {
    ++state.begun;
    context.template open<Effect>({begin.id});
  }
  static void step(State&, const Received<Effect>&, Context&) {}
};

struct ForTimer {
  static constexpr std::string_view kWorkflow = "waits/ForTimer@1";
  struct State {};
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Timer>;
  using Context = holdfast::Context<ForTimer>;
  static void step(State&, const Begin&, Context& context) {
    context.timer(context.now() + std::chrono::hours(1));
  }
  static void step(State&, const Received<Timer>&, Context&) {}
};

struct ForEvent {
  static constexpr std::string_view kWorkflow = "waits/ForEvent@1";
  struct State {};
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Context = holdfast::Context<ForEvent>;
  static void step(State&, const Begin&, Context&) {}
};

// The world has no route to it.
struct ForNothing {
  static constexpr std::string_view kWorkflow = "waits/ForNothing@1";
  struct State {};
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Context = holdfast::Context<ForNothing>;
  static void step(State&, const Begin&, Context&) {}
};

struct Seed {
  static constexpr std::string_view kSchema = "waits/Seed@1";
  std::string id;
  std::uint64_t depth = 0;
};

// Sends more messages than one tick delivers.
struct ForTurn {
  static constexpr std::string_view kWorkflow = "waits/ForTurn@1";
  struct State {};
  using Events = holdfast::Events<On<Seed, &Seed::id>>;
  using Emits = holdfast::Emits<Seed>;
  using Context = holdfast::Context<ForTurn>;
  static void step(State&, const Seed& seed, Context& context) {
    if (seed.depth == 0) return;
    for (std::uint64_t i = 0; i < 40; ++i)
      context.emit(Seed{seed.id + "-" + std::to_string(i), seed.depth - 1});
  }
};

struct Poke {
  static constexpr std::string_view kSchema = "waits/Poke@1";
  std::string id;
};

struct Poked {
  static constexpr std::string_view kWorkflow = "waits/Poked@1";
  struct State {};
  using Events = holdfast::Events<On<Poke, &Poke::id>>;
  using Context = holdfast::Context<Poked>;
  static void step(State&, const Poke&, Context&) {}
};

// Each sends as much as a step may. Some of them fill the mailbox of one that is paused.
struct ForRoom {
  static constexpr std::string_view kWorkflow = "waits/ForRoom@1";
  struct State {};
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Emits = holdfast::Emits<Poke>;
  using Context = holdfast::Context<ForRoom>;
  static void step(State&, const Begin&, Context& context) {
    for (std::size_t i = 0; i < kernel::kMaxEventsPerStep; ++i) context.emit(Poke{"full"});
  }
};

// Fails by itself, or when what it asked for does not come well, unless its name says that it goes
// on.
template <Text kName, class Effect>
struct Fails {
  static constexpr std::string_view kWorkflow = kName.view();
  struct State {
    bool goes_on = false;
  };
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Effects = holdfast::Effects<Effect>;
  using Context = holdfast::Context<Fails>;
  static void step(State& state, const Begin& begin, Context& context) {
    state.goes_on = begin.id.starts_with("on-");
    if (begin.id == "fault") return context.fail("own", "its own fault");
    context.template open<Effect>({begin.id});
  }
  static void step(State& state, const Received<Effect>& received, Context& context) {
    if (!received.ok() && !state.goes_on)
      context.fail("not_done", "what was asked for did not come");
  }
};

using Worker = Asks<"waits/worker@1", "worker">;
using Echo = Asks<"waits/echo@1", "echo">;
using Http = Asks<"waits/http@1", "http">;
using Process = Asks<"waits/process@1", "process">;
using BlobPut = Asks<"waits/put@1", "blob.put">;
using BlobGet = Asks<"waits/get@1", "blob.get">;
using Outside = Asks<"waits/outside@1", "outside">;

std::vector<Module> modules() {
  return {Module::of<ForReceipt<"waits/ForWorker@1", Worker>, ForReceipt<"waits/ForEcho@1", Echo>,
                     ForReceipt<"waits/ForHttp@1", Http>, ForReceipt<"waits/ForProcess@1", Process>,
                     ForReceipt<"waits/ForPut@1", BlobPut>, ForReceipt<"waits/ForGet@1", BlobGet>,
                     ForReceipt<"waits/ForOutside@1", Outside>, ForTimer, ForEvent, ForNothing,
                     ForTurn, ForRoom, Poked, Fails<"waits/Fails@1", Worker>>("waits/code@1")};
}

base::Bytes value(std::string_view json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json).take();
  return {made.begin(), made.end()};
}

// Without the route to those who wait for nothing.
std::string definitions() {
  const std::vector<Module> all = modules();
  std::string json = definitions_of(all);
  const std::size_t at = json.find("\"workflow\":\"waits/ForNothing@1\"");
  CHECK(at != std::string::npos);
  const std::size_t begin = json.rfind('{', at);
  std::size_t end = json.find('}', at) + 1;
  if (json[end] == ',') ++end;
  json.erase(begin, end - begin);
  return json;
}

class Maker {
 public:
  explicit Maker(const std::string& path)
      : machines_(modules_),
        open_(node::LocalWorld::open(*disk_, *random_, *process_, path, machines_,
                                     {.journal = {}, .world = {}, .any_file_system = true})
                  .take()) {
    run(kernel::ApplyManifest{value(definitions())});
  }

  void begin(std::string_view schema, std::string_view json, std::string_view workflow,
             std::string_view key) {
    const base::Bytes event = value(json);
    const base::Bytes key_value = value("\"" + std::string(key) + "\"");
    run(kernel::EventArrived{schema, event, {}, workflow, key_value, true});
  }

  void pause(std::string_view workflow, std::string_view key) {
    const base::Bytes key_value = value("\"" + std::string(key) + "\"");
    run(kernel::ControlRequested{kernel::Control::kPause, workflow, key_value, "for the test"});
  }

  // What was opened last comes back so.
  void answer(kernel::ReceiptStatus status) {
    const auto* open = std::get_if<kernel::OpenIntent>(&commands_.at(0));
    CHECK(open != nullptr);
    kernel::ReceiptArrived receipt;
    receipt.intent = open->intent;
    receipt.status = status;
    const base::Bytes error =
        value(R"({"code":"no","message":"no luck","retryable":false,"details":null})");
    receipt.payload = error;
    run(receipt);
  }

  void close() { open_->journal().close().take(); }

 private:
  void run(const decltype(kernel::Tick::input)& input) {
    kernel::Tick tick;
    tick.time_ns = (1'800'000'000 + open_->world().next_record()) * kSecond;
    tick.input = input;
    kernel::Outcome outcome = open_->world().reduce(tick);
    CHECK(!outcome.record.empty());
    const base::ByteView record = outcome.record;
    open_->journal().append({&record, 1}).take();
    open_->journal().sync().take();
    commands_ = std::move(outcome.commands);
  }

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::unique_ptr<env::Random> random_ = env::posix_random();
  std::unique_ptr<env::Process> process_ = env::posix_process();
  const std::vector<Module> modules_ = modules();
  const native::Machines machines_;
  std::unique_ptr<node::LocalWorld> open_;
  std::vector<kernel::Command> commands_;
};

struct Wait {
  WaitReason::Kind kind;
  const char* workflow;
  const char* key;
  const char* executor;
};

// The name that people see. Without a default: a kind that is new does not compile.
const char* name_of(WaitReason::Kind kind) {
  switch (kind) {
    case WaitReason::Kind::kReceipt: return "receipt";
    case WaitReason::Kind::kTurn: return "turn";
    case WaitReason::Kind::kPaused: return "paused";
    case WaitReason::Kind::kEvent: return "event";
    case WaitReason::Kind::kNothing: return "nothing";
    case WaitReason::Kind::kRoom: return "room";
    case WaitReason::Kind::kHolds: return "holds";
  }
  return "";
}

int make(const std::string& path) {
  using Kind = WaitReason::Kind;
  const Wait waits[] = {
      {Kind::kReceipt, "waits/ForWorker@1", "w", "worker"},
      {Kind::kReceipt, "waits/ForEcho@1", "w", "echo"},
      {Kind::kReceipt, "waits/ForHttp@1", "w", "http"},
      {Kind::kReceipt, "waits/ForProcess@1", "w", "process"},
      {Kind::kReceipt, "waits/ForPut@1", "w", "blob.put"},
      {Kind::kReceipt, "waits/ForGet@1", "w", "blob.get"},
      {Kind::kReceipt, "waits/ForOutside@1", "w", "outside"},
      {Kind::kReceipt, "waits/ForTimer@1", "w", "timer"},
      {Kind::kEvent, "waits/ForEvent@1", "w", ""},
      {Kind::kPaused, "waits/ForEvent@1", "paused", ""},
      {Kind::kNothing, "waits/ForNothing@1", "w", ""},
      {Kind::kRoom, "waits/ForRoom@1", "w", ""},
      {Kind::kTurn, "waits/ForTurn@1", "s-39-39", ""},
  };
  Maker maker(path);
  maker.begin("waits/Poke@1", R"({"id":"full"})", "waits/Poked@1", "full");
  maker.pause("waits/Poked@1", "full");
  for (std::size_t sent = 0; sent < kernel::kMaxMailPerInstance;
       sent += kernel::kMaxEventsPerStep) {
    const std::string id = "f-" + std::to_string(sent);
    maker.begin("waits/Begin@1", R"({"id":")" + id + R"("})", "waits/ForRoom@1", id);
  }
  for (const Wait& wait : waits) {
    if (wait.kind == Kind::kTurn) continue;
    maker.begin("waits/Begin@1", R"({"id":")" + std::string(wait.key) + R"("})", wait.workflow,
                wait.key);
    if (wait.kind == Kind::kPaused) maker.pause(wait.workflow, wait.key);
  }
  maker.begin("waits/Seed@1", R"({"id":"s","depth":2})", "waits/ForTurn@1", "s");
  maker.close();
  std::string json;
  for (const Wait& wait : waits) {
    json += std::string(json.empty() ? "" : ",") + R"({"instance":")" + wait.workflow + "/" +
            wait.key + R"(","kind":")" + name_of(wait.kind) + R"(","executor":")" + wait.executor +
            R"("})";
  }
  std::printf("[%s]\n", json.c_str());
  return 0;
}

int fail(const std::string& path) {
  Maker maker(path);
  const auto begin = [&](const char* key) {
    maker.begin("waits/Begin@1", R"({"id":")" + std::string(key) + R"("})", "waits/Fails@1", key);
  };
  begin("fault");
  begin("error");
  maker.answer(kernel::ReceiptStatus::kError);
  begin("timeout");
  maker.answer(kernel::ReceiptStatus::kTimeout);
  begin("on-error");
  maker.answer(kernel::ReceiptStatus::kError);
  begin("on-timeout");
  maker.answer(kernel::ReceiptStatus::kTimeout);
  maker.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "make") return make(argv[2]);
  if (argc == 3 && std::string(argv[1]) == "fail") return fail(argv[2]);
  // A server performs what its workflows open, or refuses to serve: here, those that open nothing.
  if (argc > 1 && std::string(argv[1]) == "serve")
    return holdfast::main(argc, argv, {.modules = {Module::of<ForEvent, ForTurn>("waits/code@1")}});
  return holdfast::main(argc, argv, {.modules = modules()});
}
