// SPDX-License-Identifier: Apache-2.0
// The forms of plain structs (records), scoped enums (variants without values) and std::variant
// (variants of named structs). A struct with a kSchema is a schema of its own, which others refer
// to by name; any other struct is written out where it stands.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

#include "holdfast/detail/fields.h"
#include "holdfast/detail/form.h"
#include "holdfast/detail/name.h"

namespace holdfast::detail {

// std::array is an aggregate too, but its one field is nobody's business.
template <class T>
concept Record =
    std::is_class_v<T> && std::is_aggregate_v<T> && !kIsOneOf<T, Hash, Uuid> && !requires {
  std::tuple_size<T>::value;
};

template <class T>
concept ScopedEnum = std::is_enum_v<T> && !std::is_convertible_v<T, std::underlying_type_t<T>>;

// Whether a T can be found inside a T, which no schema can say.
template <class T, class... Above>
consteval bool holds_itself() {
  if constexpr (kIsOneOf<T, Above...>) {
    return true;
  } else {
    return []<class... Inner>(TypeList<Inner...>) {
      return (holds_itself<Inner, T, Above...>() || ...);
    }(typename Form<T>::Inner());
  }
}

// Keys of a map stand in the order of their encodings: the shorter first.
template <class T, std::size_t... I>
consteval auto canonical_order(std::index_sequence<I...>) {
  std::array<std::size_t, sizeof...(I)> order{I...};
  const std::array<std::string_view, sizeof...(I)> names{kFieldName<T, I>...};
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (names[a].size() != names[b].size()) return names[a].size() < names[b].size();
    return names[a] < names[b];
  });
  return order;
}

template <Record T>
struct Form<T> {
  static constexpr std::size_t kCount = kFieldCount<T>;
  using Indices = std::make_index_sequence<kCount>;
  static constexpr auto kOrder = canonical_order<T>(Indices());

  template <std::size_t... I>
  static TypeList<FieldType<T, I>...> inner(std::index_sequence<I...>);
  using Inner = decltype(inner(Indices()));

  static std::string type(Schemas& schemas) {
    static_assert(!holds_itself<T>(),
                  "holdfast: a struct cannot hold itself, not even in a vector");
    if constexpr (Named<T>) {
      static_assert(is_name(T::kSchema),
                    "holdfast: kSchema is a name of the form namespace/Name@1");
      std::string_view name = T::kSchema;
      if (!is_reserved(name) && schemas.seen.insert(&kTypeId<T>).second)
        schemas.all.emplace(name, record(schemas));
      return R"({"ref":")" + std::string(name) + R"("})";
    } else {
      return record(schemas);
    }
  }

  static void write(Writer& out, const T& value) {
    out.map(kCount);
    [[maybe_unused]] const auto fields = fields_of(value);
    in_order([&]<std::size_t I>() {
      out.items(kEncodedName<kFieldName<T, I>>);
      Form<FieldType<T, I>>::write(out, std::get<I>(fields));
      return true;
    });
  }

  static bool read(Reader& in, T& value) {
    std::uint64_t count = 0;
    if (!in.map(count) || count != kCount) return false;
    [[maybe_unused]] const auto fields = fields_of(value);
    return in_order([&]<std::size_t I>() {
      return in.items(kEncodedName<kFieldName<T, I>>) &&
             Form<FieldType<T, I>>::read(in, std::get<I>(fields));
    });
  }

 private:
  // Calls `visit` with the index of each field until it says no.
  template <class Visit>
  static bool in_order(Visit visit) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (visit.template operator()<kOrder[I]>() && ...);
    }
    (Indices());
  }

  static std::string record(Schemas& schemas) {
    std::string members;
    in_order([&]<std::size_t I>() {
      if (!members.empty()) members += ',';
      members +=
          '"' + std::string(kFieldName<T, I>) + R"(":)" + Form<FieldType<T, I>>::type(schemas);
      return true;
    });
    return R"({"record":{)" + members + "}}";
  }
};

// {"$tag": name}, so that people who read a state see words.
template <ScopedEnum T>
struct Form<T> {
  static constexpr const auto& kNames = kEnumerators<T>;
  static_assert(std::any_of(kNames.begin(), kNames.end(), [](auto name) { return !name.empty(); }),
                "holdfast: an enum needs a value between 0 and 63");
  using Inner = TypeList<>;

  static std::string type(Schemas&) {
    std::string arms;
    for (const std::string_view name : kNames) {
      if (name.empty()) continue;
      if (!arms.empty()) arms += ',';
      arms += '"' + std::string(name) + R"(":{"unit":{}})";
    }
    return R"({"variant":{)" + arms + "}}";
  }
  // A value without a name becomes null, which the engine refuses: it does not fit the schema.
  static void write(Writer& out, T value) {
    const auto index = static_cast<std::size_t>(value);
    if (index >= kNames.size() || kNames[index].empty()) return out.null();
    out.map(1);
    out.items(kTag);
    out.text(kNames[index]);
  }
  static bool read(Reader& in, T& value) {
    std::uint64_t count = 0;
    std::string_view tag;
    if (!in.map(count) || count != 1 || !in.items(kTag) || !in.text(tag)) return false;
    const auto found = std::find(kNames.begin(), kNames.end(), tag);
    if (found == kNames.end() || tag.empty()) return false;
    value = static_cast<T>(found - kNames.begin());
    return true;
  }
};

template <class... Types>
consteval bool have_different_short_names() {
  const std::array<std::string_view, sizeof...(Types)> names{short_name(Types::kSchema)...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (names[i] == names[k]) return false;
    }
  }
  return true;
}

template <class... Arms>
struct Form<std::variant<Arms...>> {
  using Variant = std::variant<Arms...>;
  static_assert((Named<Arms> && ...), "holdfast: each struct in a std::variant needs a kSchema");
  static_assert(have_different_short_names<Arms...>(),
                "holdfast: the structs in a std::variant need different names");
  using Inner = TypeList<Arms...>;

  static std::string type(Schemas& schemas) {
    std::string arms;
    ((arms += (arms.empty() ? "\"" : ",\"") + std::string(short_name(Arms::kSchema)) +
              "\":" + Form<Arms>::type(schemas)),
     ...);
    return R"({"variant":{)" + arms + "}}";
  }
  static void write(Writer& out, const Variant& value) {
    std::visit(
        [&]<class Arm>(const Arm& arm) {
          out.map(2);
          out.items(kTag);
          out.text(short_name(Arm::kSchema));
          out.items(kValue);
          Form<Arm>::write(out, arm);
        },
        value);
  }
  static bool read(Reader& in, Variant& value) {
    std::uint64_t count = 0;
    std::string_view tag;
    if (!in.map(count) || count != 2 || !in.items(kTag) || !in.text(tag) || !in.items(kValue))
      return false;
    bool read = false;
    // The first arm with that name ends the search.
    static_cast<void>(((tag == short_name(Arms::kSchema) &&
                        (read = Form<Arms>::read(in, value.template emplace<Arms>()), true)) ||
                       ...));
    return read;
  }
};

}  // namespace holdfast::detail
