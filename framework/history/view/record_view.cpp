#include "history/view/record_view.hpp"

#include <fmt/format.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "history/record/machine_record.hpp"
#include "report/report.hpp"

namespace halmark::history {

report::View write_record(const std::string& database, std::optional<std::int64_t> run,
                          const std::string& path) {
  const MachineRecord record = stored_record(database, run);
  const std::string file = record_text(record);
  write_whole_file(file, path);
  std::string text = fmt::format("{}: {}, {} kernels in {} classes, {} steps of models, {} bytes\n",
                                 path, printable(record.device.name), record.kernels.size(),
                                 record.classes.size(), record.steps.size(), file.size());
  for (const auto& [reason, count] : record.left_out) {
    text += fmt::format("left out: {} {}\n", count, reason);
  }
  return {.data = {{"path", path},
                   {"device", record.device.name},
                   {"kernels", record.kernels.size()},
                   {"classes", record.classes.size()},
                   {"steps", record.steps.size()},
                   {"left_out", record.left_out}},
          .text = std::move(text)};
}

}  // namespace halmark::history
