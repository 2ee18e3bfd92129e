// A plugin's file that carries one kernel from a source: a copy of a plugin with the kernel's
// problems and its code behind its end. `halmark judge` writes such files; a plugin that reads this
// header offers that kernel and nothing else. Not part of the contract of plugins.
#pragma once

#include <dlfcn.h>
#include <halmark_plugin_values.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halmark::plugin::judged {

inline constexpr const char* backend_name = "judged";

// One problem with all that follows from it, by the host's contract of the op.
struct Problem {
  std::vector<std::pair<std::string, std::int64_t>> params;  // sorted by name
  std::vector<Operand> operands;
  std::vector<std::int64_t> sizes;           // what the entry takes behind the operands, in order
  std::vector<std::uint64_t> global, local;  // of a launch over a range; local may be empty
};

struct Carried {
  std::string kernel, op, source;  // a name for it, the op, and the name of the source's file
  std::vector<Problem> problems;
  std::string code;  // what the device's own compiler or loader takes; "" = linked into the file
  bool is_there() const { return !op.empty(); }

  // Throws HM_UNSUPPORTED for a problem that the file was not made for.
  const Problem& at(Params asked) const {
    const auto fits = [&](const Problem& p) {
      return static_cast<std::size_t>(asked.end() - asked.begin()) == p.params.size() &&
             std::equal(asked.begin(), asked.end(), p.params.begin(),
                        [](const hm_param& a, const auto& b) {
                          return a.name == b.first && a.value == b.second;
                        });
    };
    const auto found = std::find_if(problems.begin(), problems.end(), fits);
    if (found == problems.end()) unsupported("the source was not built for this problem");
    return *found;
  }
};

// "kernel NAME", "op NAME", "source FILE", then per problem "problem", "param NAME VALUE",
// "operand NAME ROLE DTYPE DIM...", "size VALUE", "global N...", "local N..."; one a line.
inline Carried parse(const std::string& text) {
  Carried out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, name;
    words >> key;
    if (key == "kernel") words >> out.kernel;
    if (key == "op") words >> out.op;
    if (key == "source") std::getline(words >> std::ws, out.source);
    if (key == "problem") out.problems.emplace_back();
    if (out.problems.empty()) continue;
    Problem& p = out.problems.back();
    std::int64_t value = 0;
    if (key == "param" && words >> name >> value) p.params.emplace_back(name, value);
    if (key == "size" && words >> value) p.sizes.push_back(value);
    if (key == "operand") {
      Operand& operand = p.operands.emplace_back();
      words >> operand.name >> operand.role >> operand.dtype;
      while (words >> value) operand.dims.push_back(value);
    }
    if (key == "global" || key == "local") {
      auto& range = key == "global" ? p.global : p.local;
      while (words >> value) range.push_back(static_cast<std::uint64_t>(value));
    }
  }
  return out;
}

// The end of such a file: this mark, a blank, the bytes of the text and of the code in 20 digits
// each, a line end.
inline constexpr std::string_view mark = "HALMARK_JUDGED";
inline constexpr std::size_t digits = 20, footer_bytes = mark.size() + 2 * (digits + 1) + 1;

inline std::string footer(std::size_t text_bytes, std::size_t code_bytes) {
  std::string out(mark);
  for (const std::size_t value : {text_bytes, code_bytes}) {
    const std::string number = std::to_string(value);
    out += ' ' + std::string(digits - number.size(), '0') + number;
  }
  return out + '\n';
}

// What the file at `path` carries; nothing in a plugin that is no such copy.
inline Carried read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(-static_cast<std::streamoff>(footer_bytes), std::ios::end)) return {};
  std::string end(footer_bytes, '\0');
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  if (!file || !end.starts_with(mark)) return {};
  std::uint64_t sizes[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const char* first = end.data() + mark.size() + 1 + i * (digits + 1);
    std::from_chars(first, first + digits, sizes[i]);
  }
  const auto all = static_cast<std::streamoff>(sizes[0] + sizes[1] + footer_bytes);
  if (!file.seekg(-all, std::ios::end)) return {};
  std::string text(sizes[0], '\0'), code(sizes[1], '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  file.read(code.data(), static_cast<std::streamsize>(code.size()));
  if (!file) return {};
  Carried out = parse(text);
  out.code = std::move(code);
  return out;
}

// What the file of this plugin carries.
inline const Carried& carried() {
  static const Carried out = [] {
    Dl_info place{};
    return dladdr(mark.data(), &place) != 0 && place.dli_fname != nullptr ? read(place.dli_fname)
                                                                          : Carried{};
  }();
  return out;
}

}  // namespace halmark::plugin::judged

// HM_PLUGIN for a plugin that such copies are made of: they have a name of their own.
#define HM_PLUGIN_OR_JUDGED(Backend)                                       \
  extern "C" std::uint32_t hm_abi_version(void) { return HM_ABI_VERSION; } \
  extern "C" const hm_plugin_api* hm_plugin_entry(void) {                  \
    static const hm_plugin_api api = [] {                                  \
      hm_plugin_api out = ::halmark::plugin::detail::Seam<Backend>::api;   \
      if (::halmark::plugin::judged::carried().is_there()) {               \
        out.name = ::halmark::plugin::judged::backend_name;                \
      }                                                                    \
      return out;                                                          \
    }();                                                                   \
    return &api;                                                           \
  }                                                                        \
  static_assert(true, "takes the semicolon")
