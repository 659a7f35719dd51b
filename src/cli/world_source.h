// SPDX-License-Identifier: Apache-2.0
// WorldSource: where the looking commands get what they show: the folder of a world, or a server.
// Both give the same documents, those of the HTTP API (docs/api.md), so that one piece of code
// prints them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/where.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "holdfast/module.h"

namespace holdfast::cli {

// A canonical value, for looking inside.
class Document {
 public:
  // kInvalid: the bytes are no value.
  static base::Result<Document> of_cbor(base::ByteView cbor);
  static base::Result<Document> of_json(std::string_view json);

  // What we have written ourselves: it may be larger and deeper than what others may send.
  static Document ours(const codec::Buffer& out) { return Document(out.to_bytes()); }

  codec::View view() const { return codec::View::of(bytes_); }

 private:
  explicit Document(base::Bytes bytes) : bytes_(std::move(bytes)) {}

  base::Bytes bytes_;
};

// An instance as people write it: the key as it stands in a path (codec/key_word.h), "-" where
// there is none.
struct InstanceId {
  std::string workflow;
  std::string key;

  std::string text() const { return workflow + "/" + key; }
};

struct ListQuery {
  std::string workflow = {};
  std::string status = {};
  std::string key = {};  // the key is a text that begins with this
  std::uint64_t since_ns = 0;
  std::uint64_t limit = 50;
  std::string after = {};  // where the page before ended
  std::string where = {};  // FIELD=VALUE (gateway/field_match.h)
};

// What is drawn: a step workflow, or one run of it.
struct GraphOf {
  std::string workflow;
  std::optional<std::string> key = {};
};

class WorldSource {
 public:
  virtual ~WorldSource() = default;

  // {"instances": [{"workflow", "key", "status", "paused", "last_record", "last_ns", ...}],
  // "next"}: those that began last come first.
  virtual base::Result<Document> instances(const ListQuery& query) = 0;

  virtual base::Result<Document> instance(const InstanceId& id) = 0;

  // {"record", "state"}; `at` 0: now.
  virtual base::Result<Document> state(const InstanceId& id, std::uint64_t at) = 0;

  // {"records", "next", "trimmed"}: the last first, from `from` on (0: the last).
  virtual base::Result<Document> timeline(const InstanceId& id, std::uint64_t from,
                                          std::uint64_t limit) = 0;

  // The same with the states of which the records have only the hash, as people read them: they are
  // replayed. Behind records that no snapshot leads to any more, they stay away. kTooLarge,
  // kUnavailable: that passes a limit; kConflict: there is no code for it; kCorrupt, kIo: what it
  // needs cannot be read. The timeline may still be had without.
  virtual base::Result<Document> timeline_with_states(const InstanceId& id, std::uint64_t from,
                                                      std::uint64_t limit) = 0;

  // {"sentence", "reasons"}
  virtual base::Result<Document> why(const InstanceId& id) = 0;

  // {"records", "next", "first", "last"}; `from` 0: from the first that there is.
  virtual base::Result<Document> journal(std::uint64_t from, std::uint64_t limit) = 0;

  // {"definitions"}
  virtual base::Result<Document> manifest() = 0;

  // {"proposals": [{"proposal", "stage", "manifest", "description", "report", "by", "reason"}]}
  virtual base::Result<Document> proposals() = 0;

  // {"workflows", "schemas"}
  virtual base::Result<Document> workflows() = 0;

  // {"workflow", "graph"}; of a run also {"key", "execution"}
  virtual base::Result<Document> graph(const GraphOf& of) = 0;
  // The same as a picture: mermaid, dot or svg.
  virtual base::Result<std::string> picture(const GraphOf& of, const std::string& format) = 0;

  // Instances whose text begins with this, so many at most.
  virtual base::Result<std::vector<InstanceId>> beginning_with(std::string_view prefix,
                                                               std::size_t most) = 0;
};

// The modules must outlive it. The folder is only looked at.
base::Result<std::unique_ptr<WorldSource>> offline_source(const std::string& world,
                                                          const std::vector<Module>& modules);
base::Result<std::unique_ptr<WorldSource>> server_source(const Where& where);
base::Result<std::unique_ptr<WorldSource>> source_at(const Where& where,
                                                     const std::vector<Module>& modules);

// What is said of a name that no workflow has.
base::Error no_workflow(const std::string& name);

// The whole name of an instance, for whoever acts on one: what only begins so may be another one.
base::Result<InstanceId> parse_id(std::string_view text);

// For whoever looks: the one instance that `text` names, or whose name only begins with it, which
// is said on standard error. kNotFound: there is none. kConflict: several begin so; the message
// lists some.
base::Result<InstanceId> resolve(WorldSource& source, std::string_view text);

// A key as it stands in a path.
std::string key_word(const std::optional<codec::View>& key);

}  // namespace holdfast::cli
