// SPDX-License-Identifier: Apache-2.0
#include "holdfast/test_world.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <utility>

#include "base/sha256.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/system_names.h"
#include "engine/handlers.h"
#include "engine/translate.h"
#include "holdfast/detail/step_call.h"
#include "kernel/record_view.h"
#include "kernel/world.h"
#include "native/bundle.h"
#include "native/machines.h"

namespace holdfast::testing {
namespace {

class MemoryBlobs : public kernel::Blobs {
 public:
  base::Result<base::Bytes> get(const base::Hash& hash) const override {
    const auto found = blobs_.find(hash);
    if (found == blobs_.end())
      return base::Error(base::ErrorCode::kNotFound, "no blob " + hash.to_text());
    return found->second;
  }
  base::Result<base::Hash> put(base::ByteView bytes) override {
    const base::Hash hash = base::sha256(bytes);
    blobs_.try_emplace(hash, bytes.begin(), bytes.end());
    return hash;
  }

 private:
  std::map<base::Hash, base::Bytes> blobs_;
};

base::Result<void> check_handlers(const defs::Bundle& bundle,
                                  const engine::FunctionsByEffect& functions) {
  for (const auto& [name, entry] : bundle.catalogue.entries()) {
    if (std::holds_alternative<defs::EffectDef>(entry.definition) && !functions.contains(name))
      return base::invalid(name, "the effect has no handler");
  }
  return {};
}

std::uint64_t due_of(const kernel::OpenIntent& timer) {
  const auto due = codec::View::of(timer.params).find("deliver_at_ns");
  return due ? due->nat().value_or(0) : 0;
}

}  // namespace

struct World::Body {
  Body(std::vector<Module> the_modules, engine::FunctionsByEffect the_functions, Time now)
      : modules(std::move(the_modules)),
        machines(modules),
        functions(std::move(the_functions)),
        world(machines, blobs),
        now_ns(
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.time_since_epoch().count()))) {
  }

  // What a world that has failed says is not worth going on with: it is a mistake of ours.
  kernel::Answer tick(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = now_ns;
    const std::uint64_t number = world.next_record();
    for (std::size_t i = 0; i < 8; ++i)
      tick.entropy[i] = static_cast<std::uint8_t>(number >> (8 * i));
    tick.input = input;
    kernel::Outcome outcome = world.reduce(tick);
    CHECK(!outcome.failure);
    if (!outcome.record.empty()) keep_entries(outcome.record);
    for (kernel::Command& command : outcome.commands) perform(command);
    return std::move(outcome.answer);
  }

  void perform(kernel::Command& command) {
    if (auto* open = std::get_if<kernel::OpenIntent>(&command)) {
      if (open->effect->executor.kind == "timer") {
        timers.emplace(due_of(*open), std::move(*open));
      } else {
        waiting.push_back(std::move(*open));
      }
    } else if (const auto* stop = std::get_if<kernel::StopIntent>(&command)) {
      const auto is_it = [&](const kernel::OpenIntent& one) { return one.intent == stop->intent; };
      std::erase_if(waiting, is_it);
      std::erase_if(timers, [&](const auto& timer) { return is_it(timer.second); });
    }
  }

  void keep_entries(base::ByteView record) {
    const auto view = kernel::read_record(record);
    CHECK(view);
    for (const kernel::InstanceView& touched : view->instances) {
      if (touched.annotations.empty()) continue;
      std::vector<Bytes>& entries =
          streams[{std::string(touched.workflow), Bytes(touched.key.begin(), touched.key.end())}];
      for (const base::ByteView entry : touched.annotations)
        entries.emplace_back(entry.begin(), entry.end());
    }
  }

  void answer(const base::Hash& intent, const executors::Receipt& receipt) {
    tick(kernel::ReceiptArrived{intent, receipt.status, receipt.payload, {}, {}});
  }

  // Everything happens at one time here: what a body puts out is heard before its end.
  struct KeptProgress : executors::Progress {
    std::vector<base::Bytes> pieces;  // each a list of one
    bool put(base::ByteView piece) override {
      codec::Buffer out;
      codec::write_list_head(out, 1);
      out.append(piece);
      pieces.push_back(out.to_bytes());
      return true;
    }
  };

  executors::Receipt call(const kernel::OpenIntent& intent, executors::Progress& progress) const {
    const executors::StopFlag stopped = false;
    try {
      return functions.find(intent.effect->name)->second(intent, stopped, progress);
    } catch (const std::exception& thrown) {
      return executors::failed("handler.exception", thrown.what());
    } catch (...) {
      return executors::failed("handler.exception",
                               "something that is no std::exception was thrown");
    }
  }

  // Until nothing is left to do at this time.
  void settle() {
    while (true) {
      if (world.has_ready()) {
        tick(kernel::Continue{});
      } else if (!waiting.empty()) {
        const kernel::OpenIntent intent = std::move(waiting.front());
        waiting.pop_front();
        KeptProgress progress;
        const executors::Receipt receipt = call(intent, progress);
        for (std::size_t i = 0; i < progress.pieces.size(); ++i)
          tick(kernel::ProgressArrived{
              intent.intent, i + 1, executors::kPieces, progress.pieces[i], {}});
        answer(intent.intent, receipt);
      } else if (!timers.empty() && timers.begin()->first <= now_ns) {
        ring();
      } else {
        return;
      }
    }
  }

  void ring() {
    const kernel::OpenIntent timer = std::move(timers.begin()->second);
    timers.erase(timers.begin());
    codec::Buffer out;
    {
      Writer receipt(out);
      detail::Form<Timer::Receipt>::write(receipt, {now_ns, std::nullopt});
    }
    answer(timer.intent, executors::succeeded(out));
  }

  std::vector<Module> modules;
  native::Machines machines;
  engine::FunctionsByEffect functions;
  MemoryBlobs blobs;
  kernel::World world;
  std::uint64_t now_ns;
  std::deque<kernel::OpenIntent> waiting;
  std::multimap<std::uint64_t, kernel::OpenIntent>
      timers;  // of two that are due at once, the older
  std::map<std::pair<std::string, Bytes>, std::vector<Bytes>> streams;
};

