// SPDX-License-Identifier: Apache-2.0
#include "workers/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "env/posix_disk.h"
#include "env/testing.h"

namespace holdfast::workers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LogFileTest : public ::testing::Test {
 protected:
  // What is kept, and the file to go on with.
  std::vector<std::string> open(LogFileLimits limits = {}) {
    file_.reset();
    std::vector<std::string> kept;
    auto opened =
        LogFile::open(env::posix_disk(), folder(), limits, [&](const LogReportOfTask& report) {
          for (const LogLine& line : report.lines) kept.push_back(report.task + " " + line.text);
        });
    EXPECT_TRUE(opened);
    if (opened) file_ = std::move(*opened);
    return kept;
  }
  void append(const std::string& task, const std::string& text) {
    file_->append({task, 7, 1, 0, {{5, true, text}}});
  }
  std::string folder() const { return folder_.path() + "/logs"; }
  std::vector<std::filesystem::path> segments() const {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(folder()))
      found.push_back(each.path());
    return found;
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<LogFile> file_;
};

TEST_F(LogFileTest, lines_are_shown_again_when_it_is_opened) {
  EXPECT_THAT(open(), IsEmpty());
  append("g/0", "one");
  append("g/1", "two");
  EXPECT_THAT(open(), ElementsAre("g/0 one", "g/1 two"));
  append("g/0", "three");
  EXPECT_THAT(open(), ElementsAre("g/0 one", "g/1 two", "g/0 three"));
}

TEST_F(LogFileTest, a_torn_end_is_cut_and_what_comes_after_it_is_kept) {
  open();
  append("g/0", "one");
  append("g/0", "two");
  file_.reset();
  const auto path = segments().at(0);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THAT(open(), ElementsAre("g/0 one"));
  append("g/0", "three");
  EXPECT_THAT(open(), ElementsAre("g/0 one", "g/0 three"));
}

TEST_F(LogFileTest, any_byte_that_is_changed_is_noticed) {
  open();
  append("g/0", "one");
  file_.reset();
  const auto path = segments().at(0);
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t i = 0; i < size; ++i) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(i));
    const int before = stream.get();
    stream.seekp(static_cast<std::streamoff>(i));
    stream.put(static_cast<char>(before ^ 0x41));
    stream.close();
    std::filesystem::copy_file(path, folder_.path() + "/copy",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_THAT(open(), IsEmpty()) << "byte " << i;
    file_.reset();
    std::filesystem::copy_file(folder_.path() + "/copy", path,
                               std::filesystem::copy_options::overwrite_existing);
    std::fstream back(path, std::ios::in | std::ios::out | std::ios::binary);
    back.seekp(static_cast<std::streamoff>(i));
    back.put(static_cast<char>(before));
  }
  EXPECT_THAT(open(), ElementsAre("g/0 one"));
}

TEST_F(LogFileTest, the_oldest_segment_goes) {
  const LogFileLimits limits{.segment_bytes = 1, .segments = 3};
  for (const char* text : {"one", "two", "three", "four", "five"}) {
    open(limits);
    append("g/0", text);
  }
  EXPECT_THAT(open(limits), ElementsAre("g/0 three", "g/0 four", "g/0 five"));
  EXPECT_EQ(segments().size(), 3u);
}

TEST_F(LogFileTest, what_cannot_be_written_is_counted_and_the_next_lines_are_tried_again) {
  open();
  std::filesystem::remove_all(folder());
  append("g/0", "one");
  while (file_->dropped() == 0) std::this_thread::yield();
  std::filesystem::create_directory(folder());
  append("g/0", "two");
  EXPECT_THAT(open(), ElementsAre("g/0 two"));
}

}  // namespace
}  // namespace holdfast::workers
