// SPDX-License-Identifier: Apache-2.0
#include "executors/secrets.h"

#include <gtest/gtest.h>

#include <concepts>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/sha256.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "env/testing.h"
#include "executors/mask.h"

namespace holdfast::executors {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<Secret>);
static_assert(!std::equality_comparable<Secret>);
static_assert(!std::convertible_to<Secret, std::string_view>);
static_assert(!std::copy_constructible<Secret>);

TEST(Secret, is_wiped_when_it_goes) {
  alignas(Secret) unsigned char place[sizeof(Secret)];
  auto* const secret = new (place) Secret("0123456789abcdef0123456789abcdef");
  std::string_view seen = secret->reveal();
  EXPECT_EQ(seen, "0123456789abcdef0123456789abcdef");
  Secret moved(std::move(*secret));
  EXPECT_EQ(moved.reveal().data(), seen.data()) << "it was not copied";
  EXPECT_TRUE(secret->reveal().empty());
  secret->~Secret();
  char text[] = "hidden";
  wipe(text, sizeof text);
  EXPECT_EQ(std::string_view(text, sizeof text), std::string_view("\0\0\0\0\0\0\0", 7));
}

class LocalSecretsTest : public ::testing::Test {
 protected:
  std::string find(const std::string& binding, std::optional<base::Hash> digest = {}) {
    secrets_.declare({{"shop/a@1", binding, digest}});
    const auto found = secrets_.find("shop/a@1");
    return found ? std::string(found->reveal()) : "error: " + found.error().to_string();
  }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_.path() + "/" + file, std::ios::binary) << text;
  }
  env::testing::TemporaryFolder folder_;
  LocalSecrets secrets_{{{"HOLDFAST_TEST_SECRET", "HOLDFAST_TEST_UNSET"}, folder_.path()}};
};

TEST_F(LocalSecretsTest, come_from_variables_that_the_node_gives) {
  ::setenv("HOLDFAST_TEST_SECRET", "from the variable", 1);
  ::setenv("HOLDFAST_TEST_OTHER", "not to be given", 1);
  EXPECT_EQ(find("env:HOLDFAST_TEST_SECRET"), "from the variable");
  EXPECT_EQ(find("env:HOLDFAST_TEST_OTHER"),
            "error: secret shop/a@1: this node gives no secret from the variable "
            "'HOLDFAST_TEST_OTHER'");
  EXPECT_EQ(find("env:HOLDFAST_TEST_UNSET"),
            "error: secret shop/a@1: the variable 'HOLDFAST_TEST_UNSET' is not set");
}

TEST_F(LocalSecretsTest, come_from_files_of_one_folder) {
  write("key", "from the file\n");
  EXPECT_EQ(find("file:key"), "from the file");
  write("key", "changed since\n\n");
  EXPECT_EQ(find("file:key"), "changed since\n") << "only one newline is not part of it";
  std::filesystem::create_directory(folder_.path() + "/folder");
  for (const std::string file :
       {"../etc/passwd", "/etc/passwd", "", ".", "..", "folder", "none", ".key"})
    EXPECT_TRUE(find("file:" + file).starts_with("error: secret shop/a@1")) << file;
  LocalSecrets none{{}};
  none.declare({{"shop/a@1", "file:key", {}}});
  EXPECT_FALSE(none.find("shop/a@1"));
}

TEST_F(LocalSecretsTest, that_are_not_declared_are_not_found) {
  write("key", "from the file");
  EXPECT_EQ(find("file:key"), "from the file");
  EXPECT_EQ(secrets_.find("shop/a@2").error().code(), base::ErrorCode::kNotFound);
  secrets_.declare({});
  EXPECT_FALSE(secrets_.find("shop/a@1"));
  EXPECT_TRUE(find("vault:key").starts_with("error"));
}

TEST_F(LocalSecretsTest, of_the_wrong_size_or_digest_are_refused_without_a_word_of_them) {
  write("key", "1234567");
  EXPECT_EQ(find("file:key"),
            "error: secret shop/a@1: a secret has 8 bytes or more, and at most 64 KiB");
  write("key", std::string(kMaxSecretBytes, 'x'));
  EXPECT_EQ(find("file:key").size(), kMaxSecretBytes);
  write("key", std::string(kMaxSecretBytes + 1, 'x'));
  EXPECT_TRUE(find("file:key").starts_with("error"));
  write("key", "the right one");
  EXPECT_EQ(find("file:key", base::sha256(base::as_bytes("the right one"))), "the right one");
  EXPECT_EQ(find("file:key", base::sha256(base::as_bytes("another"))),
            "error: secret shop/a@1: it is not the one whose digest was declared");
}

TEST(Secrets, of_a_manifest_are_those_that_it_lists) {
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle =
      defs::load({{"f", R"([{"$kind":"defsecret","name":"a/k@1","binding_id":"env:K"},
                 {"$kind":"defsecret","name":"a/unlisted@1","binding_id":"env:U"},
                 {"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],
                  "effects":[],"secrets":[{"name":"a/k@1"}]}])"}},
                 &builtin);
  ASSERT_TRUE(bundle.errors.empty());
  const auto secrets = secrets_of(defs::closure_of(bundle).value());
  ASSERT_TRUE(secrets);
  ASSERT_EQ(secrets->size(), 1u);
  EXPECT_EQ(secrets->front().name, "a/k@1");
  EXPECT_EQ(secrets->front().binding_id, "env:K");
  EXPECT_TRUE(secrets_of({})->empty()) << "a world without a manifest";
}

TEST(Mask, hides_every_occurrence_also_where_they_overlap) {
  std::vector<Secret> secrets;
  secrets.emplace_back("abcab");
  secrets.emplace_back("cabcx");
  const auto masked = [&](std::string text) {
    mask(text, secrets);
    return text;
  };
  EXPECT_EQ(masked("-abcab-abcab-"), "-*****-*****-");
  EXPECT_EQ(masked("abcabcab"), "********");
  EXPECT_EQ(masked("abcabcx"), "*******");
  EXPECT_EQ(masked("abca"), "abca");
  EXPECT_EQ(masked(""), "");
  EXPECT_EQ(longest(secrets), 5u);
}

}  // namespace
}  // namespace holdfast::executors