World::World(std::unique_ptr<Body> body) : body_(std::move(body)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::open(std::vector<Module> modules,
                                           std::vector<Handler> handlers, Time now) {
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = native::load(modules, &builtin);
  if (!bundle.errors.empty())
    return engine::outside(
        base::Error(base::ErrorCode::kInvalid, bundle.errors.begin()->to_string()));
  auto functions = engine::functions_of(std::move(handlers));
  if (!functions) return engine::outside(functions.error());
  if (auto checked = check_handlers(bundle, *functions); !checked)
    return engine::outside(checked.error());
  const auto closure = defs::closure_of(bundle);
  if (!closure) return engine::outside(closure.error());
  auto body = std::make_unique<Body>(std::move(modules), std::move(*functions), now);
  const kernel::Answer applied = body->tick(kernel::ApplyManifest{*closure});
  if (const auto refusal = engine::refusal(applied)) return engine::outside(*refusal);
  return std::unique_ptr<World>(new World(std::move(body)));
}

Time World::now() const { return detail::time_of(body_->now_ns); }

void World::advance(Duration by) {
  const std::uint64_t until =
      body_->now_ns + static_cast<std::uint64_t>(std::max<std::int64_t>(0, by.count()));
  while (!body_->timers.empty() && body_->timers.begin()->first <= until) {
    body_->now_ns = std::max(body_->now_ns, body_->timers.begin()->first);
    body_->settle();
  }
  body_->now_ns = until;
  body_->settle();
}

std::optional<Time> World::next_timer() const {
  if (body_->timers.empty()) return std::nullopt;
  return detail::time_of(body_->timers.begin()->first);
}

std::uint64_t World::records() const { return body_->world.next_record() - 1; }

std::optional<EffectError> World::error_of(const Bytes& outcome) {
  EffectError error;
  if (!detail::read_error(Reader(outcome), error)) return std::nullopt;
  return error;
}

Result<Sent> World::send_raw(std::string_view schema, const Bytes& value, std::string_view id) {
  const kernel::Answer answer = body_->tick(kernel::EventArrived{schema, value, id});
  body_->settle();
  return engine::sent(answer);
}

Result<Sent> World::start_raw(std::string_view workflow, const Bytes& key, std::string_view schema,
                              const Bytes& value, const SendOptions& options) {
  kernel::EventArrived event{schema, value, options.id};
  event.reuse = engine::inside(options.reuse);
  event.workflow = workflow;
  event.key = key;
  event.starts = true;
  const kernel::Answer answer = body_->tick(event);
  body_->settle();
  return engine::sent(answer);
}

Result<Done> World::control_raw(Control control, std::string_view workflow, const Bytes& key,
                                std::string_view reason) {
  const kernel::Control inside = control == Control::kCancel  ? kernel::Control::kCancel
                                 : control == Control::kPause ? kernel::Control::kPause
                                                              : kernel::Control::kResume;
  const kernel::Answer answer =
      body_->tick(kernel::ControlRequested{inside, workflow, key, reason});
  body_->settle();
  return engine::done(answer);
}

Result<RawInstance> World::query_raw(std::string_view workflow, Bytes key) {
  return engine::read(body_->world, {std::string(workflow), std::move(key)});
}

const std::vector<Bytes>& World::stream_raw(std::string_view workflow, const Bytes& key) const {
  static const std::vector<Bytes> kNone;
  const auto found = body_->streams.find({std::string(workflow), key});
  return found == body_->streams.end() ? kNone : found->second;
}

}  // namespace holdfast::testing
