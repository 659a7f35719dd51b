// SPDX-License-Identifier: Apache-2.0
#include "gateway/access.h"

#include <gtest/gtest.h>

#include "env/posix_disk.h"
#include "env/testing.h"

namespace holdfast::gateway {
namespace {

Request request_of(std::string_view host, std::string_view token = {},
                   std::string_view origin = {}) {
  Request request;
  const auto set = [&](Field field, std::string_view value) {
    request.fields[static_cast<std::size_t>(field)] = value;
    request.has[static_cast<std::size_t>(field)] = true;
  };
  set(Field::kHost, host);
  if (!token.empty()) set(Field::kAuthorization, token);
  if (!origin.empty()) set(Field::kOrigin, origin);
  return request;
}

std::string code_of(const std::optional<Problem>& problem) {
  return problem ? std::string(kind_of(problem->code).name) : "";
}

TEST(Tokens, a_token_is_known_until_it_is_revoked_and_only_its_hash_is_kept) {
  const env::testing::TemporaryFolder folder;
  const auto disk = env::posix_disk();
  const auto random = env::seeded_random(7);
  const std::string file = tokens_file(folder.path());
  Tokens tokens = Tokens::read(*disk, file).take();
  EXPECT_TRUE(tokens.all().empty());
  const std::string viewer = tokens.add(*random, Role::kViewer, "board", 1).take();
  const std::string admin = tokens.add(*random, Role::kAdmin, "", 2).take();
  EXPECT_EQ(viewer.size(), 3u + 64u);
  tokens.write(*disk, file).take();
  const base::Bytes written = env::read_file(*disk, file, 1 << 20).take();
  EXPECT_EQ(base::as_text(written).find(viewer.substr(3)), std::string_view::npos);

  Tokens again = Tokens::read(*disk, file).take();
  EXPECT_EQ(again.role_of(viewer), Role::kViewer);
  EXPECT_EQ(again.role_of(admin), Role::kAdmin);
  EXPECT_EQ(again.role_of(viewer.substr(3)), std::nullopt);
  EXPECT_EQ(again.role_of(""), std::nullopt);
  EXPECT_FALSE(again.revoke("nothing"));
  ASSERT_TRUE(again.revoke(again.all()[0].id));
  again.write(*disk, file).take();
  const Tokens last = Tokens::read(*disk, file).take();
  EXPECT_EQ(last.role_of(viewer), std::nullopt);
  EXPECT_EQ(last.role_of(admin), Role::kAdmin);
}

TEST(Tokens, a_damaged_file_is_an_error_and_not_an_empty_one) {
  const env::testing::TemporaryFolder folder;
  const auto disk = env::posix_disk();
  const std::string file = tokens_file(folder.path());
  for (const char* text : {"", "{}", "[]", "{\"tokens\":1}", "{\"tokens\":[{}]}",
                           R"({"tokens":[{"role":"king","hash":"","made":1,"revoked":false}]})"}) {
    env::replace_file(*disk, file, base::as_bytes(text)).take();
    EXPECT_FALSE(Tokens::read(*disk, file)) << text;
  }
}

TEST(Roles, a_role_may_do_what_those_below_it_may_and_a_worker_is_apart) {
  EXPECT_TRUE(allows(Role::kAdmin, Role::kOperator));
  EXPECT_TRUE(allows(Role::kOperator, Role::kViewer));
  EXPECT_FALSE(allows(Role::kViewer, Role::kOperator));
  EXPECT_FALSE(allows(Role::kOperator, Role::kAdmin));
  EXPECT_FALSE(allows(Role::kWorker, Role::kViewer));
  EXPECT_FALSE(allows(Role::kAdmin, Role::kWorker));
  EXPECT_TRUE(allows(Role::kWorker, Role::kWorker));
  EXPECT_TRUE(allows(Role::kWorker, Role::kAnybody));
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin, Role::kWorker})
    EXPECT_TRUE(allows(role, Role::kToken)) << name_of(role);
  EXPECT_FALSE(allows(Role::kAnybody, Role::kToken));
  EXPECT_EQ(role_named("token"), std::nullopt);
}

TEST(Access, an_open_server_is_for_this_machine_and_its_own_pages) {
  const Access access({}, true);
  ASSERT_TRUE(access.check_setup());
  for (const char* host : {"localhost", "LOCALHOST:7411", "127.0.0.1:1", "[::1]:7411", "[::1]"})
    EXPECT_EQ(code_of(access.check(request_of(host), Role::kAdmin)), "") << host;
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "",
                           "127.0.0.1:x", "localhost:", "localhost:1:2", "[::1", "::1", "[::1]x"})
    EXPECT_EQ(code_of(access.check(request_of(host), Role::kAnybody)),
              std::string(host) == "localhost:" ? "" : "host_refused")
        << host;
  EXPECT_EQ(
      code_of(access.check(request_of("localhost:1", "", "http://localhost:1"), Role::kAdmin)), "");
  for (const char* origin : {"http://evil.example", "null", "http://localhost:2", "localhost:1"})
    EXPECT_EQ(code_of(access.check(request_of("localhost:1", "", origin), Role::kViewer)),
              "origin_refused")
        << origin;
}

TEST(Access, beyond_loopback_there_must_be_tokens) {
  EXPECT_FALSE(Access({}, false).check_setup());
  Tokens tokens;
  const auto random = env::seeded_random(7);
  ASSERT_TRUE(tokens.add(*random, Role::kViewer, "", 0));
  EXPECT_TRUE(Access(tokens, false).check_setup());
}

TEST(Access, a_token_decides) {
  Tokens tokens;
  const auto random = env::seeded_random(7);
  const std::string viewer = "Bearer " + tokens.add(*random, Role::kViewer, "", 0).take();
  Access access(tokens, true);
  EXPECT_EQ(code_of(access.check(request_of("x"), Role::kAnybody)), "");
  EXPECT_EQ(code_of(access.check(request_of("x"), Role::kViewer)), "unauthenticated");
  EXPECT_EQ(code_of(access.check(request_of("x", "Bearer hf_1"), Role::kViewer)),
            "unauthenticated");
  EXPECT_EQ(code_of(access.check(request_of("x", viewer.substr(7)), Role::kViewer)),
            "unauthenticated");
  EXPECT_EQ(code_of(access.check(request_of("x", "Basic " + viewer.substr(7)), Role::kViewer)),
            "unauthenticated");
  EXPECT_EQ(code_of(access.check(request_of("x", viewer), Role::kViewer)), "");
  EXPECT_EQ(code_of(access.check(request_of("x", viewer), Role::kOperator)), "forbidden");
  // Nobody opens the door by removing the file.
  access.set_tokens({});
  EXPECT_FALSE(access.is_open());
  EXPECT_EQ(code_of(access.check(request_of("x", viewer), Role::kViewer)), "unauthenticated");
}

}  // namespace
}  // namespace holdfast::gateway
