#include "history/view/board_view.hpp"

#include <fmt/format.h>

#include <array>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table_columns.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::history {
namespace {

using report::absent_text, report::RowCells;

// The text for people, the figure for sorting.
void figure(RowCells& cells, const char* title, std::optional<double> value,
            const std::string& text) {
  cells.cell({title, true}, {.text = value ? text : absent_text, .value = value});
}

std::optional<double> value_of(const std::optional<BoardFigure>& of) {
  return of ? std::optional(of->value) : std::nullopt;
}

void machine_row(RowCells& cells, const BoardMachine& m, std::size_t classes) {
  cells.text("machine", m.name,
             fmt::format("{}, {} of {}", m.device.id, m.tool_version, m.measured_on));
  cells.text("kind", m.device.kind);
  figure(cells, "share", m.share, report::percent_text(m.share));
  figure(cells, "classes", as_double(m.classes.size()),
         fmt::format("{} of {}", m.classes.size(), classes));
  const auto flops = value_of(m.flops_per_s);
  figure(cells, "FLOP/s", flops, flops ? report::flops_text(*flops) + ' ' + m.flops_per_s->of : "");
  figure(cells, "bandwidth", m.bytes_per_s, report::bandwidth_text(m.bytes_per_s.value_or(0)));
  figure(cells, "tokens/s", m.tokens_per_s, report::significant_text(m.tokens_per_s.value_or(0)));
  const auto power = value_of(m.power_w);
  figure(cells, "power", power,
         power ? report::significant_text(*power) + " W " + m.power_w->of : "");
  figure(cells, "FLOP/J", m.flops_per_joule, report::compact_text(m.flops_per_joule.value_or(0)));
  figure(cells, "FLOP/USD", m.flops_per_usd, report::compact_text(m.flops_per_usd.value_or(0)));
  cells.text("lacks", join(m.lacks, ", "));
}

void class_row(RowCells& cells, const BoardMachine& m, const RecordSum& sum) {
  const double size = sum.kernels > 0 ? sum.bytes / as_double(sum.kernels) : 0;
  cells.text("machine", m.name);
  cells.text("op", sum.op);
  cells.text("dtype", sum.dtype);
  cells.text("shapes", sum.shapes);
  figure(cells, "bytes", size, report::bytes_text(size));
  figure(cells, "share", sum.share(), report::percent_text(sum.share()));
  const auto flops = sum.matmul_flops > 0 ? std::optional(sum.flops_per_s()) : std::nullopt;
  figure(cells, "FLOP/s", flops, report::flops_text(sum.flops_per_s()));
  figure(cells, "bandwidth", sum.bytes_per_s(), report::bandwidth_text(sum.bytes_per_s()));
}

Json sum_json(const RecordSum& sum) {
  return {{"op", sum.op},
          {"dtype", sum.dtype},
          {"shapes", sum.shapes},
          {"kernels", sum.kernels},
          {"roofline_fraction", optional_number(sum.share())},
          {"flops_per_s", sum.flops_per_s()},
          {"bytes_per_s", sum.bytes_per_s()}};
}

Json machine_json(const BoardMachine& m) {
  return {{"name", m.name},
          {"device", m.device.id},
          {"kind", m.device.kind},
          {"measured_on", m.measured_on},
          {"roofline_fraction", optional_number(m.share)},
          {"flops_per_s", optional_number(value_of(m.flops_per_s))},
          {"dtype", m.flops_per_s ? Json(m.flops_per_s->of) : Json(nullptr)},
          {"bytes_per_s", optional_number(m.bytes_per_s)},
          {"tokens_per_s", optional_number(m.tokens_per_s)},
          {"power_w", optional_number(value_of(m.power_w))},
          {"is_power_measured", m.power_w && m.power_w->of == "measured"},
          {"flops_per_joule", optional_number(m.flops_per_joule)},
          {"usd_per_hour", optional_number(m.usd_per_hour)},
          {"flops_per_usd", optional_number(m.flops_per_usd)},
          {"lacks", m.lacks},
          {"classes", json_list(m.classes, sum_json)}};
}

Json board_json(const Board& board) {
  return {{"machines", json_list(board.machines, machine_json)},
          {"steps", board.steps},
          {"left_out", board.left_out}};
}

std::string board_markdown(const Board& board) {
  std::string out = "## Halmark: machines by their records\n\n" +
                    report::table_markdown(board_table(board)) + '\n';
  for (const std::string& note : board_notes(board)) {
    out += "- " + report::markdown_text(note) + '\n';
  }
  return out;
}

}  // namespace

report::Table board_table(const Board& board) {
  report::Table out{.columns = {}, .rows = {}, .id = "machines"};
  for (const BoardMachine& m : board.machines) {
    RowCells cells(out);
    machine_row(cells, m, board.classes);
  }
  return out;
}

report::Table board_classes(const Board& board) {
  report::Table out{.columns = {}, .rows = {}, .id = "shares"};
  for (const BoardMachine& m : board.machines) {
    if (out.rows.size() + m.classes.size() > board_class_rows_max) break;
    for (const RecordSum& sum : m.classes) {
      RowCells cells(out);
      class_row(cells, m, sum);
    }
  }
  return out;
}

std::vector<std::string> board_notes(const Board& board) {
  std::vector<std::string> out = {
      "share: the least time of its kernels at a machine's own peaks over their time; records with "
      "other classes compare less",
      "FLOP/s, FLOP/J and FLOP/USD: of the class of products with most FLOP/s, its type beside it; "
      "bandwidth: of the memory, at best"};
  if (!board.steps.empty()) {
    out.push_back("tokens/s: geometric mean over " + join(board.steps, "; "));
  }
  for (const std::string& line : board.left_out) out.push_back("left out: " + printable(line));
  return out;
}

report::View board_view(const Board& board, int width) {
  std::string text = report::fitted_text(board_table(board), width) + '\n';
  for (const std::string& note : board_notes(board)) text += report::wrapped(note, width);
  return {.data = board_json(board), .text = text};
}

void write_board(const Board& board, const std::vector<std::string>& paths) {
  using Look = std::string (*)(const Board&);
  static const std::array<std::pair<std::string_view, Look>, 3> looks = {
      {{".html", board_html},
       {".json", [](const Board& b) { return dump_json(board_json(b), 1) + '\n'; }},
       {".md", board_markdown}}};
  std::vector<Look> chosen;
  for (const std::string& path : paths) {
    const auto of =
        std::ranges::find_if(looks, [&](const auto& look) { return path.ends_with(look.first); });
    if (of == looks.end()) {
      throw refused("unknown format of a board", path, "known: .html, .json, .md");
    }
    chosen.push_back(of->second);
  }
  for (std::size_t i = 0; i < paths.size(); ++i) write_whole_file(chosen[i](board), paths[i]);
}

}  // namespace halmark::history
