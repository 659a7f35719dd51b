// SPDX-License-Identifier: Apache-2.0
#include "env/sim_disk.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "env/system_error.h"

namespace holdfast::env {

struct SimDisk::Body {
  explicit Body(DiskState from) : start(std::move(from)), now(start) {
    if (!now.files.empty()) next_file = now.files.rbegin()->first + 1;
  }

  DiskState start;
  DiskState now;
  std::vector<DiskOperation> operations;
  std::map<std::uint64_t, std::string> locked;  // file -> who has it
  std::set<std::string> locked_folders;
  std::uint64_t next_file = 1;
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> failing_call;
  DiskFault fault = DiskFault::kIoError;
  std::optional<std::uint64_t> capacity;
  FileSystem file_system = {FileSystemKind::kLocal, "simulated"};

  void perform(DiskOperation operation) {
    now.apply(operation);
    operations.push_back(std::move(operation));
  }

  // Counts a call that changes something, and says how it is to fail.
  std::optional<DiskFault> next_fault() {
    const std::uint64_t call = calls++;
    return failing_call == call ? std::optional(fault) : std::nullopt;
  }

  // The same for calls that fail whole or not at all. Signals do not stop those: the
  // operating system's side of Disk calls again.
  base::Result<void> admit(const std::string& path) {
    const auto how = next_fault();
    if (how == DiskFault::kIoError) return io_error(path);
    if (how == DiskFault::kNoSpace) return no_space(path);
    if (how == DiskFault::kNoDescriptors) return system_error(path, "open", EMFILE);
    return {};
  }

  bool fits(std::uint64_t more) const {
    if (!capacity) return true;
    std::uint64_t used = 0;
    for (const auto& [path, file] : now.names) used += now.files.at(file).size();
    return used + more <= *capacity;
  }

  bool is_named(const std::string& path, std::uint64_t file) const {
    const auto found = now.names.find(path);
    return found != now.names.end() && found->second == file;
  }

  static base::Error io_error(const std::string& where) {
    return {base::ErrorCode::kIo, where, "simulated I/O error"};
  }
  static base::Error no_space(const std::string& where) {
    return {base::ErrorCode::kUnavailable, where, "simulated full disk"};
  }
};

namespace {

class SimFile : public File {
 public:
  SimFile(std::shared_ptr<SimDisk::Body> disk, std::uint64_t file, std::string path)
      : disk_(std::move(disk)), file_(file), path_(std::move(path)) {}

  base::Result<std::size_t> read_at(std::uint64_t offset,
                                    std::span<std::uint8_t> into) const override {
    const base::Bytes& bytes = contents();
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), bytes.size() - offset));
    if (count > 0) std::memcpy(into.data(), bytes.data() + offset, count);
    return count;
  }

  base::Result<std::size_t> write_at(std::uint64_t offset, base::ByteView bytes) override {
    const auto fault = disk_->next_fault();
    if (fault == DiskFault::kInterrupted) return std::size_t{0};
    if (fault) bytes = bytes.first(bytes.size() / 2);
    const std::uint64_t end = offset + bytes.size();
    if (end > contents().size() && !disk_->fits(end - contents().size()))
      return SimDisk::Body::no_space(path_);
    disk_->perform({.kind = OperationKind::kWrite,
                    .file = file_,
                    .offset = offset,
                    .bytes = base::Bytes(bytes.begin(), bytes.end())});
    if (fault == DiskFault::kIoError) return SimDisk::Body::io_error(path_);
    if (fault == DiskFault::kNoSpace) return SimDisk::Body::no_space(path_);
    return bytes.size();
  }

  base::Result<void> sync_data() override {
    const auto fault = disk_->next_fault();
    const bool fails = fault && fault != DiskFault::kShort;
    disk_->perform(
        {.kind = fails ? OperationKind::kFailedSync : OperationKind::kSync, .file = file_});
    if (fault == DiskFault::kNoSpace) return SimDisk::Body::no_space(path_);
    if (fails) return SimDisk::Body::io_error(path_);
    return {};
  }

  base::Result<void> truncate(std::uint64_t size) override {
    TRY(disk_->admit(path_));
    disk_->perform({.kind = OperationKind::kTruncate, .file = file_, .offset = size});
    return {};
  }

  base::Result<void> preallocate(std::uint64_t size) override {
    TRY(disk_->admit(path_));
    if (size <= contents().size()) return {};
    if (!disk_->fits(size - contents().size())) return SimDisk::Body::no_space(path_);
    disk_->perform({.kind = OperationKind::kTruncate, .file = file_, .offset = size});
    return {};
  }

  base::Result<std::uint64_t> size() const override { return contents().size(); }

  base::Result<bool> is_at(const std::string& path) const override {
    return disk_->is_named(path, file_);
  }

 private:
  const base::Bytes& contents() const { return disk_->now.files.at(file_); }

  std::shared_ptr<SimDisk::Body> disk_;
  std::uint64_t file_;
  std::string path_;
};

