// halmark board: many machines ranked by their records. Records that do not verify are left out.
#include "cli/console/command.hpp"
#include "history/view/board_view.hpp"
#include "tune/sources/stated_price.hpp"
#include "verify/machine_record.hpp"

namespace halmark::cli {

Action add_board(OptionSet& app) {
  using Texts = std::vector<std::string>;
  const auto files = app.add<Texts>("records", "Records, or folders of them").required();
  const auto prices = app.add<Texts>("--price", "DEVICE=USD an hour, where a record has none");
  const auto out = app.add<Texts>("--out,-o", "File by suffix: .html .json .md");
  return [=](const GlobalOptions&) -> CommandResult {
    history::BoardRecords read = history::read_board(*files, first_fault);
    for (const std::string& text : *prices) {
      const auto [owner, usd] = tune::parse_price(text);
      history::set_price(read.machines, owner, usd);
    }
    const history::Board board = history::ranked_board(std::move(read.machines), read.left_out);
    history::write_board(board, *out);
    return {history::board_view(board, stdout_columns()),
            board.left_out.empty() ? ExitCode::ok : ExitCode::partial};
  };
}

}  // namespace halmark::cli
