// What a person or a program reads of a copy, and of what it lacks.
#include "verify/salvage_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

bool is_same(const SalvagedRun& run) { return run.head == run.stored_head; }

constexpr std::size_t lines_max = 100;  // of a file that lost all of its runs; JSON has the rest

}  // namespace

std::string left_out_text(const std::vector<LeftOut>& left) {
  std::string out;
  for (std::size_t i = 0; i < left.size() && i < lines_max; ++i) {
    const std::string row = left[i].row == 0 ? std::string() : fmt::format(" row {}", left[i].row);
    out += fmt::format("left out: table {}{}: {}\n", left[i].table, row, printable(left[i].reason));
  }
  if (left.size() > lines_max) out += fmt::format("left out: {} more\n", left.size() - lines_max);
  return out;
}

Json left_out_json(const std::vector<LeftOut>& left) {
  return json_list(left, [](const LeftOut& l) -> Json {
    return {{"table", l.table}, {"row", l.row}, {"reason", l.reason}};
  });
}

bool names_rows(const std::vector<LeftOut>& left) {
  return std::ranges::any_of(left, [](const LeftOut& l) { return l.table != "schema"; });
}

bool misses_rows(const Salvage& done) {
  return names_rows(done.copy.left_out) || !std::ranges::all_of(done.copy.runs, is_same);
}

std::string salvage_text(const Salvage& done, const std::string& from, const std::string& to) {
  std::string out = left_out_text(done.copy.left_out);
  for (const SalvagedRun& run : done.copy.runs) {
    out += fmt::format("run {}: {} rows, chain {}{}\n", run.id, run.rows, run.head,
                       is_same(run) ? "" : ", a new one: the run is not what it was");
  }
  return out + fmt::format("{}: {} runs, {} rows; {} left out of {}\n", to, done.copy.runs.size(),
                           done.copy.entries, done.copy.left_out.size(), from);
}

Json salvage_json(const Salvage& done, const std::string& from, const std::string& to) {
  const Json runs = json_list(done.copy.runs, [](const SalvagedRun& run) -> Json {
    return {{"run", run.id},
            {"rows", run.rows},
            {"chain", run.head},
            {"stored_chain", run.stored_head}};
  });
  return {{"from", from},
          {"path", to},
          {"rows", done.copy.entries},
          {"runs", runs},
          {"left_out", left_out_json(done.copy.left_out)}};
}

}  // namespace halmark
