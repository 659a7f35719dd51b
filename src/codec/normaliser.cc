// SPDX-License-Identifier: Apache-2.0
#include "codec/normaliser.h"

#include <algorithm>

#include "base/check.h"
#include "codec/json_reader.h"
#include "codec/machine.h"

namespace holdfast::codec {
namespace {

base::Error too_large(std::size_t size) {
  return {base::ErrorCode::kTooLarge, "$",
          std::to_string(size) + " bytes are more than a value may have (" +
              std::to_string(kMaxValueBytes) + ")"};
}

template <class Reader>
base::Result<base::ByteView> normalise(Workspace& work, const Schema& schema, Reader& reader) {
  work.reset();
  work.out.append(kSelfDescribe, sizeof kSelfDescribe);
  Machine<Reader> machine(work, schema, reader);
  if (!machine.run()) return std::move(machine).error();
  return work.out.view();
}

}  // namespace

base::Result<base::ByteView> Normaliser::from_json(const Schema& schema, std::string_view json) {
  if (json.size() > kMaxValueBytes) return too_large(json.size());
  CHECK(!work_.out.holds(json.data()));
  JsonReader reader(json);
  return normalise(work_, schema, reader);
}

base::Result<base::ByteView> Normaliser::from_cbor(const Schema& schema, base::ByteView cbor,
                                                   Strictness strictness) {
  if (cbor.size() > kMaxValueBytes) return too_large(cbor.size());
  CHECK(!work_.out.holds(cbor.data()));
  CborReader reader(cbor, strictness);
  const bool described = reader.self_describe();
  if (strictness == Strictness::kStrict && !described) {
    return base::invalid("$", "not canonical: the self-describe tag d9d9f7 is missing");
  }
  auto canonical = normalise(work_, schema, reader);
  if (strictness == Strictness::kLenient || !canonical) return canonical;
  if (!base::equal(*canonical, cbor)) {
    const auto [ours, theirs] =
        std::mismatch(canonical->begin(), canonical->end(), cbor.begin(), cbor.end());
    return base::invalid("$", "not canonical: the first difference is at byte " +
                                  std::to_string(theirs - cbor.begin()));
  }
  return canonical;
}

base::Result<base::ByteView> Normaliser::made_part(const Schema& schema, base::ByteView cbor) {
  const base::ByteView canonical = TRY(from_cbor(schema, cbor, Strictness::kLenient));
  return canonical.subspan(sizeof kSelfDescribe);
}

}  // namespace holdfast::codec
