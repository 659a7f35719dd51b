// SPDX-License-Identifier: Apache-2.0
// The program of the golden worlds (README.md), with the whole command line of Holdfast around it.
// The worlds name these definitions: they stay as they are, and something new gets a new name.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/main.h"
#include "holdfast/outside_effect.h"
#include "holdfast/workflow.h"
#include "tests/golden/flows.h"

namespace {

using holdfast::golden::Review;
using holdfast::golden::Trip;

struct PutBlob {
  static constexpr std::string_view kEffect = "golden/put@1";
  static constexpr holdfast::Executor kExecutor = holdfast::built_in("blob.put");
  struct Params {
    holdfast::Bytes bytes;
  };
  struct Receipt {
    holdfast::Hash blob_ref;
    holdfast::Hash edge_ref;
    std::uint64_t size = 0;
  };
};

struct GetBlob {
  static constexpr std::string_view kEffect = "golden/get@1";
  static constexpr holdfast::Executor kExecutor = holdfast::built_in("blob.get");
  struct Params {
    holdfast::Hash blob_ref;
  };
  struct Receipt {
    holdfast::Hash blob_ref;
    std::uint64_t size = 0;
    holdfast::Bytes bytes;
  };
};

// Stays open until somebody outside settles it.
struct Sign {
  static constexpr std::string_view kEffect = "golden/sign@1";
  static constexpr holdfast::Executor kExecutor = holdfast::outside();
  struct Params {
    std::string text;
  };
  struct Receipt {
    std::string name;
  };
};

struct Keep {
  static constexpr std::string_view kSchema = "golden/Keep@1";
  std::string id;
  std::string text;
};
struct Fetch {
  static constexpr std::string_view kSchema = "golden/Fetch@1";
  std::string id;
};
struct Page {
  static constexpr std::string_view kSchema = "golden/Page@1";
  std::string text;
};

// Puts a text as a blob and asks for a signature; completes with the text when it is fetched.
struct Letter {
  static constexpr std::string_view kWorkflow = "golden/Letter@1";
  struct State {
    holdfast::Hash blob;
    std::string signed_by;
  };
  using Entry = Page;
  using Events = holdfast::Events<holdfast::On<Keep, &Keep::id>, holdfast::On<Fetch, &Fetch::id>>;
  using Effects = holdfast::Effects<PutBlob, GetBlob, Sign>;
  using Context = holdfast::Context<Letter>;

  static void step(State&, const Keep& keep, Context& context) {
    context.put(Page{keep.text});
    context.open<PutBlob>({.bytes = holdfast::Bytes(keep.text.begin(), keep.text.end())});
  }
  static void step(State& state, const holdfast::Received<PutBlob>& put, Context& context) {
    if (!put.ok()) return context.fail(put.error.code, put.error.message);
    state.blob = put.receipt.blob_ref;
    context.open<Sign>({.text = "please"});
  }
  static void step(State& state, const holdfast::Received<Sign>& sign, Context& context) {
    if (!sign.ok()) return context.fail(sign.error.code, sign.error.message);
    state.signed_by = sign.receipt.name;
  }
  static void step(State& state, const Fetch&, Context& context) {
    context.open<GetBlob>({.blob_ref = state.blob});
  }
  static void step(State&, const holdfast::Received<GetBlob>& got, Context& context) {
    if (!got.ok()) return context.fail(got.error.code, got.error.message);
    context.complete(std::string(got.receipt.bytes.begin(), got.receipt.bytes.end()));
  }
};

struct Count {
  static constexpr std::string_view kSchema = "golden/Count@1";
  std::string id;
  std::uint64_t by = 0;
};

// Counts plain events, up to ten.
struct Counter {
  static constexpr std::string_view kWorkflow = "golden/Counter@1";
  struct State {
    std::uint64_t sum = 0;
  };
  using Events = holdfast::Events<holdfast::On<Count, &Count::id>>;
  using Context = holdfast::Context<Counter>;

  static void step(State& state, const Count& count, Context& context) {
    state.sum += count.by;
    if (state.sum >= 10) context.complete(state.sum);
  }
};

std::vector<holdfast::Handler> handlers() {
  std::vector<holdfast::Handler> all = holdfast::step_handlers(std::make_shared<Trip>());
  for (holdfast::Handler& handler : holdfast::step_handlers(std::make_shared<Review>()))
    all.push_back(std::move(handler));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<holdfast::Module> modules = holdfast::golden::modules();
  modules.push_back(holdfast::Module::of<Letter, Counter>("golden/more@1"));
  return holdfast::main(argc, argv, {.modules = std::move(modules), .handlers = handlers()});
}
