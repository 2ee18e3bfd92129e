// halmark ops: which ops there are, and the parameters of one.
#include <memory>

#include "cli/console/terminal.hpp"
#include "pages/ops/op_page.hpp"

namespace halmark::cli {

Action add_ops(OptionSet& app) {
  const auto name =
      app.add<std::string>("op", "One of them: its parameters, operands and a command");
  app.add_example("  halmark ops gemm    what halmark bench --op gemm --params takes");
  return [name](const GlobalOptions&) {
    const int width = stdout_columns();
    return shown(name->empty() ? pages::ops_page(width) : pages::op_page(*name, width));
  };
}

}  // namespace halmark::cli
