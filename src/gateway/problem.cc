// SPDX-License-Identifier: Apache-2.0
#include "gateway/problem.h"

#include <array>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/utf8.h"

namespace holdfast::gateway {
namespace {

using Code = ProblemCode;

constexpr std::array kKinds{
    ProblemKind{Code::kMalformed, "malformed", 400, "The request is not well-formed HTTP"},
    ProblemKind{Code::kBadTarget, "bad_target", 400, "The path or the query cannot be read"},
    ProblemKind{Code::kBadBody, "bad_body", 400, "The body is not what this route takes"},
    ProblemKind{Code::kUnauthenticated, "unauthenticated", 401, "A token is needed"},
    ProblemKind{Code::kForbidden, "forbidden", 403, "The token does not allow this"},
    ProblemKind{Code::kHostRefused, "host_refused", 403, "The Host is not one of this server"},
    ProblemKind{Code::kOriginRefused, "origin_refused", 403, "Other origins may not ask"},
    ProblemKind{Code::kNoRoute, "no_route", 404, "There is nothing under this path"},
    ProblemKind{Code::kNotFound, "not_found", 404, "What the request names is not there"},
    ProblemKind{Code::kUnhandled, "unhandled", 404, "No instance took the event"},
    ProblemKind{Code::kMethod, "method_not_allowed", 405, "The path does not have this method"},
    ProblemKind{Code::kTimeout, "timeout", 408, "The request came too slowly"},
    ProblemKind{Code::kConflict, "conflict", 409, "The present state does not allow this"},
    ProblemKind{Code::kStaleCursor, "stale_cursor", 409,
                "The stream does not have what the reader has seen"},
    ProblemKind{Code::kNameTaken, "name_taken", 409, "Another live worker has this name"},
    ProblemKind{Code::kSession, "session", 409, "The worker's session has ended"},
    ProblemKind{Code::kSuperseded, "superseded", 409, "Another process of the worker is active"},
    ProblemKind{Code::kTooLarge, "too_large", 413, "Something is too large"},
    ProblemKind{Code::kTargetTooLong, "target_too_long", 414, "The path is too long"},
    ProblemKind{Code::kMediaType, "media_type", 415, "The body is of another type"},
    ProblemKind{Code::kExpectation, "expectation", 417, "The expectation cannot be met"},
    ProblemKind{Code::kSchema, "schema", 422, "The value does not fit its schema"},
    ProblemKind{Code::kFull, "full", 429, "Too much waits already"},
    ProblemKind{Code::kTooManyStreams, "too_many_streams", 429,
                "Too many streams are read already"},
    ProblemKind{Code::kHeaderTooLarge, "header_too_large", 431, "The header is too large"},
    ProblemKind{Code::kInternal, "internal", 500, "Something went wrong here"},
    ProblemKind{Code::kNotImplemented, "not_implemented", 501, "The server cannot do this"},
    ProblemKind{Code::kUnavailable, "unavailable", 503, "The server takes nothing now"},
    ProblemKind{Code::kHistory, "history", 503, "The history cannot be read now"},
    ProblemKind{Code::kStorage, "storage", 503, "What is stored cannot be read or written now"},
    ProblemKind{Code::kVersion, "version", 505, "Only HTTP/1.0 and HTTP/1.1 are spoken"},
    ProblemKind{Code::kDiskFull, "disk_full", 507, "The disk is full"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds[i].code != static_cast<Code>(i)) return false;
  return kKinds.size() == static_cast<std::size_t>(Code::kDiskFull) + 1;
}
static_assert(in_order());

void field(codec::Buffer& out, std::string_view name, std::string_view value) {
  codec::write_text(out, name);
  codec::write_text(out, value);
}

// What came from outside may be anything; a document is UTF-8.
std::string shown(std::string text) {
  if (codec::is_utf8(text)) return text;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

}  // namespace

std::span<const ProblemKind> problem_kinds() noexcept { return kKinds; }

const ProblemKind& kind_of(ProblemCode code) noexcept {
  return kKinds[static_cast<std::size_t>(code)];
}

void write_document(codec::Buffer& out, const Problem& problem) {
  const ProblemKind& kind = kind_of(problem.code);
  codec::write_map_head(out, 5u + !problem.path.empty() + !problem.blocking.empty());
  field(out, "type", "urn:holdfast:problem:" + std::string(kind.name));
  field(out, "title", kind.title);
  codec::write_text(out, "status");
  codec::write_nat(out, kind.status);
  field(out, "code", kind.name);
  field(out, "detail", shown(problem.detail));
  if (!problem.path.empty()) field(out, "path", shown(problem.path));
  if (problem.blocking.empty()) return;
  codec::write_text(out, "blocking");
  out.append(problem.blocking);
}

Problem problem_of(const Error& error, Condition condition) {
  switch (error.code) {
    case ErrorCode::kInvalid: return {Code::kSchema, error.message};
    case ErrorCode::kTooLarge: return {Code::kTooLarge, error.message};
    case ErrorCode::kConflict: return {Code::kConflict, error.message};
    case ErrorCode::kTimedOut:
    case ErrorCode::kEnded: return {Code::kUnavailable, error.message};
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable:
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt: break;
  }
  // An engine that has ended answers everything with what ended it, which says nothing about what
  // the request names.
  if (condition == Condition::kEnded)
    return {Code::kUnavailable, "the engine has ended; the log of the server says why"};
  if (error.code == ErrorCode::kNotFound) return {Code::kNotFound, error.message};
  if (error.code == ErrorCode::kIo) return {Code::kStorage, error.message};
  if (error.code == ErrorCode::kCorrupt) return {Code::kInternal, error.message};
  if (condition == Condition::kDiskFull) return {Code::kDiskFull, error.message};
  if (condition == Condition::kNoFiles) return {Code::kStorage, error.message};
  return {Code::kFull, error.message};
}

Problem problem_of(const base::Error& error, std::string_view base, ProblemCode code) {
  if (error.code() == base::ErrorCode::kTooLarge) code = Code::kTooLarge;
  std::string path(base);
  // The codec names places from the value's own root, "$".
  if (error.where().starts_with('$')) path += error.where().substr(1);
  return {code, error.message(), std::move(path)};
}

}  // namespace holdfast::gateway
