// Tables that fit a terminal of any width, and say once what is the same in every row.
#pragma once

#include <string>
#include <vector>

#include "report/text/table.hpp"

namespace halmark::report {

// In `width` columns, no cell cut: what has no room beside the first column, which tells rows
// apart, follows in further blocks that repeat it. Where that column alone takes more than half the
// width its texts stand above, numbered. A cell that is wider than the room is wrapped below its
// row. `key`: the column that tells rows apart instead, which then stands first.
std::string stacked_text(const Table& table, int width, std::size_t key = 0);
// For stdout as it is: a terminal of some width, or a file or a pipe, where nothing is broken.
std::string stdout_text(const Table& table, std::size_t key = 0);

// Of tables with two rows or more: takes out the columns behind the first whose cells are all
// alike, of figures only those that no row has, and returns "in every row: kind gpu, link -"; else
// "". `kept`: titles that always stay.
std::string take_constants(Table& table, const std::vector<std::string>& kept = {});

// Words that stand in all of these texts, which two or more are, in the order of the first; they
// are taken out of each.
std::string take_common_words(std::vector<std::string>& texts);

// Names of implementations without the build options behind them ("gemm -DM=4 -cl-std=CL1.2"),
// apart from those that tell two of the same name apart ("gemm M=4"). In the order given.
std::vector<std::string> short_implementations(const std::vector<std::string>& full);
// Of one, where other columns tell rows apart.
std::string implementation_name(const std::string& full);

}  // namespace halmark::report
