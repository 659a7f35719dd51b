// SPDX-License-Identifier: Apache-2.0
// Hostile input is refused early: what is far behind the first fault is never read, and little
// memory is asked for, however large the input is or says it is. Nothing is timed here: the tail of
// the input is memory that must not be touched, and every allocation of this program is counted.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "codec/limits.h"
#include "codec/testing.h"

namespace {
std::atomic<std::size_t> allocated = 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAllocationsAreCounted = false;  // the sanitizer has its own allocator
#else
constexpr bool kAllocationsAreCounted = true;
extern "C" {
void* __libc_malloc(std::size_t size);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) {
  allocated += size;
  return __libc_malloc(size);
}
void* realloc(void* memory, std::size_t size) {
  allocated += size;
  return __libc_realloc(memory, size);
}
}
#endif

namespace holdfast::codec {
namespace {

using testing::bytes_of;
using testing::schema_of;

constexpr std::size_t kReadable = 4096;
constexpr std::size_t kFewBytes = 64 * 1024;

// `size` bytes of which only the first page can be read: it holds `begin`, then `filler` again and
// again. Reading further ends the process.
class Guarded {
 public:
  Guarded(std::size_t size, std::string_view begin, std::string_view filler) : size_(size) {
    memory_ = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    if (size > kMaxValueBytes) return;  // not a byte of it may be read
    EXPECT_EQ(mprotect(memory_, kReadable, PROT_READ | PROT_WRITE), 0);
    std::string page(begin);
    while (page.size() < kReadable) page += filler;
    std::memcpy(memory_, page.data(), kReadable);
  }
  ~Guarded() { munmap(memory_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::string_view text() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  void* memory_;
  std::size_t size_;
};

template <class Decode>
void expect_refused_cheaply(Decode decode, std::string_view what) {
  const std::size_t before = allocated;
  const base::Result<base::ByteView> refused = decode();
  const std::size_t asked_for = allocated - before;
  ASSERT_FALSE(refused) << what;
  if (!kAllocationsAreCounted) return;
  EXPECT_LT(asked_for, kFewBytes) << what;
}

constexpr std::size_t kHuge = 100'000'000;

TEST(Refusal, allocations_are_really_counted) {
  const std::size_t before = allocated;
  const std::string large(1'000'000, 'x');
  EXPECT_GE(allocated - before, kAllocationsAreCounted ? large.size() : 0);
}

TEST(Refusal, deeply_nested_json_is_refused_at_its_beginning) {
  const Schema variant = schema_of(R"({"variant":{"A":{"any":{}}}})");
  for (const std::size_t size : {kMaxValueBytes, kHuge}) {
    for (const std::string_view filler :
         {"[", "{\"a\":", "[[{\"\":", "[ ", "[1,", "{\"$value\":", "{\"$value\":["}) {
      const Guarded input(size, "", filler);
      for (const Schema& schema : {Schema::any(), Schema::item(), variant}) {
        Normaliser normaliser;
        expect_refused_cheaply([&] { return normaliser.from_json(schema, input.text()); }, filler);
      }
    }
  }
}

TEST(Refusal, deeply_nested_cbor_is_refused_at_its_beginning) {
  const Schema variant = schema_of(R"({"variant":{"A":{"any":{}}}})");
  for (const std::size_t size : {kMaxValueBytes, kHuge}) {
    for (const std::string_view filler : {"81", "9f", "9a00100000", "a16161", "bf6161", "c1", "a1",
                                          "a1662476616c7565", "bf662476616c756581"}) {
      const Guarded input(size, "", base::as_text(bytes_of(filler)));
      for (const Schema& schema : {Schema::any(), Schema::item(), variant}) {
        for (const Strictness strictness : {Strictness::kLenient, Strictness::kStrict}) {
          Normaliser normaliser;
          const auto decode = [&] {
            return normaliser.from_cbor(schema, base::as_bytes(input.text()), strictness);
          };
          expect_refused_cheaply(decode, filler);
        }
      }
    }
  }
}

TEST(Refusal, lengths_that_lie_are_refused_where_they_stand) {
  for (const std::size_t size : {kMaxValueBytes, kHuge}) {
    for (const std::string_view begin :
         {"5bffffffffffffffff", "7bffffffffffffffff", "9bffffffffffffffff", "bbffffffffffffffff",
          "9b7fffffffffffffff", "bb8000000000000001", "5a01000001", "9a01000001", "ba00800001",
          "829b00000000ffffffff", "a161619b00000000ffffffff", "5f5a01000001", "7f7a01000001"}) {
      const Guarded input(size, base::as_text(bytes_of(begin)), "\xf6");
      for (const Schema& schema : {Schema::any(), Schema::item()}) {
        Normaliser normaliser;
        const auto decode = [&] {
          return normaliser.from_cbor(schema, base::as_bytes(input.text()), Strictness::kLenient);
        };
        expect_refused_cheaply(decode, begin);
      }
    }
  }
}

// These lengths are possible, so only what follows shows the lie; nothing may be set aside for
// them.
TEST(Refusal, possible_lengths_are_not_believed_either) {
  const Schema lists = schema_of(R"({"list":{"list":{"nat":{}}}})");
  const Schema sets = schema_of(R"({"set":{"set":{"nat":{}}}})");
  const Schema maps = schema_of(R"({"map":{"key":{"text":{}},"value":{"nat":{}}}})");
  for (const std::string_view begin : {"9a00f00000", "9a00f000009a00e00000", "ba00700000"}) {
    const Guarded input(kMaxValueBytes, base::as_text(bytes_of(begin)), "\xff");
    for (const Schema* schema : {&lists, &sets, &maps}) {
      Normaliser normaliser;
      const auto decode = [&] {
        return normaliser.from_cbor(*schema, base::as_bytes(input.text()), Strictness::kLenient);
      };
      expect_refused_cheaply(decode, begin);
    }
  }
}

}  // namespace
}  // namespace holdfast::codec
