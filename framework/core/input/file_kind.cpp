#include "core/input/file_kind.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "core/input/input_file.hpp"
#include "core/input/json_keys.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/sqlite_header.hpp"

namespace halmark {
namespace {

using Words = std::vector<std::string>;

Words parts_of(std::string_view text, char separator) {
  Words out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

bool is_bare_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '"';
  });
}

// The names of a TOML text's tables ("[node]", "[[peak]]") and of the keys before the first one.
// Nothing where its first line that says something is neither.
std::optional<Words> toml_names(std::string_view text) {
  Words out;
  bool is_in_table = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t close = line.find(']');
    const std::size_t sign = line.find('=');
    if (line[0] == '[' && close != line.npos &&
        is_bare_key(trimmed(
            line.substr(line.find_first_not_of('['), close - line.find_first_not_of('['))))) {
      out.emplace_back(line.substr(0, line.find_last_of(']') + 1));
      is_in_table = true;
    } else if (!is_in_table && sign != line.npos && is_bare_key(trimmed(line.substr(0, sign)))) {
      out.emplace_back(trimmed(line.substr(0, sign)));
    } else if (out.empty()) {
      return std::nullopt;
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// Everything that the marks of kinds are held against, looked at once.
struct Traits {
  std::string_view text;
  FileFormat format = FileFormat::text;
  Words names;                               // of JSON, TOML or CSV
  std::string_view first;                    // line that is no comment
  bool is_empty = false, is_broken = false;  // broken: JSON that ends or goes on otherwise
};

bool is_binary(std::string_view text) {
  return std::ranges::any_of(text.substr(0, 4096), [](unsigned char c) {
    return c < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 27;
  });
}

std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("/*")) {
      const std::size_t close = text.find("*/");
      if (line.find("*/") == line.npos) text.remove_prefix(std::min(close, text.size()));
      continue;
    }
    if (!line.empty() && !line.starts_with("//") && !line.starts_with("*/")) return line;
  }
  return {};
}

// Cells of a line, quotes taken off.
Words csv_cells(std::string_view line) {
  Words out(1);
  bool is_quoted = false;
  for (const char c : trimmed(line)) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      out.emplace_back();
    } else if (!out.back().empty() || c != ' ') {
      out.back() += c;
    }
  }
  return out;
}

bool has_mark(const Traits& traits, FileFormat format, std::string_view mark, bool is_first) {
  if (format == FileFormat::binary || format == FileFormat::text) {
    const bool is_begin = format == FileFormat::text && is_first;
    const std::string_view in = is_begin ? traits.first : traits.text;
    std::size_t at = 0;
    if (mark.starts_with('@')) {
      const auto [end, error] = std::from_chars(mark.data() + 1, mark.data() + mark.size(), at);
      mark.remove_prefix(as_size(end - mark.data()) + 1);
    } else if (!is_first) {
      return in.find(mark) != in.npos;
    }
    return at < in.size() && in.substr(at).starts_with(mark);
  }
  return std::ranges::any_of(traits.names, [&](std::string_view name) {
    if (mark.starts_with("*.")) return name.ends_with(mark.substr(1));
    return name == mark;
  });
}

bool fits(const Traits& traits, const FileKind& kind) {
  const bool is_text = kind.format == FileFormat::text && traits.format != FileFormat::binary &&
                       traits.format != FileFormat::json;
  if (kind.marks.empty() || (traits.format != kind.format && !is_text)) return false;
  return std::ranges::any_of(parts_of(kind.marks, ';'), [&](const std::string& all) {
    bool is_first = true;
    return std::ranges::all_of(parts_of(all, '&'), [&](const std::string& mark) {
      return has_mark(traits, kind.format, mark, std::exchange(is_first, false));
    });
  });
}

const FileKind* kind_of(const Traits& traits) {
  const auto kinds = file_kinds();
  const auto* found =
      find_or_null(kinds, true, [&](const FileKind& kind) { return fits(traits, kind); });
  return found;
}

// A table is a known header, or one and a row with as many cells.
void note_table(Traits& traits, std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  traits.names = csv_cells(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  traits.format = FileFormat::csv;
  const std::size_t width = traits.names.size();
  const bool has_row = width > 1 && csv_cells(text.substr(0, text.find('\n'))).size() == width;
  const FileKind* kind = kind_of(traits);
  if (has_row || (kind != nullptr && kind->format == FileFormat::csv)) return;
  traits.names.clear();
  traits.format = FileFormat::text;
}

Traits traits_of(std::string_view text) {
  text = text.substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0, sniffed_bytes);
  Traits out{.text = text, .format = FileFormat::binary, .names = {}, .first = {}};
  out.is_empty = trimmed(text).find_first_not_of("\n") == std::string_view::npos;
  if (is_binary(text) || kind_of(out) != nullptr) return out;
  out.format = FileFormat::text;
  out.first = first_line(text);
  out.is_broken = true;  // of JSON, as long as it is none
  if (JsonKeys keys = json_keys(text); keys.is_json) {
    out.format = FileFormat::json;
    out.names = std::move(keys.paths);
    out.is_broken = keys.is_broken;
  } else if (auto names = toml_names(text)) {
    out.format = FileFormat::toml;
    out.names = std::move(*names);
  } else {
    note_table(out, text);
  }
  return out;
}

