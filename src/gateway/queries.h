// SPDX-License-Identifier: Apache-2.0
// Queries: questions about instances, gathered while the serving thread goes through what is ready,
// and asked together: the engine is woken once for all of them, and wakes this thread once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

class Exchange;

class Queries {
 public:
  using Then = std::function<void(Exchange&, const Bytes& key, const Result<RawInstance>&)>;

  // `soon` makes somebody call ask_all when what is ready now has been gone through.
  Queries(Engine& engine, std::function<void()> soon) : engine_(engine), soon_(std::move(soon)) {}

  // Refuses if too many wait already.
  void ask(Exchange& exchange, const std::string& workflow, Bytes key, Then then);
  void ask_all(const std::shared_ptr<Wake>& wake);

 private:
  // So that those who wait for the reducer meanwhile wait for a bounded time.
  static constexpr std::size_t kMostAtOnce = 256;

  // That are not answered, also of clients that have left.
  static constexpr std::size_t kMost = 16'384;

  // What is read for one asking before the rest of it is asked again, and how many askings are
  // under way: instances may be large, and what was read waits in memory.
  static constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;
  static constexpr std::size_t kMostAskings = 4;

  struct Asked {
    std::shared_ptr<Exchange> exchange;
    std::uint64_t number;  // of the request
    std::string workflow;
    Bytes key;
    Then then;
  };

  struct Asking {
    std::vector<Asked> asked;
    std::vector<Engine::RawName> names;
  };
  void ask_engine(const std::shared_ptr<Wake>& wake, std::shared_ptr<Asking> asking);
  void answer(const std::shared_ptr<Wake>& wake, const std::shared_ptr<Asking>& asking,
              const Result<Engine::RawInstances>& found);

  Engine& engine_;
  std::function<void()> soon_;
  Asking next_;
  std::size_t askings_ = 0;
  std::size_t unanswered_ = 0;
};

}  // namespace holdfast::gateway
