// What a command says of a record that it wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/views/view.hpp"

namespace halmark::history {

// Throws Error (exit 2) as stored_record does.
report::View write_record(const std::string& database, std::optional<std::int64_t> run,
                          const std::string& path);

}  // namespace halmark::history
