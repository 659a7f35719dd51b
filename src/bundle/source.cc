// SPDX-License-Identifier: Apache-2.0
#include "bundle/source.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "bundle/yaml.h"

namespace holdfast::bundle {
namespace {

namespace fs = std::filesystem;

bool is_yaml(const fs::path& file) {
  return file.extension() == ".yaml" || file.extension() == ".yml";
}
bool is_document(const fs::path& file) { return file.extension() == ".json" || is_yaml(file); }
bool is_hidden(const fs::path& entry) { return entry.filename().string().starts_with('.'); }

base::Error unreadable(const std::string& why) {
  return {base::ErrorCode::kIo, "cannot be read: " + why};
}

base::Result<std::string> read_file(const fs::path& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) {
    if (errno == ENOENT) return base::Error(base::ErrorCode::kNotFound, "there is no such file");
    return unreadable(std::strerror(errno));
  }
  std::string text;
  char chunk[64 * 1024];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, file.get())) {
    text.append(chunk, count);
    if (text.size() > kMaxFileBytes) {
      return base::Error(base::ErrorCode::kTooLarge,
                         "more than " + std::to_string(kMaxFileBytes) + " bytes");
    }
  }
  if (std::ferror(file.get()) != 0) return unreadable(std::strerror(errno));
  return text;
}

// A link that leads nowhere counts: reading it will say so.
bool is_readable(const fs::directory_entry& entry) {
  std::error_code problem;
  const fs::file_status status = entry.status(problem);
  return fs::is_regular_file(status) || !fs::status_known(status) || !fs::exists(status);
}

// The documents below a folder, as paths relative to it, sorted.
base::Result<std::vector<fs::path>> list_documents(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  fs::recursive_directory_iterator at(folder, problem);
  for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem)) {
    if (is_hidden(at->path())) {
      at.disable_recursion_pending();
    } else if (is_document(at->path()) && is_readable(*at)) {
      found.push_back(at->path().lexically_relative(folder));
      if (found.size() > kMaxFiles) {
        return base::Error(base::ErrorCode::kTooLarge,
                           "more than " + std::to_string(kMaxFiles) + " files");
      }
    }
  }
  if (problem) return unreadable(problem.message());
  std::sort(found.begin(), found.end());
  return found;
}

void add(Sources& sources, const fs::path& file, const std::string& shown) {
  auto json = read_as_json(file);
  if (json) {
    sources.documents.push_back({shown, std::move(*json)});
  } else {
    sources.errors.push_back(std::move(json).error().within(shown));
  }
}

}  // namespace

base::Result<std::string> read_as_json(const fs::path& file) {
  std::string text = TRY(read_file(file));
  if (!is_yaml(file)) return text;
  return yaml_to_json(text);
}

Sources read_sources(const fs::path& bundle) {
  Sources sources;
  std::error_code problem;
  if (!fs::is_directory(bundle, problem)) {
    add(sources, bundle, bundle.string());
    return sources;
  }
  auto files = list_documents(bundle);
  if (!files) {
    sources.errors.push_back(std::move(files).error().within(bundle.string()));
    return sources;
  }
  if (files->empty()) {
    sources.errors.push_back(
        base::invalid(bundle.string(), "no *.json, *.yaml or *.yml file is in this folder"));
  }
  std::size_t bytes = 0;
  for (const fs::path& file : *files) {
    const std::size_t before = sources.documents.size();
    add(sources, bundle / file, file.string());
    if (sources.documents.size() > before) bytes += sources.documents.back().json.size();
    if (bytes > kMaxBundleBytes) {
      sources.documents.clear();
      sources.errors.push_back({base::ErrorCode::kTooLarge, bundle.string(),
                                "more than " + std::to_string(kMaxBundleBytes) + " bytes"});
      break;
    }
  }
  return sources;
}

defs::Bundle load_bundle(const fs::path& bundle, const defs::Catalogue* below,
                         defs::Reserved reserved) {
  Sources sources = read_sources(bundle);
  defs::Bundle loaded = defs::load(sources.documents, below, reserved);
  sources.errors.append(std::move(loaded.errors));
  loaded.errors = std::move(sources.errors);
  return loaded;
}

}  // namespace holdfast::bundle