class SimLock : public FileLock {
 public:
  SimLock(std::shared_ptr<SimDisk::Body> disk, std::uint64_t file, std::string path)
      : disk_(std::move(disk)), file_(file), path_(std::move(path)) {}
  ~SimLock() override { disk_->locked.erase(file_); }

  base::Result<void> check() const override {
    if (disk_->is_named(path_, file_)) return {};
    return base::Error(base::ErrorCode::kConflict, path_, std::string(kLockLost));
  }

 private:
  std::shared_ptr<SimDisk::Body> disk_;
  std::uint64_t file_;
  std::string path_;
};

// Folders of a simulated disk keep their names.
class SimFolderLock : public FileLock {
 public:
  SimFolderLock(std::shared_ptr<SimDisk::Body> disk, std::string path)
      : disk_(std::move(disk)), path_(std::move(path)) {}
  ~SimFolderLock() override { disk_->locked_folders.erase(path_); }

  base::Result<void> check() const override { return {}; }

 private:
  std::shared_ptr<SimDisk::Body> disk_;
  std::string path_;
};

base::Error not_found(const std::string& path) {
  return base::Error(base::ErrorCode::kNotFound, path, "there is no such file")
      .from(base::Error::Origin::kSystem);
}

}  // namespace

SimDisk::SimDisk() : SimDisk(DiskState{.files = {}, .names = {}, .folders = {"."}}) {}
SimDisk::SimDisk(DiskState start) : body_(std::make_shared<Body>(std::move(start))) {}
SimDisk::~SimDisk() = default;

base::Result<std::unique_ptr<File>> SimDisk::open(const std::string& path, OpenMode mode) {
  const auto found = body_->now.names.find(path);
  if (found != body_->now.names.end()) {
    const std::uint64_t file = found->second;
    if (mode == OpenMode::kCreate) {
      TRY(body_->admit(path));
      body_->perform({.kind = OperationKind::kTruncate, .file = file, .offset = 0});
    }
    return std::unique_ptr<File>(std::make_unique<SimFile>(body_, file, path));
  }
  if (mode != OpenMode::kCreate || !body_->now.folders.contains(parent_of(path)))
    return not_found(path);
  TRY(body_->admit(path));
  const std::uint64_t file = body_->next_file++;
  body_->perform({.kind = OperationKind::kCreate, .file = file, .path = path});
  return std::unique_ptr<File>(std::make_unique<SimFile>(body_, file, path));
}

base::Result<void> SimDisk::rename(const std::string& from, const std::string& to) {
  TRY(body_->admit(from));
  const auto found = body_->now.names.find(from);
  if (found == body_->now.names.end()) return not_found(from);
  body_->perform(
      {.kind = OperationKind::kRename, .file = found->second, .path = from, .other_path = to});
  return {};
}

