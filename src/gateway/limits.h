// SPDX-License-Identifier: Apache-2.0
// What one client, and all of them together, may take of a server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "codec/limits.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

inline constexpr std::uint64_t kMostRecordsPerAnswer = 1000;  // of a journal or a timeline

struct Limits {
  // Fewer where the process may not open so many files: see gateway/descriptors.h.
  std::size_t connections = 4096;

  // With one token. Those beyond it can be ended in the middle of a request or an answer, when all
  // connections are taken and another client needs one.
  std::size_t connections_of_token = 2048;
  std::size_t header_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = codec::kMaxValueBytes + (std::size_t{64} << 10);  // and its envelope

  // Of all bodies that are being received or answered; beyond it requests are told to come later.
  // One token has no more than its share.
  std::size_t all_body_bytes = std::size_t{128} << 20;
  std::size_t body_bytes_of_token = std::size_t{64} << 20;

  // Of all answers that wait to be sent; beyond it requests with a large answer are told to come
  // later, unless clients that take nothing can be cut off for them.
  std::size_t all_answer_bytes = std::size_t{96} << 20;
  std::size_t answer_bytes_of_token = std::size_t{48} << 20;

  // From the first byte of a request, or the accepted connection, to the end of its header.
  std::chrono::milliseconds header_time{10'000};

  // A body has this long, and as much again as it takes at the slowest rate.
  std::chrono::milliseconds body_time{10'000};
  std::size_t body_bytes_per_second = std::size_t{64} << 10;

  std::chrono::milliseconds idle_time{75'000};        // between two requests
  std::chrono::milliseconds write_time{30'000};       // until a part of an answer is taken
  std::chrono::milliseconds keep_alive_time{15'000};  // an event stream says nothing for so long
  std::size_t answer_part_bytes = std::size_t{256} << 10;
  std::chrono::milliseconds wait_time{60'000};  // the longest that a request may wait for an end
  std::chrono::milliseconds stop_time{5'000};   // for what is under way, when the server stops

  // A client that has ended its side still gets an answer that comes within this time.
  std::chrono::milliseconds gone_time{5'000};

  // Figures that are not there by then are left out.
  std::chrono::milliseconds figures_time{1'000};

  // Lists that are sifted by values at once: each reads many instances in the world.
  std::size_t sifts = 4;

  // Task graphs that are entered at once: each is held in memory until it is sealed.
  std::size_t graphs_entering = 16;

  std::size_t waiting_jobs = 64;  // for the thread that reads files

  // Event streams that are read at once: of all, and with one token.
  std::size_t streams = 2048;
  std::size_t streams_of_token = 1024;

  // Requests that wait for an end at once; beyond it they are answered as if the time were over.
  std::size_t waits = 2048;

  // For the thread that goes back to the past, which does so for one at a time, and how much that
  // may take.
  std::size_t waiting_looks_back = 8;
  PastLimits past = {};

  // The most that a trial of a proposal may take, of which there is one at a time.
  TrialOptions trial = {};
};

}  // namespace holdfast::gateway
