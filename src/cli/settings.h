// SPDX-License-Identifier: Apache-2.0
// Settings: what a command goes by where no flag says it: the environment, then the file
// holdfast.yaml in the present folder. A key that the file has and nobody knows is an error.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::cli {

struct SettingName {
  std::string_view key;       // in the file, and the flag behind --
  std::string_view variable;  // of the environment
  std::string_view what;
  bool is_secret = false;
};

inline constexpr std::array<SettingName, 8> kSettings{{
    {"world", "HOLDFAST_WORLD", "the folder of a world"},
    {"server", "HOLDFAST_SERVER", "the address of a server"},
    {"token", "HOLDFAST_TOKEN", "what a server knows us by", true},
    {"authorities", "HOLDFAST_AUTHORITIES", "a PEM file: whose certificates of servers are good"},
    {"listen", "HOLDFAST_LISTEN", "where a server listens"},
    {"tls-certificate", "HOLDFAST_TLS_CERTIFICATE", "of a server: a PEM file, with its chain"},
    {"tls-key", "HOLDFAST_TLS_KEY", "of a server: a PEM file"},
    {"client-authorities", "HOLDFAST_CLIENT_AUTHORITIES",
     "of a server: a PEM file, whose clients may connect"},
}};

inline constexpr const char* kSettingsFile = "holdfast.yaml";

struct Setting {
  const SettingName* name = nullptr;
  std::string value;
  std::string from;  // "--world", "HOLDFAST_WORLD", "holdfast.yaml"
};

class Settings {
 public:
  // kInvalid: the file cannot be read, or has a key that is not known.
  static base::Result<Settings> load();

  // Null: nobody has said it.
  const Setting* find(std::string_view key) const;
  const std::vector<Setting>& all() const noexcept { return found_; }

  // A flag was given: it goes before everything else.
  void give(std::string_view key, const std::string& value);

 private:
  std::vector<Setting> found_;  // one for each key that has a value
};

}  // namespace holdfast::cli