base::Result<void> SimDisk::remove(const std::string& path) {
  TRY(body_->admit(path));
  const auto found = body_->now.names.find(path);
  if (found == body_->now.names.end()) return not_found(path);
  body_->perform({.kind = OperationKind::kRemove, .file = found->second, .path = path});
  return {};
}

base::Result<void> SimDisk::make_directory(const std::string& path) {
  TRY(body_->admit(path));
  if (body_->now.folders.contains(path)) return {};
  if (!body_->now.folders.contains(parent_of(path))) return not_found(path);
  body_->perform({.kind = OperationKind::kMakeDirectory, .path = path});
  return {};
}

base::Result<void> SimDisk::sync_directory(const std::string& path) {
  const auto fault = body_->next_fault();
  if (fault && fault != DiskFault::kShort) return Body::io_error(path);
  if (!body_->now.folders.contains(path)) return not_found(path);
  body_->perform({.kind = OperationKind::kSyncDirectory, .path = path});
  return {};
}

base::Result<std::vector<std::string>> SimDisk::list(const std::string& path) {
  if (!body_->now.folders.contains(path)) return not_found(path);
  std::vector<std::string> names;
  for (const auto& [name, file] : body_->now.names) {
    if (parent_of(name) == path) names.push_back(name.substr(name.rfind('/') + 1));
  }
  for (const std::string& folder : body_->now.folders) {
    if (folder != path && parent_of(folder) == path)
      names.push_back(folder.substr(folder.rfind('/') + 1));
  }
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<std::unique_ptr<FileLock>> SimDisk::lock(const std::string& path,
                                                      std::string_view holder) {
  if (!body_->now.names.contains(path)) TRY(open(path, OpenMode::kCreate));
  const std::uint64_t file = body_->now.names.at(path);
  const auto [place, is_new] = body_->locked.try_emplace(file, holder);
  if (!is_new) return base::Error(base::ErrorCode::kConflict, path, "is held by " + place->second);
  return std::unique_ptr<FileLock>(std::make_unique<SimLock>(body_, file, path));
}

base::Result<std::unique_ptr<FileLock>> SimDisk::lock_folder(const std::string& path) {
  if (!body_->now.folders.contains(path)) return not_found(path);
  if (!body_->locked_folders.insert(path).second)
    return base::Error(base::ErrorCode::kConflict, path, "is held by another process");
  return std::unique_ptr<FileLock>(std::make_unique<SimFolderLock>(body_, path));
}

base::Result<std::unique_ptr<FileLock>> SimDisk::lock_to_look(const std::string& path) {
  if (!body_->now.names.contains(path)) return not_found(path);
  return lock(path, "somebody who only looks");
}

const DiskState& SimDisk::start() const { return body_->start; }
const std::vector<DiskOperation>& SimDisk::operations() const { return body_->operations; }
const DiskState& SimDisk::now() const { return body_->now; }

std::unique_ptr<SimDisk> SimDisk::after_process_death() const {
  auto next = std::make_unique<SimDisk>(body_->start);
  next->body_->now = body_->now;
  next->body_->operations = body_->operations;
  next->body_->next_file = body_->next_file;
  next->body_->calls = body_->calls;
  next->body_->failing_call = body_->failing_call;
  next->body_->fault = body_->fault;
  next->body_->capacity = body_->capacity;
  return next;
}

void SimDisk::fail_call(std::uint64_t after, DiskFault fault) {
  body_->failing_call = body_->calls + after;
  body_->fault = fault;
}

std::uint64_t SimDisk::changing_calls() const { return body_->calls; }

void SimDisk::set_file_system(FileSystem system) { body_->file_system = std::move(system); }

base::Result<FileSystem> SimDisk::file_system_of(const std::string&) { return body_->file_system; }

void SimDisk::set_capacity(std::optional<std::uint64_t> bytes) { body_->capacity = bytes; }

}  // namespace holdfast::env
