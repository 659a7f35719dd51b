// SPDX-License-Identifier: Apache-2.0
// Governing: other definitions for a world, whether it is in a folder or behind a server. Both give
// the same documents.
#pragma once

#include <memory>
#include <string>

#include "cli/world_source.h"
#include "holdfast/governance.h"

namespace holdfast::cli {

struct Decision {
  std::uint64_t proposal = 0;
  bool approve = false;
  std::string by;
  std::string reason;
};

// All definitions (a closure), or a patch of the present ones.
struct Wish {
  base::Bytes document;
  bool is_patch = false;
  std::string description;
};

// What a trial feeds again; 0: nothing is said of it.
struct Stretch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t records = 0;  // back from the end at most, where there is no `from`
};

class Governing {
 public:
  virtual ~Governing() = default;

  // `closure`: canonical, with its manifest (defs/load.h). The document is what POST /v1/manifest
  // answers: what stands in the way is no error where it is only checked.
  virtual base::Result<Document> apply(const base::Bytes& closure, ApplyOptions options) = 0;

  // The same on a copy of the world, and what a rehearsal showed; nothing is applied.
  struct Rehearsing {
    bool strict = false;
    bool pin = false;
    bool migrate = false;
  };
  virtual base::Result<Document> rehearse(const base::Bytes& closure, Rehearsing how) = 0;

  // {"proposal"}
  virtual base::Result<Document> propose(const Wish& wish) = 0;

  // {"record", "report"}: tries it, and records what came of it (node/shadow.h).
  virtual base::Result<Document> try_proposal(std::uint64_t proposal, const Stretch& stretch) = 0;

  // {"record"}
  virtual base::Result<Document> decide(const Decision& decision) = 0;
  virtual base::Result<Document> apply_proposal(std::uint64_t proposal) = 0;
};

base::Result<std::unique_ptr<Governing>> offline_governing(const std::string& world,
                                                           const std::vector<Module>& modules,
                                                           bool any_file_system);
base::Result<std::unique_ptr<Governing>> server_governing(const Where& where);

}  // namespace holdfast::cli
