// The fields of values, each listed once: a function template fields(v, m) beside the struct names
// every member with its key, in the order of the document. What is done with them is the visitor's
// (core/fields/json_visitor.hpp writes and reads JSON). A visitor v has
//   v(key, member)                    a field that every document has
//   v.later(key, member, before)      always written; documents from before it have the meaning
//                                     `before`, a default-constructed member unless stated
//   v.unless_default(key, member, d)  left out where it is `d`, a default-constructed member unless
//                                     stated
//   v.as_text(key, number)            a number beyond 2^53 travels as text
//   v.null_if_infinite(key, number)
//   v.group(key, [&](auto& g) {...})  members of the struct in an object of their own
//   v.check(is_right, key, what)      when it reads: refuses what the fields so far have to be
//   V::reads                          whether members are assigned
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <type_traits>

namespace halmark {

// Matches T& (reading) and const T& (writing), so that one list serves both.
template <class M, class T>
concept Of = std::same_as<std::remove_const_t<M>, T>;

// The words of an enum in documents; specialised beside the enum.
template <class Enum>
struct ClosedSet {
  const char* what;  // "a status": what a word that is none should have been
  std::string_view (*name)(Enum);
  std::optional<Enum> (*parse)(std::string_view);
};
template <class Enum>
inline constexpr ClosedSet<Enum> closed_set;

}  // namespace halmark
