// Values with fields as files that a later call reads. Included by sources alone.
#pragma once

#include <exception>
#include <string>

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"

namespace halmark::bisect {

// Throws Error (exit 2) where it is damaged.
template <class T>
T read_stored(const std::string& path) {
  try {
    T out;
    json_fields::read(read_json_file(path), out);
    return out;
  } catch (const std::exception& damage) {
    throw refused(std::string("this file of an earlier bisect is damaged: ") + damage.what(), path,
                  "delete it");
  }
}

template <class T>
void write_stored(const T& value, const std::string& path) {
  write_whole_file(dump_json(json_fields::written(value)) + '\n', path);
}

}  // namespace halmark::bisect
