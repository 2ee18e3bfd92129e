#include "history/record/read_board.hpp"

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "history/record/machine_record.hpp"

namespace halmark::history {

BoardRecords read_board(const std::vector<std::string>& named,
                        const std::function<std::string(const MachineRecord&)>& fault_of) {
  BoardRecords out;
  for (const std::string& path : record_files(named)) {
    try {
      const MachineRecord record = read_record(path);
      const std::string fault = fault_of(record);
      if (fault.empty()) {
        out.machines.push_back(board_machine(record));
      } else {
        out.left_out.push_back(path + ": " + fault);
      }
    } catch (const Error& error) {
      if (contains(named, path)) throw;
      out.left_out.push_back(error.line());
    }
  }
  return out;
}

}  // namespace halmark::history
