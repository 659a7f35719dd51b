// SPDX-License-Identifier: Apache-2.0
// Runs step workflows until somebody kills it: a fan-out whose parts fail now and then and are
// tried again after a while, a join, and a question that the outside answers when it has read it in
// the stream. It writes down what the outside sees; tests/crash/crash_test.py kills it and judges.
//
//   attempt ID PART N KEY TOKEN  the body of a part was called for its Nth attempt
//   acked ID new|known           the engine has answered that the run has begun, now or before
//   asked ID SERIAL              the question was read; this is the answer that is sent to it
//   ended ID SERIAL TOKENS       the engine has answered that it has ended, with this answer
//   stream ID ENTRIES            its stream, from the first to the last: sequence:what
//
// usage: step_victim WORLD LEDGER FIRST       from that id on, for ever
//        step_victim WORLD LEDGER FIRST LAST  until all of these have ended, then leaves
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "holdfast/engine.h"
#include "holdfast/steps.h"
#include "load.h"

namespace {

using namespace holdfast;
using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "crash/BeginRun@1";
  std::uint64_t id = 0;
};
struct Answer {
  static constexpr std::string_view kSchema = "crash/Answer@1";
  std::uint64_t id = 0;
  std::string serial;
};
struct Question {
  static constexpr std::string_view kSchema = "crash/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "crash/Part@1";
  std::uint64_t n = 0;
};
struct Done {
  static constexpr std::string_view kSchema = "crash/Done@1";
  std::uint64_t n = 0;
  std::string token;
};
struct All {
  static constexpr std::string_view kSchema = "crash/All@1";
  std::string tokens;
};
struct Outcome {
  static constexpr std::string_view kSchema = "crash/Outcome@1";
  std::string serial;
  std::string tokens;
};

constexpr std::uint64_t kParts = 3;

struct Errand : StepWorkflow {
  static constexpr std::string_view kWorkflow = "crash/Errand@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Answer, &Answer::id>>;
  using Stop = Outcome;
  using Asks = holdfast::Asks<Question>;

  explicit Errand(const crash::Ledger& the_ledger) : ledger(the_ledger) {}

  std::vector<Part> split(const Begin&, StepContext&) {
    std::vector<Part> parts;
    for (std::uint64_t n = 0; n < kParts; ++n) parts.push_back({n});
    return parts;
  }
  Done work(const Part& part, StepContext& context) {
    const auto id = context.run_key<std::uint64_t>();
    const std::string token = life + "." + std::to_string(++attempts);
    ledger.write("attempt " + std::to_string(id) + " " + std::to_string(part.n) + " " +
                 std::to_string(context.attempt()) + " " + context.key + " " + token);
    if ((id + part.n) % 5 == 0 && context.attempt() < 3) throw StepError("crash.unlucky", "again");
    const Done done{part.n, token};
    context.put(done);
    return done;
  }
  All join(const std::vector<Done>& parts, StepContext&) {
    std::vector<std::string> tokens(kParts);
    for (const Done& done : parts) tokens.at(done.n) += done.token;  // twice would be seen
    All all;
    for (const std::string& token : tokens) all.tokens += (all.tokens.empty() ? "" : ",") + token;
    return all;
  }
  Outcome ask(const All& all, StepContext& context) {
    return {context.ask<Answer>(Question{"are these all?"}).serial, all.tokens};
  }

  static auto steps() {
    return StepsOf<Errand>()
        .step("split", &Errand::split)
        .step("work", &Errand::work, {.workers = 2, .retry = Retry(fixed(2ms), after_attempts(4))})
        .step("join", &Errand::join)
        .step("ask", &Errand::ask);
  }

  const crash::Ledger& ledger;
  const std::string life = std::to_string(std::random_device()());
  std::atomic<std::uint64_t> attempts = 0;
};

class Errands : public crash::Load {
 public:
  using Load::Load;

 private:
  static constexpr std::size_t kPage = 1000;
  using Page = StreamPage<StepEntry>;

  void begin(std::uint64_t id) override {
    const std::string name = "errand-" + std::to_string(id);
    engine_.start<Errand>(id, Begin{id}, {.id = name}, [this, id](Result<Sent> sent) {
      if (acked(id, sent)) look_for_question(id, 0);
    });
  }

  // One that has ended in an earlier life was asked there.
  void look_for_question(std::uint64_t id, std::uint64_t after) {
    engine_.follow<Errand>(id, after, kPage, [this, id](Result<Page> page) {
      if (!page) return fail(page.error());
      for (const auto& [sequence, entry] : page->entries)
        if (entry.schema == Question::kSchema) return answer(id);
      if (page->end) return wait(id);
      look_for_question(id, page->last);
    });
  }
  // Each time under the same name: of two answers only one happens.
  void answer(std::uint64_t id) {
    const std::string serial = "s" + std::to_string(id);
    ledger_.write("asked " + std::to_string(id) + " " + serial);
    engine_.send(Answer{id, serial}, {.id = "answer-" + std::to_string(id)},
                 [this, id](Result<Sent> sent) {
                   if (!sent) return fail(sent.error());
                   wait(id);
                 });
  }
  void wait(std::uint64_t id) {
    engine_.wait<Errand>(id, [this, id](Result<Instance<Errand>> ended) {
      if (!ended) return fail(ended.error());
      const auto outcome = ended->result_as<Outcome>();
      ledger_.write("ended " + std::to_string(id) + " " +
                    (outcome ? outcome->serial + " " + outcome->tokens : "failed"));
      read(id);
    });
  }
  void read(std::uint64_t id) {
    engine_.follow<Errand>(id, 0, kPage, [this, id](Result<Page> page) {
      if (!page) return fail(page.error());
      std::string line = "stream " + std::to_string(id);
      for (const auto& [sequence, entry] : page->entries) {
        line += " " + std::to_string(sequence) + ":" + entry.kind;
        if (const auto part = entry.as<Done>())
          line += ":" + std::to_string(part->n) + ":" + part->token;
        if (entry.schema == Question::kSchema) line += ":question";
      }
      ledger_.write(line + (page->end ? " end" : ""));
      done();
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const crash::Ledger ledger(argv[2]);
  EngineOptions options;
  options.modules = {Module::of<Errand>("crash/steps@1")};
  options.handlers = step_handlers(std::make_shared<Errand>(ledger));
  return crash::live<Errands>(argc, argv, ledger, std::move(options));
}
