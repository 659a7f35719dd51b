// SPDX-License-Identifier: Apache-2.0
#include "postgres/bridge.h"

#include <algorithm>
#include <array>
#include <utility>

#include "env/quiet_thread.h"
#include "env/random.h"
#include "postgres/conninfo.h"
#include "postgres/session.h"
#include "postgres/uuid_text.h"

namespace holdfast::postgres {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestBackOff{50};
constexpr milliseconds kLongestBackOff{5'000};

std::string random_holder() {
  std::array<std::uint8_t, 16> bytes{};
  env::posix_random()->fill(bytes);
  return uuid_text(bytes);
}

}  // namespace

base::Result<std::unique_ptr<Bridge>> Bridge::start(Engine& engine, BridgeOptions options) {
  TRY(check_conninfo("--postgres", options.conninfo));
  executors::WakeUp wake = TRY(executors::WakeUp::make());
  std::unique_ptr<Bridge> bridge(new Bridge(engine, std::move(options), std::move(wake)));
  bridge->thread_ = env::quiet_thread([self = bridge.get()] { self->run(); });
  return bridge;
}

Bridge::Bridge(Engine& engine, BridgeOptions options, executors::WakeUp wake)
    : engine_(engine),
      options_(std::move(options)),
      patience_(std::make_shared<Patience>(std::move(wake))),
      holder_(random_holder()) {}

Bridge::~Bridge() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Bridge::stop() noexcept { patience_->stop(); }

void Bridge::run() {
  milliseconds back_off{0};
  std::string said;
  Heard heard{.wal = last_wal_};
  while (!patience_->is_stopped()) {
    Session session(engine_, options_, patience_, holder_);
    const auto served = session.serve(heard);
    if (patience_->is_stopped()) return;
    if (session.has_served()) back_off = milliseconds(0);
    const std::string why = served ? "" : served.error().message();
    // The same every time is said once.
    if (options_.log && why != said) options_.log("postgres: " + why);
    said = why;
    back_off = std::clamp(back_off * 2, kShortestBackOff, kLongestBackOff);
    const auto until = std::chrono::steady_clock::now() + back_off;
    while (!patience_->is_stopped() && std::chrono::steady_clock::now() < until)
      static_cast<void>(patience_->wait(
          -1, false, std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now())));
  }
}

}  // namespace holdfast::postgres
