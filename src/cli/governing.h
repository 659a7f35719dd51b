// SPDX-License-Identifier: Apache-2.0
// Governing: other definitions for a world, whether it is in a folder or behind a server. Both give
// the same documents.
#pragma once

#include <memory>
#include <string>

#include "cli/world_source.h"

namespace holdfast::cli {

struct Decision {
  std::uint64_t proposal = 0;
  bool approve = false;
  std::string by;
  std::string reason;
};

class Governing {
 public:
  virtual ~Governing() = default;

  // `closure`: canonical, with its manifest (defs/load.h). {"record", "blocking",
  // "blocking_count"}: what stands in the way is no error where it is only checked.
  virtual base::Result<Document> apply(const base::Bytes& closure, bool only_check) = 0;

  // {"proposal"}
  virtual base::Result<Document> propose(const base::Bytes& closure,
                                         const std::string& description) = 0;

  // {"record"}
  virtual base::Result<Document> report_shadow(std::uint64_t proposal,
                                               const base::Bytes& report) = 0;
  virtual base::Result<Document> decide(const Decision& decision) = 0;
  virtual base::Result<Document> apply_proposal(std::uint64_t proposal) = 0;
};

base::Result<std::unique_ptr<Governing>> offline_governing(const std::string& world,
                                                           const std::vector<Module>& modules,
                                                           bool any_file_system);
base::Result<std::unique_ptr<Governing>> server_governing(const Where& where);

struct Trial {
  std::string base;      // the manifest that the proposal would follow
  std::string manifest;  // that it would put in its place
  base::Bytes report;
};

// The trial run of a proposal of a world in a folder, which is only looked at: the report
// (node/shadow.h), as CBOR, and of what.
base::Result<Trial> try_proposal(const std::string& world, const std::vector<Module>& modules,
                                 std::uint64_t proposal, std::uint64_t most_records);

}  // namespace holdfast::cli
