// The summaries of records that hold, for a board.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/measured/machine_record.hpp"
#include "history/devices/board.hpp"

namespace halmark::history {

struct BoardRecords {
  std::vector<BoardMachine> machines;
  std::vector<std::string> left_out;  // files, each with the reason
};
// `fault_of`: the first thing that does not hold of a record, "" = it does. Throws Error (exit 2)
// as record_files and read_record do for a file that is named.
BoardRecords read_board(const std::vector<std::string>& named,
                        const std::function<std::string(const MachineRecord&)>& fault_of);

}  // namespace halmark::history
