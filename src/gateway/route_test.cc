// SPDX-License-Identifier: Apache-2.0
#include "gateway/route.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "codec/normaliser.h"
#include "codec/view.h"
#include "gateway/openapi.h"

namespace holdfast::gateway {
namespace {

const Route* find(Method method, std::string_view path, PathValues* values = nullptr) {
  Target target;
  if (!target.parse(path)) return nullptr;
  PathValues own;
  return find_route(method, target, values == nullptr ? own : *values).route;
}

TEST(Routes, a_workflow_is_one_part_or_two) {
  for (const char* path :
       {"/v1/instances/demo%2FOrder@1/o-1/why", "/v1/instances/demo/Order@1/o-1/why"}) {
    PathValues values;
    const Route* route = find(Method::kGet, path, &values);
    ASSERT_NE(route, nullptr) << path;
    EXPECT_EQ(route->name, "why");
    EXPECT_EQ(values.values[0], "demo/Order@1");
    EXPECT_EQ(values.values[1], "o-1");
  }
}

TEST(Routes, a_key_may_have_a_slash_in_it) {
  PathValues values;
  const Route* route = find(Method::kGet, "/v1/instances/demo/Order@1/a%2Fb", &values);
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->name, "instance");
  EXPECT_EQ(values.values[1], "a/b");
}

TEST(Routes, head_is_get_and_other_methods_are_named) {
  EXPECT_EQ(find(Method::kHead, "/healthz")->name, "health");
  Target target;
  ASSERT_TRUE(target.parse("/healthz"));
  PathValues values;
  const Found found = find_route(Method::kPost, target, values);
  EXPECT_EQ(found.route, nullptr);
  EXPECT_EQ(found.methods, 1u << static_cast<unsigned>(Method::kGet));
  EXPECT_EQ(find(Method::kGet, "/nothing"), nullptr);
  EXPECT_EQ(find(Method::kGet, "/v1/instances/demo"), nullptr);
}

TEST(Routes, names_are_their_own_and_everything_is_described) {
  std::set<std::string_view> names;
  for (const Route& route : routes()) {
    EXPECT_TRUE(names.insert(route.name).second) << route.name;
    EXPECT_FALSE(route.summary.empty()) << route.name;
    EXPECT_NE(route.handle, nullptr) << route.name;
    EXPECT_EQ(route.takes == Takes::kNothing, route.body.empty()) << route.name;
  }
}

TEST(OpenApi, every_route_is_in_the_document_and_nothing_else) {
  codec::Normaliser normaliser;
  const std::string json = openapi_of(routes());
  const auto document = normaliser.from_json(codec::Schema::any(), json);
  ASSERT_TRUE(document) << document.error().to_string();
  const auto paths = codec::View::of(*document).find("paths");
  ASSERT_TRUE(paths);
  std::size_t operations = 0;
  for (const auto [path, methods] : paths->entries()) operations += methods.size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    const auto path = paths->find(route.path);
    ASSERT_TRUE(path) << route.path;
    const auto operation = path->find(route.method == Method::kGet ? "get" : "post");
    ASSERT_TRUE(operation) << route.path;
    EXPECT_EQ(*operation->find("operationId")->text(), route.name);
    EXPECT_EQ(*operation->find("x-role")->text(), name_of(route.role));
  }
}

}  // namespace
}  // namespace holdfast::gateway
