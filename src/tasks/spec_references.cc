// SPDX-License-Identifier: Apache-2.0
#include "tasks/spec_references.h"

#include "base/check.h"
#include "codec/cbor_reader.h"
#include "codec/skip.h"
#include "tasks/names.h"

namespace holdfast::tasks {
namespace {

class ReferenceWalk {
 public:
  ReferenceWalk(base::ByteView bytes, ReferenceVisitor& visitor)
      : bytes_(bytes), reader_(bytes, codec::Strictness::kLenient), visitor_(visitor) {}

  void walk(const Trail& where) {
    const codec::CborReader::Mark begin = reader_.mark();
    codec::Item item;
    codec::Cursor cursor;
    CHECK(reader_.value(item, cursor));
    if (item.kind == codec::ItemKind::kText) {
      walk_text(*view_at(begin).text(), where);
    } else if (item.kind == codec::ItemKind::kList) {
      for (std::size_t index = 0; reader_.more(cursor) == codec::More::kYes; ++index)
        walk(where.at(index));
    } else if (item.kind == codec::ItemKind::kMap) {
      if (const auto reference = reference_in_map(view_at(begin))) {
        check(*reference, where);
        reader_.rewind(begin);
        CHECK(codec::skip_value(reader_));
        return;
      }
      while (reader_.more(cursor) == codec::More::kYes) {
        const codec::View key = view_at(reader_.mark());
        CHECK(reader_.key(item));
        walk(where.key(key.text().value_or("")));
      }
    }
  }

 private:
  codec::View view_at(codec::CborReader::Mark mark) const {
    return codec::View::of({mark.at, bytes_.data() + bytes_.size()});
  }

  // One that is written as a mapping has not been parsed yet.
  void check(const Reference& reference, const Trail& where) {
    if (reference.node != kElementNode) {
      if (auto problem = name_problem(reference.node))
        return visitor_.malformed(std::move(*problem), where.key("node"));
    }
    if (auto problem = path_problem(reference.path))
      return visitor_.malformed(std::move(*problem), where.key("path"));
    visitor_.found(reference, where);
  }

  void walk_text(std::string_view text, const Trail& where) {
    TextParts parts(text);
    for (;;) {
      TextParts::Part part = parts.next();
      switch (part.kind) {
        case TextParts::Kind::kEnd: return;
        case TextParts::Kind::kLiteral: break;
        case TextParts::Kind::kReference: visitor_.found(part.reference, where); break;
        case TextParts::Kind::kProblem: return visitor_.malformed(std::move(part.problem), where);
      }
    }
  }

  base::ByteView bytes_;
  codec::CborReader reader_;
  ReferenceVisitor& visitor_;
};

}  // namespace

void visit_references(codec::View value, const Trail& where, ReferenceVisitor& visitor) {
  ReferenceWalk(value.encoded(), visitor).walk(where);
}

}  // namespace holdfast::tasks
