// The board as a page: summaries alone, so that a thousand machines stay small and quick.
#include <algorithm>

#include "core/numeric/cast.hpp"
#include "history/view/board_view.hpp"
#include "report/charts/svg.hpp"
#include "report/page/html_page.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

using namespace report;

struct SizedShare {
  double bytes = 0, share = 0;
  const RecordSum* sum = nullptr;
  const BoardMachine* machine = nullptr;
};

// Of the machines that the table of classes has.
std::vector<SizedShare> sized_shares(const Board& board) {
  std::vector<SizedShare> out;
  std::size_t rows = 0;
  for (const BoardMachine& m : board.machines) {
    rows += m.classes.size();
    if (rows > board_class_rows_max) break;
    for (const RecordSum& sum : m.classes) {
      const auto share = sum.share();
      if (!share || sum.kernels == 0) continue;
      out.push_back({sum.bytes / as_double(sum.kernels), *share, &sum, &m});
    }
  }
  return out;
}

std::string share_tick(double share) { return percent_text(share); }

std::string picture(const Board& board) {
  constexpr double left = 66, top = 12, right = 590, bottom = 392, width = 600, height = 440;
  const std::vector<SizedShare> points = sized_shares(board);
  std::vector<double> sizes, shares;
  for (const SizedShare& p : points) {
    sizes.push_back(p.bytes);
    shares.push_back(p.share);
  }
  const Range x_range = padded_range(sizes, 1.3), y_range = padded_range(shares, 1.1);
  const LogScale x{x_range.low, x_range.high, left, right};
  const LogScale y{y_range.low, y_range.high, bottom, top};
  std::string body = svg_axes(
      {x, y, "bytes of a kernel (log)", "share of the peaks (log)", bytes_text, share_tick});
  for (const SizedShare& p : points) {
    body += svg_marker({x.at(p.bytes), y.at(p.share)}, 3, dtype_look(p.sum->dtype), "h",
                       p.machine->name + ", " + p.sum->name() + ": " + percent_text(p.share));
  }
  return svg_picture(width, height, "share of the peaks against bytes of a kernel", body);
}

std::string legend(const Board& board) {
  std::vector<std::string> dtypes;
  for (const SizedShare& p : sized_shares(board)) dtypes.push_back(p.sum->dtype);
  std::ranges::sort(dtypes);
  dtypes.erase(std::ranges::unique(dtypes).begin(), dtypes.end());
  return "<figcaption>" + dtype_legend(dtypes) +
         "<p>Each mark is a class of kernels of a machine; further up, nearer to its peaks.</p>"
         "</figcaption>\n";
}

std::string classes_account(const Board& board) {
  std::size_t machines = 0, rows = 0;
  for (const BoardMachine& m : board.machines) {
    rows += m.classes.size();
    if (rows > board_class_rows_max) break;
    ++machines;
  }
  if (machines == board.machines.size()) return "Of all machines.";
  return "Of the " + std::to_string(machines) +
         " machines that reach most of their peaks; a board of fewer files shows the others.";
}

}  // namespace

std::string board_html(const Board& board) {
  const std::string title = "Halmark: machines by their records";
  const Table classes = board_classes(board);
  std::string out = scripted_page_head(title) + "<body>\n" + element("h1", title);
  for (const std::string& note : board_notes(board)) out += element("p", note);
  out += element("h2", "Machines") + table_html(board_table(board), "machines");
  out += element("h2", "Shares against sizes");
  out += element("p", classes_account(board));
  out += "<div class=\"pair\"><figure data-of=\"shares\" data-x=\"bytes\" data-y=\"share\">" +
         picture(board) + legend(board) + "</figure></div>\n" +
         table_html(classes, "classes of kernels");
  return out + script_element() + "</body>\n</html>\n";
}

}  // namespace halmark::history
