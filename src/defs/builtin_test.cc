// SPDX-License-Identifier: Apache-2.0
#include "defs/builtin.h"

#include "base/testing.h"
#include "defs/name.h"
#include "defs/system_names.h"
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

TEST(Builtin, every_definition_is_the_system_s) {
  EXPECT_GT(testing::builtin().entries().size(), 0u);
  for (const auto& [name, entry] : testing::builtin().entries())
    EXPECT_TRUE(is_reserved(name)) << name;
}

TEST(Builtin, what_code_knows_by_name_is_there) {
  for (const std::string_view name :
       {kWorkflowContext, kReceiptEnvelope, kReceiptRejected, kStreamFrame, kEffectError,
        kStepsState, kStepRun, kStepRan, kStepEntry, kStepFailed})
    EXPECT_NE(testing::builtin().get<SchemaDef>(name), nullptr) << name;
}

// What we share with AgentOS keeps its name only as long as it keeps its bytes.
TEST(Builtin, a_published_schema_of_the_same_name_has_the_same_hash) {
  const auto folder = base::testing::vectors("agentos/builtin-defs");
  if (!folder) GTEST_SKIP() << base::testing::kNoVectors;
  std::vector<Document> documents;
  for (const auto& file : std::filesystem::directory_iterator(*folder)) {
    documents.push_back({file.path().filename(), base::testing::file_text(file.path())});
  }
  const Bundle published = load(documents, nullptr, Reserved::kAllowed);
  ASSERT_EQ(testing::lines_of(published.errors), testing::Lines());
  for (const auto& [name, entry] : testing::builtin().entries()) {
    const Entry* theirs = published.catalogue.find_entry(name);
    if (theirs == nullptr || kind_of(theirs->definition) != "defschema") continue;
    EXPECT_EQ(entry.hash, theirs->hash) << name;
  }
}

}  // namespace
}  // namespace holdfast::defs
