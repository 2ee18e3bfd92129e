// Terminals act on C1 controls as on escape sequences, and on direction marks by showing another
// text than the one that is there. What is cut is counted in characters, so that no sequence is
// ever cut in two.
#include "core/text/clean_text.hpp"

#include <cstdint>

namespace halmark {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view cut_mark = "...";

// Characters that move the cursor, start an escape sequence or turn the reading direction.
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
         code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
         (code & 0xFFFE) == 0xFFFE;
}

// Both of clean text, where every character is valid.
std::size_t characters_in(std::string_view clean) {
  std::size_t out = 0;
  for (const char c : clean) out += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return out;
}

std::string_view front_of(std::string_view clean, std::size_t characters) {
  std::size_t at = 0;
  for (; at < clean.size() && characters > 0; --characters)
    at += first_character(clean.substr(at)).length;
  return clean.substr(0, at);
}

std::string_view end_of(std::string_view clean, std::size_t characters) {
  const std::size_t all = characters_in(clean);
  return all <= characters ? clean : clean.substr(front_of(clean, all - characters).size());
}

std::string cut_clean(std::string_view clean, std::size_t characters) {
  if (clean.size() <= characters || characters_in(clean) <= characters) return std::string(clean);
  return std::string(front_of(clean, characters - cut_mark.size())).append(cut_mark);
}

bool opens_quote(std::string_view text, std::size_t at) {
  constexpr std::string_view before = " ([=:,";
  return text[at] == '\'' && (at == 0 || before.find(text[at - 1]) != std::string_view::npos);
}

// Where the quote that opens at `at` closes; npos for none.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  constexpr std::string_view behind = " ;,.:)]?";
  for (std::size_t i = at + 1; (i = text.find('\'', i)) != std::string_view::npos; ++i) {
    if (i + 1 == text.size() || behind.find(text[i + 1]) != std::string_view::npos) return i;
  }
  return std::string_view::npos;
}

// Each word and each quoted part at most shown_characters_max long.
std::string with_short_parts(std::string_view clean) {
  std::string out;
  bool may_close = true;  // one search without a find is enough: the work stays linear
  for (std::size_t at = 0; at < clean.size();) {
    if (may_close && opens_quote(clean, at)) {
      const std::size_t end = closing_quote(clean, at);
      may_close = end != std::string_view::npos;
      if (may_close) {
        out += '\'' + cut_clean(clean.substr(at + 1, end - at - 1), shown_characters_max) + '\'';
        at = end + 1;
        continue;
      }
    }
    if (clean[at] == ' ') {
      out += clean[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < clean.size() && clean[end] != ' ' && !(may_close && opens_quote(clean, end))) {
      ++end;
    }
    out += cut_clean(clean.substr(at, end - at), shown_characters_max);
    at = end;
  }
  return out;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) return {first, 1, true};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (at(i) & 0x3FU);
  }
  const char32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length, true};
}

std::string clean_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (!next.is_valid) {
      out += replacement;
    } else if (next.code == '\n' || next.code == '\t') {
      out += ' ';
    } else if (is_control(next.code)) {
      out += '?';
    } else {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length);
  }
  return out;
}

std::string cut_text(std::string_view text, std::size_t characters) {
  return cut_clean(clean_text(text), characters);
}

std::string cut_front(std::string_view text, std::size_t characters) {
  const std::string clean = clean_text(text);
  if (characters_in(clean) <= characters) return clean;
  return std::string(cut_mark).append(end_of(clean, characters - cut_mark.size()));
}

std::string message_text(std::string_view text) {
  const std::string out = with_short_parts(clean_text(text));
  if (characters_in(out) <= message_characters_max) return out;
  // The remedy stands at the end.
  constexpr std::size_t end = message_characters_max / 4;
  return cut_clean(out, message_characters_max - end).append(end_of(out, end));
}

std::string terminal_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Utf8Character next = first_character(json);
    // Beyond U+FFFF there are only noncharacters, which no terminal acts on.
    if (next.is_valid && next.code >= 0x7F && next.code <= 0xFFFF && is_control(next.code)) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += digits[next.code >> shift & 15U];
    } else {
      out += json.substr(0, next.length);
    }
    json.remove_prefix(next.length);
  }
  return out;
}

}  // namespace halmark
