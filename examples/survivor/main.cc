// SPDX-License-Identifier: Apache-2.0
// Sends five letters, a pause between them. End it however you like (kill -9, pull the plug) and
// run it again: it goes on where it was, and knows which letters were sent. One that was under way
// is posted again, with the same key.
#include <chrono>
#include <cstdio>
#include <thread>

#include "arguments.h"
#include "holdfast/engine.h"

using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "letters/Begin@1";
  std::string to;
};

struct Post {
  static constexpr std::string_view kEffect = "letters/post@1";
  static constexpr holdfast::Executor kExecutor = holdfast::worker("post");
  struct Params {
    std::string to;
    std::uint64_t number = 0;
  };
  struct Receipt {};
};

struct Letters {
  static constexpr std::string_view kWorkflow = "letters/Letters@1";
  struct State {
    std::string to;
    std::uint64_t sent = 0;
  };
  using Events = holdfast::Events<holdfast::On<Begin, &Begin::to>>;
  using Effects = holdfast::Effects<Post, holdfast::Timer>;
  using Context = holdfast::Context<Letters>;

  static void step(State& state, const Begin& begin, Context& context) {
    context.open<Post>({state.to = begin.to, 1});
  }
  static void step(State& state, const holdfast::Received<Post>& posted, Context& context) {
    if (!posted.ok()) return context.fail(posted.error.code, posted.error.message);
    if (++state.sent == 5) return context.complete(state.sent);
    context.timer(context.now() + 100ms);
  }
  static void step(State& state, const holdfast::Received<holdfast::Timer>&, Context& context) {
    context.open<Post>({state.to, state.sent + 1});
  }
};

holdfast::Performed<Post> post(const Post::Params& letter, const holdfast::Call& call) {
  std::printf("letter %d to %s, key %s\n", static_cast<int>(letter.number), letter.to.c_str(),
              call.key.c_str());
  std::fflush(stdout);
  std::this_thread::sleep_for(400ms);  // it is under way: killed now, nobody knows that it is sent
  return Post::Receipt{};
}

int main(int argc, char** argv) {
  const auto said = examples::arguments(argc, argv, 0, 1);
  if (!said) return std::fprintf(stderr, "usage: survivor [WORLD] [--any-file-system]\n"), 2;
  const std::string dir = said->words.empty() ? "letters.world" : said->words[0];

  auto engine =
      holdfast::Engine::open({.dir = dir,
                              .modules = {holdfast::Module::of<Letters>("letters/code@1")},
                              .handlers = {holdfast::handle<Post>(post)},
                              .any_file_system = said->any_file_system});
  if (!engine) return std::fprintf(stderr, "%s\n", engine.error().message.c_str()), 1;
  const auto begun = (*engine)->send(Begin{"Ada"}, {.id = "first"});  // durable when it returns
  const auto ended = (*engine)->wait<Letters>("Ada", 1min);

  if (!begun || !ended) return std::fprintf(stderr, "it did not end\n"), 1;
  std::printf("%d letters sent\n", static_cast<int>(ended->state.sent));
}
