// Many machines by their records: who reaches most of its peaks, what each does in absolute terms,
// per watt and per price, and what each record lacks that others have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/measured/machine_record.hpp"

namespace halmark::history {

// A figure, and what it is of: "bf16".
struct BoardFigure {
  double value = 0;
  std::string of;
};

// The summary of a record: no kernel and no sample of it.
struct BoardMachine {
  Device device;  // without what its occasions saw
  int threads = 0;
  std::string measured_on, tool_version;
  RecordSum all;
  std::vector<RecordSum> classes;
  std::vector<BoardFigure> steps;  // tokens/s of a configuration, by its key
  std::optional<double> usd_per_hour;

  // Below: filled by ranked_board.
  std::string name;                        // "3 AMD EPYC", by rank
  std::optional<double> share;             // geometric mean over classes that have a bound
  std::optional<BoardFigure> flops_per_s;  // of the class with most
  std::optional<double> bytes_per_s;       // of the memory
  std::optional<double> tokens_per_s;      // geometric mean over the board's steps
  std::optional<BoardFigure> power_w;      // "measured" or "stated"
  std::optional<double> flops_per_joule, flops_per_usd;  // of that class
  std::vector<std::string> lacks;
};
BoardMachine board_machine(const MachineRecord& record);
// Of the machines whose device is called so. Throws Error (exit 2) where there is none.
void set_price(std::vector<BoardMachine>& machines, const std::string& device, double usd_per_hour);

struct Board {
  std::vector<BoardMachine> machines;  // best first
  std::vector<std::string> steps;     // configurations that tokens/s are of: most records have them
  std::size_t classes = 0;            // of all records together
  std::vector<std::string> left_out;  // files, each with the reason
};
// By the share of the peaks. Steps are those of most records, three at most; a machine without one
// of them has no tokens/s.
Board ranked_board(std::vector<BoardMachine> machines, std::vector<std::string> left_out);

}  // namespace halmark::history
