// SPDX-License-Identifier: Apache-2.0
#include "cli/event_follow.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/output.h"

namespace holdfast::cli {
namespace {

// Lines of an event stream, put together to events.
class EventReader {
 public:
  // The event that ends with this line, if one does.
  std::optional<StreamEvent> take(std::string_view line) {
    if (line.empty()) {
      // One with an id alone says where to go on.
      if (present_.data.empty() && present_.name.empty() && present_.id.empty())
        return std::nullopt;
      return std::exchange(present_, {});
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    const std::string_view field = line.substr(0, colon);
    if (field == "id") present_.id = value;
    if (field == "event") present_.name = value;
    if (field == "data") {
      if (!present_.data.empty()) present_.data += '\n';
      present_.data += value;
    }
    return std::nullopt;
  }

 private:
  StreamEvent present_;
};

}  // namespace

base::Result<ExitCode> follow_events(const ServerApi& api, const std::string& path,
                                     const TakeEvent& take) {
  HttpRequest request;
  request.path = path;
  request.accept = "text/event-stream";
  EventReader reader;
  bool streams = false;
  std::string problem;
  const HttpClient::LineReader lines{[&](long status, const std::string& type) {
                                       return streams = status == 200 &&
                                                        type.starts_with("text/event-stream");
                                     },
                                     [&](std::string_view line) {
                                       const auto event = reader.take(line);
                                       if (!event) return true;
                                       if (event->name == "problem") {
                                         problem = event->data;
                                         return false;
                                       }
                                       return take(*event) && flush_output();
                                     }};
  const HttpAnswer answer = TRY(api.client().follow(request, lines));
  // Whoever comes again goes on behind the last event.
  if (!problem.empty()) return base::Error(base::ErrorCode::kUnavailable, path, problem);
  if (streams) return ExitCode::kDone;
  if (answer.status == 204) {  // the reader has the end already
    take({"", "end", ""});
    return ExitCode::kDone;
  }
  if (answer.status != 200) return problem_in(answer, path);
  return base::Error(base::ErrorCode::kIo, path,
                     "the server answers with " + answer.type + ", not with a stream");
}

}  // namespace holdfast::cli
