// SPDX-License-Identifier: Apache-2.0
#include "cli/world_source.h"

#include <utility>

#include "cli/output.h"
#include "cli/render.h"
#include "codec/json_writer.h"
#include "codec/key_word.h"
#include "codec/normaliser.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostListed = 5;

base::Bytes copy_of(base::ByteView bytes) { return {bytes.begin(), bytes.end()}; }

// "shop/Order@1/o-1"; nothing: there is no key in it.
std::optional<InstanceId> split(std::string_view text) {
  const std::size_t first = text.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  if (second == std::string_view::npos || second + 1 == text.size()) return std::nullopt;
  // Whoever writes dots means dots: here they lead nowhere else.
  return InstanceId{std::string(text.substr(0, second)),
                    codec::word_of_key(codec::text_of_key(text.substr(second + 1)))};
}

}  // namespace

base::Result<Document> Document::of_cbor(base::ByteView cbor) {
  codec::Normaliser normaliser;
  return Document(
      copy_of(TRY(normaliser.from_cbor(codec::Schema::item(), cbor, codec::Strictness::kLenient))));
}

base::Result<Document> Document::of_json(std::string_view json) {
  codec::Normaliser normaliser;
  return Document(copy_of(TRY(normaliser.from_json(codec::Schema::any(), json))));
}

std::string key_word(const std::optional<codec::View>& key) {
  if (!key || key->is_null()) return "-";
  if (const auto text = key->text()) return codec::word_of_key(*text);
  return codec::to_json(*key);
}

base::Error no_workflow(const std::string& name) {
  return {base::ErrorCode::kNotFound, name, "there is no such workflow"};
}

base::Result<InstanceId> parse_id(std::string_view text) {
  if (auto id = split(text)) return std::move(*id);
  return base::invalid(std::string(text), "expected the whole name of an instance, WORKFLOW/KEY");
}

base::Result<InstanceId> resolve(WorldSource& source, std::string_view text) {
  if (const auto id = split(text)) {
    const auto found = source.instance(*id);
    if (found) return id_in(found->view());  // as everything else names it
    if (found.error().code() != base::ErrorCode::kNotFound)
      return base::Error(found.error().code(), found.error().where(), found.error().message());
  }
  const std::vector<InstanceId> ids = TRY(source.beginning_with(text, kMostListed + 1));
  if (ids.size() == 1) {
    remark(std::string(text) + " is taken for " + ids.front().text());
    return ids.front();
  }
  if (ids.empty()) {
    return base::Error(base::ErrorCode::kNotFound, std::string(text),
                       "there is no such instance, and none whose name begins so");
  }
  std::string names;
  for (std::size_t i = 0; i < ids.size() && i < kMostListed; ++i)
    names += (i == 0 ? "" : ", ") + ids[i].text();
  return base::Error(
      base::ErrorCode::kConflict, std::string(text),
      "several instances begin so: " + names + (ids.size() > kMostListed ? " and others" : ""));
}

base::Result<std::unique_ptr<WorldSource>> source_at(const Where& where,
                                                     const std::vector<Module>& modules) {
  return where.is_offline() ? offline_source(where.world, modules) : server_source(where);
}

}  // namespace holdfast::cli