// At most 40 bytes, without the first ones of a sign that was cut.
std::string_view whole_signs(std::string_view text) {
  constexpr std::size_t shown = 40;
  if (text.size() <= shown) return text;
  text = text.substr(0, shown);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

// "JSON with the keys 'a', 'b' and others".
std::string with_names(std::string what, const char* of, const Words& names) {
  constexpr std::size_t shown = 4;
  Words top;
  for (const std::string& name : names) {
    if (name.find('.') == std::string::npos) top.push_back(printable(name));
  }
  for (const auto i : indices(std::min(top.size(), shown))) {
    what += (i == 0 ? std::string(" with the ") + of + " '" : ", '") + top[i] + '\'';
  }
  return top.size() > shown ? what + " and others" : what;
}

std::string kind_text(const Traits& traits) {
  if (traits.is_empty) return "an empty file";
  if (const FileKind* kind = kind_of(traits)) return std::string(kind->name);
  switch (traits.format) {
    case FileFormat::json:
      return with_names("JSON of another kind", "keys", traits.names);
    case FileFormat::toml:
      return with_names("'key = value' lines of another kind", "keys", traits.names);
    case FileFormat::csv:
      return with_names("CSV of another kind", "columns", traits.names);
    case FileFormat::text:
      return "text that begins with '" + printable(whole_signs(traits.first)) + '\'';
    case FileFormat::binary:
      break;
  }
  return "data of an unknown kind";
}

}  // namespace

std::string kind_text(std::string_view beginning) { return kind_text(traits_of(beginning)); }

const FileKind* kind_of(std::string_view beginning) { return kind_of(traits_of(beginning)); }

bool is_kind(std::string_view beginning, std::string_view id) {
  const Traits traits = traits_of(beginning);
  return std::ranges::any_of(
      file_kinds(), [&](const FileKind& kind) { return kind.id == id && fits(traits, kind); });
}

Error other_kind(std::string_view beginning, const std::string& where, std::string_view expected) {
  const Traits traits = traits_of(beginning);
  const FileKind* kind = kind_of(traits);
  const std::string remedy = kind == nullptr || kind->taken.empty()
                                 ? "name such a file"
                                 : std::string(kind->taken) + " takes it";
  if (kind != nullptr && kind->name.starts_with(expected)) {
    return refused("this begins as " + std::string(kind->name) + " and is none", where,
                   "name one that is whole");
  }
  return refused("this is " + kind_text(traits) + ", not " + std::string(expected), where, remedy);
}

namespace {

// What the reader of such a file is still asked: it says where the text is broken, or which keys or
// columns it lacks.
bool may_be(const Traits& traits, const FileKind& wanted) {
  const bool is_any = wanted.marks.empty() || wanted.id == "model" ||
                      (wanted.id == "arrivals" && wanted.format == FileFormat::csv);
  switch (wanted.format) {
    case FileFormat::json: {
      const std::size_t first = traits.text.find_first_not_of(" \t\r\n");
      const bool opens = first != std::string_view::npos && traits.format != FileFormat::binary &&
                         (traits.text[first] == '{' || traits.text[first] == '[');
      return opens && traits.format != FileFormat::toml &&
             (is_any || traits.is_broken || traits.names.empty());
    }
    case FileFormat::toml:
      return traits.is_empty || traits.format == FileFormat::toml ||
             (traits.format == FileFormat::text && traits.text.find(" = ") != traits.text.npos);
    case FileFormat::csv:
      return traits.format == FileFormat::csv && is_any;
    case FileFormat::text:
      return traits.format != FileFormat::json && traits.format != FileFormat::binary;
    case FileFormat::binary:
      break;
  }
  return false;
}

}  // namespace

void require_kind(std::string_view beginning, const std::string& where, std::string_view wanted) {
  const Traits traits = traits_of(beginning);
  const FileKind* kind = kind_of(traits);
  if (kind != nullptr && kind->id == wanted) return;
  const FileKind* asked = nullptr;
  bool may = false;
  for (const FileKind& one : file_kinds()) {
    if (one.id != wanted) continue;
    may = may || may_be(traits, one);
    if (asked == nullptr) asked = &one;
  }
  // Columns of any table can be described in a layout.
  const bool is_table = wanted == "table" && traits.format == FileFormat::csv;
  if (may && (kind == nullptr || is_table)) return;
  throw other_kind(beginning, where, asked->name);
}

std::string read_kind(const std::string& path, const InputKind& kind, std::string_view wanted) {
  std::string text = read_input(path, kind);
  require_kind(text, input_name(path), wanted);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

std::string beginning_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::string out(std::size_t{64} << 10, '\0');
  out.resize(InputFile(path, database_input).read(out));
  return out;
}

bool names_file(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of("/.") != std::string::npos &&
         std::filesystem::is_regular_file(word, ignored);
}

}  // namespace halmark
