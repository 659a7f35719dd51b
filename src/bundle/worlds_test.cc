// SPDX-License-Identifier: Apache-2.0
// Loads everything that AgentOS has published, and holds docs/compatibility.md to what happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "base/testing.h"
#include "bundle/source.h"
#include "defs/builtin.h"

namespace holdfast::bundle {
namespace {

namespace fs = std::filesystem;

// One world on top of a catalogue, perhaps with a library between them.
struct WorldCase {
  std::string shown;
  std::string world;
  std::string library;
};

std::string quoted(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

// The names in the errors that match, in order, without repetitions.
std::set<std::string> names_in(const base::Errors& errors, const std::regex& pattern) {
  std::set<std::string> names;
  std::smatch match;
  for (const base::Error& error : errors) {
    if (std::regex_search(error.message(), match, pattern)) names.insert(match[1]);
  }
  return names;
}

const std::regex kBadVersion("^'(.*)' has a bad version");
const std::regex kMissing("^there is no \\w+ named '(.*)'$");
const std::regex kSystemLacks("^the system has no \\w+ named '(.*)'$");
const std::regex kUnlisted("^'.*' uses the \\w+ '(.*)', which the manifest does not list$");

// What the table says of a world. An error that no pattern knows is shown as it is.
std::string outcome(const base::Errors& errors) {
  if (errors.empty()) return "loads";
  std::string text;
  const auto add = [&](const std::string& part) {
    text += (text.empty() ? "refused: " : "; ") + part;
  };
  const auto bad = names_in(errors, kBadVersion);
  const auto missing = names_in(errors, kMissing);
  const auto lacking = names_in(errors, kSystemLacks);
  const auto unlisted = names_in(errors, kUnlisted);
  if (!bad.empty()) add("bad version in " + quoted(bad));
  if (!missing.empty())
    add("uses definitions that are not there: " + std::to_string(missing.size()));
  if (!lacking.empty()) add("`sys/` names we lack: " + std::to_string(lacking.size()));
  if (!unlisted.empty()) add("used but not in the manifest: " + std::to_string(unlisted.size()));
  for (const base::Error& error : errors) {
    const auto fits = [&](const std::regex& pattern) {
      return std::regex_search(error.message(), pattern);
    };
    if (!fits(kBadVersion) && !fits(kMissing) && !fits(kSystemLacks) && !fits(kUnlisted))
      add(error.to_string());
  }
  return text;
}

class Worlds : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = base::testing::vectors("agentos");
    if (!folder) GTEST_SKIP() << base::testing::kNoVectors;
    folder_ = *folder;
    published_.emplace(load_bundle(folder_ / "builtin-defs", nullptr, defs::Reserved::kAllowed));
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "worlds")) {
      if (entry.path().filename().string().starts_with("manifest"))
        cases_.push_back(
            {"", entry.path().parent_path().lexically_relative(folder_ / "worlds"), ""});
    }
    for (WorldCase& each : cases_) each.shown = "`" + each.world + "`";
    cases_.push_back({"`demiurge/air` with `aos-agent/air`", "demiurge/air", "aos-agent/air"});
    std::sort(cases_.begin(), cases_.end(),
              [](const WorldCase& a, const WorldCase& b) { return a.shown < b.shown; });
  }

  base::Errors errors_of(const WorldCase& each, const defs::Catalogue& system) const {
    std::optional<defs::Bundle> library;
    if (!each.library.empty()) library = load_bundle(folder_ / "worlds" / each.library, &system);
    return load_bundle(folder_ / "worlds" / each.world, library ? &library->catalogue : &system)
        .errors;
  }

  // The rows of the table under a heading of the document.
  static std::string documented(const std::string& heading) {
    const std::string text =
        base::testing::file_text(base::testing::source_folder() / "docs" / "compatibility.md");
    std::string rows;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("#")) inside = line == heading;
      if (inside && line.starts_with("| `")) rows += line + "\n";
    }
    return rows;
  }

  fs::path folder_;
  std::optional<defs::Bundle> published_;
  std::vector<WorldCase> cases_;
  defs::Catalogue own_ = defs::builtin_catalogue();
};

TEST_F(Worlds, the_published_system_definitions_load) {
  for (const base::Error& error : published_->errors) ADD_FAILURE() << error.to_string();
  EXPECT_GT(published_->catalogue.entries().size(), 100u);
}

TEST_F(Worlds, each_loads_or_is_refused_as_the_documentation_says) {
  std::string rows;
  for (const WorldCase& each : cases_) {
    rows += "| " + each.shown + " | " + outcome(errors_of(each, published_->catalogue)) + " | " +
            outcome(errors_of(each, own_)) + " |\n";
  }
  EXPECT_EQ(documented("## Published worlds"), rows);
}

TEST_F(Worlds, the_system_names_that_we_lack_are_those_in_the_documentation) {
  std::map<std::string, std::set<std::string>> users;
  for (const WorldCase& each : cases_) {
    if (!each.library.empty()) continue;
    for (const std::string& name : names_in(errors_of(each, own_), kSystemLacks))
      users[name].insert(each.world);
  }
  std::string rows;
  for (const auto& [name, worlds] : users) rows += "| `" + name + "` | " + quoted(worlds) + " |\n";
  EXPECT_EQ(documented("## `sys/` names that we do not have"), rows);
}

TEST_F(Worlds, a_file_that_is_no_definition_is_refused) {
  const defs::Bundle bundle =
      load_bundle(folder_ / "worlds" / "09-workspaces", &published_->catalogue);
  ASSERT_EQ(bundle.errors.size(), 1u);
  EXPECT_EQ(bundle.errors[0].to_string(), "aos.world.json: $: not a definition: it has no $kind");
}

}  // namespace
}  // namespace holdfast::bundle
