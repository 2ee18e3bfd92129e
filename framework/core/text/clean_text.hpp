// Text from outside made safe to show: names from plugins, files and databases pass here before
// they reach a terminal, a page or a table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halmark {

// Characters of a text from outside that a message shows, and of a whole message.
inline constexpr std::size_t shown_characters_max = 200;
inline constexpr std::size_t message_characters_max = 1000;

// One UTF-8 sequence at the front of a text that is not empty (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF). What is no such sequence is one byte long.
struct Utf8Character {
  char32_t code = 0;
  std::size_t length = 1;
  bool is_valid = false;
};
Utf8Character first_character(std::string_view text);

// Valid UTF-8 on one line without control characters: C0, C1, DEL, marks, overrides and isolates of
// the reading direction become '?', line breaks and tabs a space, invalid bytes U+FFFD.
std::string clean_text(std::string_view text);

// Clean, and at most `characters` of them (not bytes), at least 3; a cut ends in "...".
std::string cut_text(std::string_view text, std::size_t characters = shown_characters_max);
// The same, but the end is kept: a path with its line and column.
std::string cut_front(std::string_view text, std::size_t characters = shown_characters_max);

// A whole message, which may quote what it refuses: clean, each word and each quoted part cut at
// shown_characters_max, the whole at message_characters_max (of what is too long the middle goes).
std::string message_text(std::string_view text);

// A JSON document with the characters that clean_text replaces written as \u escapes: the same
// document, inert on a terminal. `json` is valid JSON in UTF-8.
std::string terminal_json(std::string_view json);

}  // namespace halmark
