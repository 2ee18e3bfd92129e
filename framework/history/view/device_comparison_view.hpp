// Devices side by side for terminals, programs, spreadsheets, pull requests and browsers.
#pragma once

#include <string>
#include <vector>

#include "history/devices/device_comparison.hpp"
#include "report/text/table.hpp"
#include "report/views/view.hpp"

namespace halmark::history {

// {"sides", "rules", "pairs", "what_if"}; keys in results/schema/devices.md. The text fits a
// terminal of `width` columns.
report::View device_comparison_view(const DeviceComparison& comparison, int width);

// One line per pair and class, what-ifs behind them; units in the header.
std::string device_comparison_csv(const DeviceComparison& comparison);
std::string device_comparison_markdown(const DeviceComparison& comparison);
// One self-contained page with a picture of the ratios of each pair.
std::string device_comparison_html(const DeviceComparison& comparison);

// By suffix: .html .json .csv .md. Throws Error (exit 2) for another, before anything is written.
void write_device_comparison(const DeviceComparison& comparison,
                             const std::vector<std::string>& paths);

// What the looks above share: the name of a side in tables, and tables as data.
std::string side_label(const DeviceComparison& comparison, std::size_t side);
std::string side_title(const DeviceComparison& comparison, std::size_t side);
report::Table class_table(const DeviceComparison& comparison, const DevicePair& pair);
// MFU, money and energy per unit of work; without rows where no side has any of them.
report::Table cost_table(const DeviceComparison& comparison, const DevicePair& pair);
// Lines that cross once first.
report::Table crossover_table(const DeviceComparison& comparison, const DevicePair& pair);
std::string crossover_summary(const DevicePair& pair);
std::string pair_summary(const DeviceComparison& comparison, const DevicePair& pair);
std::string what_if_text(const DeviceComparison& comparison);
// What every table rests on, a sentence each.
std::vector<std::string> reading_notes(const DeviceComparison& comparison);

}  // namespace halmark::history
