// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include "base/bytes.h"
#include "bundle/yaml_scalar.h"
#include "codec/buffer.h"
#include "codec/json_writer.h"
#include "codec/limits.h"
#include "codec/utf8.h"

namespace holdfast::bundle {
namespace {

std::string place(const YAML::Mark& mark) {
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1);
}

// Writes JSON while yaml-cpp reads. After the first problem the rest is passed over: yaml-cpp
// cannot be stopped without a throw.
class JsonEmitter : public YAML::EventHandler {
 public:
  std::string take() { return std::string(base::as_text(out_.view())); }
  const std::string& problem() const noexcept { return problem_; }
  const YAML::Mark& start() const noexcept { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}

  // yaml-cpp does not say how the null was spelt, so a key cannot be made of it.
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    scalar(mark, "?", "");
    if (is_key_) refuse(mark, "a key is null; write it in quotes");
  }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchors (&" + name + ") are not accepted");
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not accepted");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    scalar(mark, tag, value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, true);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    bool map;
    std::size_t count = 0;  // scalars and containers begun in it, keys included
  };

  void scalar(const YAML::Mark& mark, const std::string& tag, std::string_view value) {
    const bool plain = tag == "?" || tag.empty();
    if (!plain && tag != "!" && tag != "tag:yaml.org,2002:str")
      return refuse(mark, "tags (" + tag + ") are not accepted");
    if (!before(mark, true)) return;
    const auto literal = plain && !is_key_ ? plain_scalar_to_json(value) : std::nullopt;
    if (!literal) return codec::write_string_json(out_, value);
    if (literal->empty()) return refuse(mark, "'" + std::string(value) + "' has no form in JSON");
    append(*literal);
  }

  void open(const YAML::Mark& mark, const std::string& tag, bool map) {
    if (tag != "?" && !tag.empty() && tag != "!")
      return refuse(mark, "tags (" + tag + ") are not accepted");
    if (!before(mark, false)) return;
    if (open_.size() == codec::kMaxDepth) return refuse(mark, "nested too deep");
    open_.push_back({map});
    append(map ? "{" : "[");
  }

  void close() {
    if (!problem_.empty()) return;
    append(open_.back().map ? "}" : "]");
    open_.pop_back();
  }

  // What stands between the last thing and the next one.
  bool before(const YAML::Mark& mark, bool scalar) {
    if (!problem_.empty()) return false;
    is_key_ = false;
    if (open_.empty()) return true;
    Open& open = open_.back();
    is_key_ = open.map && open.count % 2 == 0;
    if (is_key_ && !scalar) return refuse(mark, "a key must be a scalar"), false;
    if (open.count > 0) append(open.map && !is_key_ ? ":" : ",");
    ++open.count;
    return true;
  }

  void append(std::string_view text) { out_.append(text.data(), text.size()); }

  void refuse(const YAML::Mark& mark, const std::string& what) {
    if (problem_.empty()) problem_ = what + " (" + place(mark) + ")";
  }

  YAML::Mark start_;
  codec::Buffer out_;
  std::vector<Open> open_;
  bool is_key_ = false;
  std::string problem_;
};

// yaml-cpp takes one control character for the end of the text and guesses at other encodings.
std::optional<std::size_t> line_that_is_no_text(std::string_view yaml) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f;
  };
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = yaml.find('\n');
    const std::string_view line = yaml.substr(0, end);
    if (!codec::is_utf8(line) || std::any_of(line.begin(), line.end(), is_control)) return number;
    if (end == std::string_view::npos) return std::nullopt;
    yaml.remove_prefix(end + 1);
  }
}

// yaml-cpp closes a quote that is still open where the text ends, if it ends with a line break;
// without the line break it says so. A file that was cut off must not pass for a whole one.
std::string_view without_last_breaks(std::string_view yaml) {
  while (!yaml.empty() && (yaml.back() == '\n' || yaml.back() == '\r')) yaml.remove_suffix(1);
  return yaml;
}

base::Result<std::string> convert(std::string_view yaml) {
  std::istringstream stream{std::string(yaml)};
  YAML::Parser parser(stream);
  std::vector<std::string> documents;
  for (int last_start = -1;;) {
    JsonEmitter emitter;
    if (!parser.HandleNextDocument(emitter)) break;
    if (!emitter.problem().empty()) return base::invalid("", emitter.problem());
    // Where no document can begin, yaml-cpp gives empty ones without end.
    if (emitter.start().pos <= last_start)
      return base::invalid("", "no document can begin here (" + place(emitter.start()) + ")");
    last_start = emitter.start().pos;
    documents.push_back(emitter.take());
  }
  if (documents.empty()) return base::invalid("", "the YAML has no document");
  if (documents.size() == 1) return std::move(documents.front());
  std::string list = "[";
  for (const std::string& document : documents) list += (list.size() > 1 ? "," : "") + document;
  return list + "]";
}

}  // namespace

base::Result<std::string> yaml_to_json(std::string_view yaml) {
  if (yaml.size() > kMaxYamlBytes) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "more than " + std::to_string(kMaxYamlBytes) + " bytes of YAML");
  }
  if (const auto line = line_that_is_no_text(yaml)) {
    return base::invalid(
        "", "a control character or a byte that is not UTF-8 (line " + std::to_string(*line) + ")");
  }
  try {
    TRY(convert(without_last_breaks(yaml)));
    return convert(yaml);
  } catch (const YAML::DeepRecursion& problem) {
    return base::invalid("", "nested too deep (" + place(problem.mark) + ")");
  } catch (const YAML::Exception& problem) {
    return base::invalid("", problem.msg + " (" + place(problem.mark) + ")");
  } catch (const std::exception& problem) {
    return base::invalid("", problem.what());
  }
}

}  // namespace holdfast::bundle
