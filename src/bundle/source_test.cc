// SPDX-License-Identifier: Apache-2.0
#include "bundle/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "defs/builtin.h"

namespace holdfast::bundle {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A temporary folder for one test.
class Source : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "holdfast.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& file, std::string_view text) const {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file, std::ios::binary) << text;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const defs::Document& document : read_sources(folder_).documents)
      names.push_back(document.file);
    return names;
  }

  static std::vector<std::string> lines(const base::Errors& errors) {
    std::vector<std::string> all;
    for (const base::Error& error : errors) all.push_back(error.to_string());
    return all;
  }
  std::vector<std::string> errors() const { return lines(read_sources(folder_).errors); }

  fs::path folder_;
};

TEST_F(Source, documents_are_read_in_the_order_of_their_names) {
  for (const char* file : {"b.json", "a.yaml", "c/z.yml", "c/a.json", "B.json", "c.json"})
    write(file, "[]");
  EXPECT_THAT(files(), ElementsAre("B.json", "a.yaml", "b.json", "c/a.json", "c/z.yml", "c.json"));
}

TEST_F(Source, other_files_and_hidden_ones_are_passed_over) {
  for (const char* file : {"a.json", "README.md", "b.json.bak", "json", ".b.json", ".git/c.json",
                           "d/.e/f.json", "G.JSON"})
    write(file, "[]");
  EXPECT_THAT(files(), ElementsAre("a.json"));
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(Source, one_file_is_a_bundle_too) {
  write("a.yaml", "a: 1");
  const Sources sources = read_sources(folder_ / "a.yaml");
  ASSERT_EQ(sources.documents.size(), 1u);
  EXPECT_EQ(sources.documents[0].file, (folder_ / "a.yaml").string());
  EXPECT_EQ(sources.documents[0].json, R"({"a":1})");
}

TEST_F(Source, a_folder_given_in_another_way_has_the_same_documents) {
  write("c/a.json", "[]");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  for (const char* path : {".", "./", "c/..", "./c/../"}) {
    const Sources sources = read_sources(path);
    ASSERT_EQ(sources.documents.size(), 1u) << path;
    EXPECT_EQ(sources.documents[0].file, "c/a.json") << path;
  }
  fs::current_path(before);
}

TEST_F(Source, what_is_not_there_is_said) {
  EXPECT_THAT(errors(), ElementsAre(folder_.string() +
                                    ": no *.json, *.yaml or *.yml file is in this folder"));
  const fs::path none = folder_ / "none";
  EXPECT_THAT(lines(read_sources(none).errors),
              ElementsAre(none.string() + ": there is no such file"));
  EXPECT_THAT(lines(read_sources("").errors), ElementsAre("there is no such file"));
}

TEST_F(Source, all_files_that_cannot_be_read_are_reported_and_the_others_are_read) {
  write("a.json", "[]");
  write("b.yaml", "a: [");
  write("c.yaml", "");
  fs::create_symlink("nowhere", folder_ / "d.json");
  fs::create_symlink("e.json", folder_ / "e.json");
  EXPECT_THAT(files(), ElementsAre("a.json"));
  EXPECT_THAT(errors(),
              ElementsAre("b.yaml: end of sequence flow not found (line 1, column 1)",
                          "c.yaml: the YAML has no document", "d.json: there is no such file",
                          "e.json: cannot be read: Too many levels of symbolic links"));
}

TEST_F(Source, a_file_without_permission_is_reported) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write("a.json", "[]");
  fs::permissions(folder_ / "a.json", fs::perms::none);
  EXPECT_THAT(errors(), ElementsAre("a.json: cannot be read: Permission denied"));
}

TEST_F(Source, a_link_to_a_file_is_read_and_one_to_a_folder_is_not_followed) {
  write("a.json", "[]");
  fs::create_symlink("a.json", folder_ / "b.json");
  fs::create_directory_symlink(".", folder_ / "loop");
  fs::create_directory_symlink("..", folder_ / "up.json");
  EXPECT_THAT(files(), ElementsAre("a.json", "b.json"));
  EXPECT_THAT(errors(), IsEmpty());
}

