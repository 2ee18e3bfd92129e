#include "history/view/device_comparison_view.hpp"

#include <fmt/format.h>

#include <array>

#include "core/json/json.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t crossovers_shown = 12;

std::string_view ahead_name(Ahead ahead) {
  return enum_names<Ahead>("first", "second", "tie", "open").of(ahead);
}

Json side_json(const DeviceComparison& c, std::size_t i) {
  const DeviceSide& side = c.sides[i];
  Json left_out = Json::object();
  for (const auto& [reason, rows] : side.left_out) left_out[reason] = rows;
  return {{"name", side.name},
          {"label", side_label(c, i)},
          {"device", side.device.empty() ? Json(nullptr) : Json(side.device)},
          {"basis", time_basis_name(side.basis)},
          {"kernels", side.kernels.size()},
          {"usd_per_hour", optional_number(side.usd_per_hour)},
          {"power_w", optional_number(side.power_w)},
          {"notes", side.lines},
          {"left_out", std::move(left_out)}};
}

Json share_json(const SideShare& share) {
  return {{"roofline_fraction", optional_number(share.of_bound)},
          {"mfu", optional_number(share.mfu)},
          {"limiter", limiter_name(share.limiter)},
          {"usd_per_unit", optional_number(share.usd)},
          {"joule_per_unit", optional_number(share.joule)}};
}

Json class_json(const ClassRow& row) {
  return {{"op", row.op},
          {"dtype", row.dtype},
          {"shapes", row.shapes},
          {"kernels", row.kernels},
          {"ahead", ahead_name(row.ahead)},
          {"ratio", row.ratio},
          {"ratio_interval", row.ratio_interval},
          {"first_ahead", row.first_ahead},
          {"second_ahead", row.second_ahead},
          {"ties", row.ties},
          {"open", row.open},
          {"unit", row.is_matmul ? "1e15 matmul FLOPs" : "1e12 bytes"},
          {"first", share_json(row.shares[0])},
          {"second", share_json(row.shares[1])}};
}

Json pair_json(const DevicePair& pair) {
  Json classes = json_list(pair.classes, class_json);
  Json crossovers = json_list(pair.crossovers, [](const Crossover& x) -> Json {
    return {{"series", x.series},
            {"free_size", x.free_size},
            {"below", x.below},
            {"above", x.above},
            {"ahead_below", x.first_below ? "first" : "second"}};
  });
  return {{"first", pair.first},
          {"second", pair.second},
          {"kernels", pair.kernels},
          {"only_first", pair.only_first},
          {"only_second", pair.only_second},
          {"series", pair.series},
          {"classes", std::move(classes)},
          {"crossovers", std::move(crossovers)}};
}

Json pairs_json(const std::vector<DevicePair>& pairs) { return json_list(pairs, pair_json); }

Json comparison_json(const DeviceComparison& c) {
  Json sides = Json::array();
  for (std::size_t i = 0; i < c.sides.size(); ++i) sides.push_back(side_json(c, i));
  Json changes = json_list(c.what_ifs, [](const WhatIf& change) -> Json {
    return {{"side", change.side}, {"text", change.text}, {"factor", change.factor}};
  });
  Json out = {{"sides", std::move(sides)},
              {"rules", {{"floor", c.rules.floor}}},
              {"pairs", pairs_json(c.pairs)},
              {"what_if", nullptr}};
  if (!c.what_ifs.empty()) {
    out["what_if"] = {
        {"is_model", true}, {"changes", std::move(changes)}, {"pairs", pairs_json(c.modelled)}};
  }
  return out;
}

// Columns are left out from the right until the others fit.
std::string fitting(const report::Table& table, int width) {
  std::vector<std::string> titles;
  std::vector<bool> is_number;
  for (const report::TableColumn& column : table.columns) {
    titles.push_back(column.title);
    is_number.push_back(column.is_number);
  }
  report::TextTable out(titles, is_number);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const report::TableCell& cell : row) cells.push_back(cell.text);
    out.add(cells);
  }
  return out.text(width);
}

std::string pair_text(const DeviceComparison& c, const DevicePair& pair, int width) {
  std::string out = '\n' + report::wrapped(pair_summary(c, pair), width);
  if (pair.kernels == 0) return out;
  out += fitting(class_table(c, pair), width);
  if (const report::Table costs = cost_table(c, pair); !costs.rows.empty()) {
    out += "work and what it costs\n" + fitting(costs, width);
  }
  if (pair.crossovers.empty()) return out;
  report::Table crossovers = crossover_table(c, pair);
  const std::size_t all = crossovers.rows.size();
  if (all > crossovers_shown) crossovers.rows.resize(crossovers_shown);
  out += report::wrapped(crossover_summary(pair), width) + report::table_text(crossovers, width);
  if (all > crossovers_shown) {
    out += fmt::format("  and {} more: --json or --out has them all\n", all - crossovers_shown);
  }
  return out;
}

