// SPDX-License-Identifier: Apache-2.0
// A program whose workflow reaches outside, as far as whoever serves it allows: a request, with a
// secret if it is told so, or a program of the system.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/main.h"
#include "holdfast/workflow.h"

namespace {

struct SecretRef {
  static constexpr std::string_view kSchema = "test/secret@1";
  std::string alias;
  std::uint64_t version = 0;
};

struct Timings {
  static constexpr std::string_view kSchema = "test/Timings@1";
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

struct Fetch {
  static constexpr std::string_view kEffect = "test/fetch@1";
  static constexpr holdfast::Executor kExecutor = holdfast::built_in("http");
  struct Params {
    std::string method;
    std::string url;
    std::map<std::string, std::variant<SecretRef>> headers;
  };
  struct Receipt {
    std::int64_t status = 0;
    std::map<std::string, std::string> headers;
    holdfast::Bytes body;
    Timings timings;
  };
};

struct Run {
  static constexpr std::string_view kEffect = "test/run@1";
  static constexpr holdfast::Executor kExecutor = holdfast::built_in("process");
  struct Params {
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
  };
  struct Receipt {
    std::optional<std::int64_t> exit_code;
    std::optional<std::int64_t> signal;
    holdfast::Bytes stdout;
    std::uint64_t stdout_size = 0;
    holdfast::Bytes stderr;
    std::uint64_t stderr_size = 0;
    Timings timings;
  };
};

// One of the two.
struct Go {
  static constexpr std::string_view kSchema = "test/Go@1";
  std::string id;
  std::string url;
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  bool with_secret = false;
};

struct Reach {
  static constexpr std::string_view kWorkflow = "test/Reach@1";
  struct State {};
  using Events = holdfast::Events<holdfast::On<Go, &Go::id>>;
  using Effects = holdfast::Effects<Fetch, Run>;
  using Context = holdfast::Context<Reach>;

  static void step(State&, const Go& go, Context& context) {
    if (!go.argv.empty()) {
      context.open<Run>({.argv = go.argv, .env = go.env});
      return;
    }
    Fetch::Params params{.method = "GET", .url = go.url, .headers = {}};
    if (go.with_secret) params.headers["Authorization"] = SecretRef{"test/token", 1};
    context.open<Fetch>(params);
  }
  static void step(State&, const holdfast::Received<Fetch>& fetched, Context& context) {
    if (!fetched.ok()) return context.fail(fetched.error.code, fetched.error.message);
    context.complete(fetched.receipt.status);
  }
  static void step(State&, const holdfast::Received<Run>& ran, Context& context) {
    if (!ran.ok()) return context.fail(ran.error.code, ran.error.message);
    context.complete(ran.receipt.exit_code.value_or(-1));
  }
};

}  // namespace

int main(int argc, char** argv) {
  holdfast::Program program{.modules = {holdfast::Module::of<Reach>("test/code@1")}};
  // What whoever serves it may change.
  program.engine.programs = {"/bin/echo"};
  program.engine.secrets.variables = {"HOLDFAST_TOKEN_OF_PROGRAM"};
  return holdfast::main(argc, argv, program);
}
