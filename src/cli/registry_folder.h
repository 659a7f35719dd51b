// SPDX-License-Identifier: Apache-2.0
// What the commands of the registry share: where it is, what they say of it, and the exit codes
// that scripts go by.
#pragma once

#include <memory>
#include <string>

#include "cli/exit_code.h"
#include "codec/buffer.h"
#include "holdfast/registry.h"

namespace CLI {
class App;
}

namespace holdfast::cli {

struct RegistryFolder {
  std::string dir;
  bool json = false;

  // Of `dir`, or of the user's data folder where that is empty.
  Result<std::shared_ptr<Registry>> open() const;
};

void add_dir(CLI::App& command, RegistryFolder& folder);
void add_dir_and_json(CLI::App& command, RegistryFolder& folder);

// What was done to whom, for scripts: {"name": NAME, WHAT: true}. Nothing without --json.
void print_done(const RegistryFolder& folder, std::string_view name, std::string_view what);

// Says what is wrong; 75 for somebody who is busy, where trying again helps, and 1 else.
[[nodiscard]] ExitCode refuse(const Error& error);

// "1m30s" as nanoseconds; a plain number is of seconds.
Result<std::int64_t> duration_ns(const std::string& option, const std::string& text);

// The same where only whole seconds will do.
Result<std::chrono::seconds> whole_seconds(const std::string& option, const std::string& text);

// The members of a lease and of a swap, in a document that is printed as JSON.
void write_lease(codec::Buffer& out, const LeaseView& lease);
void write_swap_or_null(codec::Buffer& out, const std::optional<SwapView>& swap);

// On behalf of whom a command renews, releases or clears.
struct ClaimOptions {
  std::int64_t pid = 0;
  std::string lease;
  bool is_operator = false;

  LeaseClaim claim() const;
};

void add_claim(CLI::App& command, ClaimOptions& options);

// Of a command that ends at once it is the process that started it.
std::int64_t owner_or_parent(std::int64_t pid);

}  // namespace holdfast::cli