std::string text_of(const DeviceComparison& c, int width) {
  std::string out;
  for (std::size_t i = 0; i < c.sides.size(); ++i) {
    out += report::wrapped(printable(side_title(c, i)), width);
    for (const auto& [reason, rows] : c.sides[i].left_out) {
      out += report::wrapped(fmt::format("  left out: {} rows, {}", rows, printable(reason)), width,
                             4);
    }
  }
  for (const DevicePair& pair : c.pairs) out += pair_text(c, pair, width);
  if (!c.what_ifs.empty()) {
    out += '\n' + report::wrapped(what_if_text(c), width);
    for (const DevicePair& pair : c.modelled) out += pair_text(c, pair, width);
  }
  out += '\n';
  for (const std::string& note : reading_notes(c)) out += report::wrapped(note, width);
  return out;
}

std::string number(std::optional<double> value) { return value ? number_text(*value) : ""; }

std::string csv_lines(const DeviceComparison& c, const std::vector<DevicePair>& pairs,
                      const char* times) {
  std::string out;
  for (const DevicePair& pair : pairs) {
    for (const ClassRow& row : pair.classes) {
      for (const std::string& text : {std::string(times), side_label(c, pair.first),
                                      side_label(c, pair.second), row.op, row.dtype, row.shapes}) {
        out += report::csv_text(text) + ',';
      }
      out += fmt::format("{},{},{},{},{},{},{},{},{}", row.kernels, ahead_name(row.ahead),
                         number_text(row.ratio), number_text(row.ratio_interval.low),
                         number_text(row.ratio_interval.high), row.first_ahead, row.second_ahead,
                         row.ties, row.open);
      for (const SideShare& s : row.shares) {
        out += ',' + number(s.of_bound) + ',' + number(s.mfu) + ',' +
               std::string(limiter_name(s.limiter)) + ',' + number(s.usd) + ',' + number(s.joule);
      }
      out += row.is_matmul ? ",1e15 matmul FLOPs\r\n" : ",1e12 bytes\r\n";
    }
  }
  return out;
}

}  // namespace

report::View device_comparison_view(const DeviceComparison& comparison, int width) {
  return {.data = comparison_json(comparison), .text = text_of(comparison, width)};
}

std::string device_comparison_csv(const DeviceComparison& c) {
  std::string out =
      "times,first,second,op,dtype,shapes,kernels,ahead,ratio,ratio_low,ratio_high,first_ahead,"
      "second_ahead,ties,open";
  for (const char* side : {"first", "second"}) {
    out += fmt::format(
        ",{0}_roofline_fraction,{0}_mfu,{0}_limiter,{0}_usd_per_unit,"
        "{0}_joule_per_unit",
        side);
  }
  return out + ",unit\r\n" + csv_lines(c, c.pairs, "as they are") +
         csv_lines(c, c.modelled, "what if (model)");
}

std::string device_comparison_markdown(const DeviceComparison& c) {
  std::string out = "## Halmark: devices side by side\n\n";
  for (std::size_t i = 0; i < c.sides.size(); ++i) {
    out += "- " + report::markdown_text(side_title(c, i)) + '\n';
  }
  const auto add = [&](const std::vector<DevicePair>& pairs) {
    for (const DevicePair& pair : pairs) {
      out += "\n### " + report::markdown_text(pair_summary(c, pair)) + "\n\n";
      if (!pair.classes.empty()) out += report::table_markdown(class_table(c, pair));
      if (const report::Table costs = cost_table(c, pair); !costs.rows.empty()) {
        out += "\nWork and what it costs:\n\n" + report::table_markdown(costs);
      }
      if (pair.crossovers.empty()) continue;
      out += '\n' + report::markdown_text(crossover_summary(pair)) + "\n\n" +
             report::table_markdown(crossover_table(c, pair));
    }
  };
  add(c.pairs);
  if (!c.what_ifs.empty()) out += "\n" + report::markdown_text(what_if_text(c)) + '\n';
  add(c.modelled);
  out += '\n';
  for (const std::string& note : reading_notes(c)) out += "- " + report::markdown_text(note) + '\n';
  return out;
}

void write_device_comparison(const DeviceComparison& comparison,
                             const std::vector<std::string>& paths) {
  using Look = std::string (*)(const DeviceComparison&);
  static const std::array<std::pair<std::string_view, Look>, 4> looks = {
      {{".json", [](const DeviceComparison& c) { return dump_json(comparison_json(c), 1) + '\n'; }},
       {".csv", device_comparison_csv},
       {".md", device_comparison_markdown},
       {".html", device_comparison_html}}};
  std::vector<Look> chosen;
  for (const std::string& path : paths) {
    for (const auto& [suffix, look] : looks) {
      if (path.ends_with(suffix)) chosen.push_back(look);
    }
    if (chosen.size() > static_cast<std::size_t>(&path - paths.data())) continue;
    throw refused("unknown format of a comparison of devices", path,
                  "known: .html, .json, .csv, .md");
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    write_whole_file(chosen[i](comparison), paths[i]);
  }
}

}  // namespace halmark::history
