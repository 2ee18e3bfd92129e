#include "history/view/retention_view.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/numeric/cast.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

std::optional<double> share(std::int64_t bytes, std::int64_t rows) {
  if (rows == 0) return std::nullopt;
  return as_double(bytes) / as_double(rows);
}

std::string bytes_text(std::int64_t bytes) { return report::bytes_text(bytes); }

std::string row_text(std::optional<double> of_row, std::optional<double> of_samples) {
  if (!of_row) return {};
  const std::string row = fmt::format("a row takes {:.0f} bytes", *of_row);
  if (of_samples) {
    return row + fmt::format(", its raw samples {:.0f} where they are kept\n", *of_samples);
  }
  return row + "; no raw samples are left that can go (rows of earlier versions keep theirs)\n";
}

}  // namespace

report::View retention_view(const Retention& retention) {
  const RetiredSamples& retired = retention.samples;
  RunSamples all;
  Json runs = Json::array();
  for (const RunSamples& run : retired.runs) {
    all.rows += run.rows;
    all.bytes += run.bytes;
    runs.push_back({{"run", run.run}, {"rows", run.rows}, {"bytes", run.bytes}});
  }
  const DatabaseSize &before = retired.before, &after = retired.after;
  const auto of_row = share(before.bytes - retired.sample_bytes, before.rows);
  const auto of_samples = share(retired.sample_bytes, retired.rows_with_samples);
  report::View out;
  out.data = {{"policy", retention.policy.text},
              {"dry_run", retention.is_dry_run},
              {"runs", std::move(runs)},
              {"rows", all.rows},
              {"bytes", all.bytes},
              {"bytes_per_row", optional_number(of_row)},
              {"sample_bytes_per_row", optional_number(of_samples)},
              {"file_bytes_before", before.bytes + before.free_bytes},
              {"file_bytes", after.bytes + after.free_bytes},
              {"free_bytes", after.free_bytes}};
  out.text =
      fmt::format("{}: samples of {} rows in {} runs {}, {}\n", retention.policy.text, all.rows,
                  retired.runs.size(), retention.is_dry_run ? "would be retired" : "retired",
                  bytes_text(all.bytes));
  out.text += row_text(of_row, of_samples);
  if (!retention.is_dry_run) {
    out.text +=
        fmt::format("the file has {}, {} of them free for later rows; it had {}\n",
                    bytes_text(after.bytes + after.free_bytes), bytes_text(after.free_bytes),
                    bytes_text(before.bytes + before.free_bytes));
  }
  if (!retention.note.empty()) out.text += retention.note + '\n';
  return out;
}

}  // namespace halmark::history
