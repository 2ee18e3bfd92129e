// A board of machines for terminals, programs, spreadsheets and browsers.
#pragma once

#include <string>
#include <vector>

#include "history/devices/board.hpp"
#include "history/record/read_board.hpp"
#include "report/text/table.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"machines", "steps", "left_out"}; keys in results/schema/devices.md.
report::View board_view(const Board& board, int width);

// By suffix: .html .json .md. Throws Error (exit 2) for another, before anything is written.
void write_board(const Board& board, const std::vector<std::string>& paths);

// What the looks share.
report::Table board_table(const Board& board);
// A row for each class of the best machines, up to what a page can hold.
report::Table board_classes(const Board& board);
inline constexpr std::size_t board_class_rows_max = 1200;
// What the tables rest on, a sentence each.
std::vector<std::string> board_notes(const Board& board);
// One self-contained page: both tables with filters, and shares against sizes.
std::string board_html(const Board& board);

}  // namespace halmark::history
