// SPDX-License-Identifier: Apache-2.0
// Normaliser: turns a value that comes from outside, as JSON or as CBOR, into the one canonical
// encoding that its schema gives it, checking it on the way; one pass, no tree, no recursion.
// The rules are in docs/formats/canonical-cbor.md. It is on the path of every event.
//
// Invariants: (1) the same value gives the same bytes, whichever way and in whichever order and
// sugar it was written; (2) normalising what a normaliser has made changes nothing; (3) a strict
// decode accepts those bytes and no others.
//
// A normaliser keeps its buffers from call to call. One thread at a time.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/cbor_head.h"
#include "codec/cbor_reader.h"
#include "codec/conforms.h"
#include "codec/schema.h"
#include "codec/workspace.h"

namespace holdfast::codec {

class Normaliser {
 public:
  // The canonical bytes, with the self-describe tag; they hold until the next call, and so cannot
  // be its input.
  base::Result<base::ByteView> from_json(const Schema& schema, std::string_view json);

  // The same for a value that becomes part of another one, or of a tick: without the tag.
  base::Result<base::ByteView> part_from_json(const Schema& schema, std::string_view json) {
    return TRY(from_json(schema, json)).subspan(sizeof kSelfDescribe);
  }

  // Lenient: the self-describe tag may be absent. Strict: only canonical bytes are accepted.
  base::Result<base::ByteView> from_cbor(const Schema& schema, base::ByteView cbor,
                                         Strictness strictness);

  // The same, lenient, for a value that becomes part of another one: without the tag. What is
  // canonical already is not copied: then the result is `cbor` itself.
  base::Result<base::ByteView> part_from_cbor(const Schema& schema, base::ByteView cbor) {
    if (surely_conforms(schema, cbor)) return cbor;
    return made_part(schema, cbor);
  }

 private:
  base::Result<base::ByteView> made_part(const Schema& schema, base::ByteView cbor);

  Workspace work_;
};

}  // namespace holdfast::codec
