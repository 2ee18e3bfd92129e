// How a value leaves as a file: one format for each suffix.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "report/report.hpp"

namespace halmark::report {

template <class Value>
struct Format {
  std::string_view suffix;
  std::string (*render)(const Value& value);
};

// Throws Error (exit 2) for a suffix that none has; `unknown`: says so, with "{}" for the suffix.
template <class Value, std::size_t count>
const Format<Value>& format_of(const std::string& path, const Format<Value> (&formats)[count],
                               const char* unknown) {
  const std::string suffix = std::filesystem::path(path).extension();
  for (const Format<Value>& format : formats) {
    if (suffix == format.suffix) return format;
  }
  throw refused(fmt::format(fmt::runtime(unknown), suffix), path,
                "known: " + join(std::span(formats), ", ", &Format<Value>::suffix));
}

inline std::string json_text(const Json& document) { return dump_json(document, 1) + '\n'; }

}  // namespace halmark::report
