// SPDX-License-Identifier: Apache-2.0
// Vectors that others have published: JSON, its canonical bytes and their hash. They are not part
// of this repository; they are looked for in $HOLDFAST_VECTORS, else in shared/vectors beside it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/sha256.h"
#include "codec/json_writer.h"
#include "codec/testing.h"

namespace holdfast::codec {
namespace {

using testing::bytes_of;

std::filesystem::path vectors() {
  const char* named = std::getenv("HOLDFAST_VECTORS");
  const std::filesystem::path root =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(__FILE__) / "../../../../shared/vectors";
  return root.lexically_normal() / "agentos/test-vectors";
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void expect_vector(View vector) {
  const std::string label(vector.find("label")->text().value());
  const base::Bytes expected = bytes_of(vector.find("cbor_hex")->text().value());
  Normaliser normaliser;
  const auto from_json = normaliser.from_json(Schema::any(), to_json(*vector.find("json")));
  ASSERT_TRUE(from_json) << label;
  EXPECT_EQ(base::to_hex(*from_json), base::to_hex(expected)) << label;
  EXPECT_EQ(base::sha256(*from_json).to_text(), vector.find("hash")->text()) << label;
  EXPECT_TRUE(normaliser.from_cbor(Schema::any(), expected, Strictness::kStrict)) << label;
}

TEST(PublishedVectors, json_gives_the_published_bytes_and_hash) {
  const std::filesystem::path folder = vectors();
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "there are no vectors at " << folder << "; name them with HOLDFAST_VECTORS";
  }
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    Normaliser normaliser;
    const auto file = normaliser.from_json(Schema::any(), contents(entry.path()));
    ASSERT_TRUE(file) << entry.path() << ": " << file.error().to_string();
    for (const View vector : View::of(*file).elements()) {
      expect_vector(vector);
      ++seen;
    }
  }
  EXPECT_GT(seen, 0u) << "in " << folder;
}

}  // namespace
}  // namespace holdfast::codec