TEST_F(Source, what_is_no_file_is_not_opened) {
  write("a.json", "[]");
  ASSERT_EQ(mkfifo((folder_ / "b.json").c_str(), 0600), 0);  // opening it would wait for ever
  EXPECT_THAT(files(), ElementsAre("a.json"));
}

TEST_F(Source, the_size_of_a_file_and_of_a_bundle_is_bounded) {
  write("a.json", std::string(kMaxFileBytes, ' '));
  EXPECT_THAT(errors(), IsEmpty());
  write("b.json", std::string(kMaxFileBytes + 1, ' '));
  EXPECT_THAT(errors(), ElementsAre("b.json: more than 16777216 bytes"));
  for (const char* file : {"b.json", "c.json", "d.json"})
    write(file, std::string(kMaxFileBytes, ' '));
  EXPECT_THAT(errors(), IsEmpty());
  write("e.json", " ");
  EXPECT_THAT(errors(), ElementsAre(folder_.string() + ": more than 67108864 bytes"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Source, the_same_bundle_in_json_and_yaml_has_the_same_hashes) {
  write("json/all.json", R"([
    {"$kind":"defschema","name":"a/R@1","type":{"record":{"id":{"text":{}},"n":{"option":{"nat":{}}}}}},
    {"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
    {"$kind":"defeffect","name":"a/x@1","params":"a/R@1","receipt":"a/R@1","executor":{"kind":"worker","queue":"1"},
     "timeout_ns":5000000000},
    {"$kind":"defworkflow","name":"a/w@1","state":"a/R@1","event":"a/R@1","effects_emitted":["a/x@1"],
     "impl":{"module":"a/m@1","entrypoint":"run"}},
    {"$kind":"manifest","air_version":"2","schemas":[{"name":"a/R@1"}],"modules":[{"name":"a/m@1"}],
     "effects":[{"name":"a/x@1"}],"workflows":[{"name":"a/w@1"}],
     "routing":{"subscriptions":[{"event":"a/R@1","workflow":"a/w@1"}]}}])");
  write("yaml/types.yaml", R"($kind: defschema
name: a/R@1
type: {record: {n: {option: {nat: {}}}, id: {text: {}}}}
)");
  write("yaml/more/rest.yml", R"(---
$kind: defmodule
name: a/m@1
runtime: {kind: native}
---
$kind: defeffect
name: a/x@1
params: a/R@1
receipt: a/R@1
executor:
  kind: worker
  queue: "1"   # a text
timeout_ns: 5000000000
---
$kind: defworkflow
name: a/w@1
state: a/R@1
event: a/R@1
effects_emitted:
- a/x@1
impl: {module: a/m@1, entrypoint: run}
---
$kind: manifest
air_version: "2"
schemas: [{name: a/R@1}]
modules: [{name: a/m@1}]
workflows: [{name: a/w@1}]
effects: [{name: a/x@1}]
routing:
  subscriptions:
  - event: a/R@1
    workflow: a/w@1
)");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle json = load_bundle(folder_ / "json", &builtin);
  const defs::Bundle yaml = load_bundle(folder_ / "yaml", &builtin);
  EXPECT_THAT(lines(json.errors), IsEmpty());
  EXPECT_THAT(lines(yaml.errors), IsEmpty());
  ASSERT_TRUE(json.manifest && yaml.manifest);
  EXPECT_EQ(json.manifest->hash, yaml.manifest->hash);
  for (const auto& [name, entry] : json.catalogue.entries())
    EXPECT_EQ(entry.hash, yaml.catalogue.find_entry(name)->hash) << name;
}

TEST_F(Source, errors_of_files_and_of_definitions_come_together) {
  write("a.yaml", "a: 1\na: 2\n");
  write("b.yaml", "- a: [");
  write("c.yaml", "$kind: defschema\nname: a/R@1\ntype: {ref: a/X@1}\n");
  const defs::Catalogue builtin = defs::builtin_catalogue();
  EXPECT_THAT(lines(load_bundle(folder_, &builtin).errors),
              ElementsAre("b.yaml: end of sequence flow not found (line 1, column 1)",
                          "a.yaml: $.a: the key is there twice",
                          "c.yaml: $.type.ref: there is no defschema named 'a/X@1'"));
}

}  // namespace
}  // namespace holdfast::bundle
