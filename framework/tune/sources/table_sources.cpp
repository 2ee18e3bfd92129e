#include "tune/sources/table_sources.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "core/lists.hpp"
#include "latency/interpolation/implementations.hpp"
#include "tune/sources/stated_device.hpp"

namespace halmark::tune {
namespace {

// The last `parts` components of a path.
std::string tail(const std::string& file, std::size_t parts) {
  const std::filesystem::path path(file);
  const auto length = as_size(std::distance(path.begin(), path.end()));
  auto part = path.begin();
  std::advance(part, as_int64(length - std::min(parts, length)));
  std::filesystem::path out;
  for (; part != path.end(); ++part) out /= *part;
  return out.string();
}

}  // namespace

TableSources::TableSources(const std::vector<std::string>& files, const Choice& choice,
                           const Measured& measured)
    : target_(measured.target) {
  for (const std::string& file : files) {
    tables_.push_back(read_kernel_table(file, choice.layout));
    const ImportedTable& table = tables_.back();
    TableUse& use = use_.emplace_back();
    use.file = file;
    use.device = table.device;
    use.rows = table.rows;
    use.skipped = table.skipped;
    devices_.push_back(measured.on.value_or(measured.target));
    if (!can_be_of(table.device, devices_.back())) {
      // What another device took carries over where that is asked for and its figures are known.
      const auto stated = stated_device(table.device, measured.others);
      if (stated) devices_.back() = *stated;
      if (!stated) {
        use.passed_over = "it states " + table.device + ", not " + devices_.back().id +
                          (measured.others.empty()
                               ? ": 'transferred' carries tables of other devices over"
                               : ", and no known device is that one: --tables-device names it");
      }
    }
    if (!use.passed_over.empty()) continue;
    if (table.series.empty()) {
      use.passed_over = "no row of it can be used";
    }
  }
  name_tables(files);
  choose(SeriesChoice(choice.series, choice.series_where));
}

void TableSources::name_tables(const std::vector<std::string>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::size_t parts = 1;
    const auto is_shared = [&](const std::string& other) {
      return other != files[i] && tail(other, parts) == tail(files[i], parts);
    };
    while (parts < 64 && std::ranges::any_of(files, is_shared)) ++parts;
    use_[i].name = tables_[i].name = tail(files[i], parts);
  }
}

// Chosen series go first, in the order of their selectors, and leave others of their op and types
// out; the rest stays as it is.
void TableSources::choose(const SeriesChoice& choice) {
  std::vector<SeriesIdentity> known;
  std::set<std::pair<std::string, std::string>> chosen;  // ops and types
  constexpr std::size_t unchosen = std::numeric_limits<std::size_t>::max();
  std::vector<std::pair<std::size_t, Place>> ranked;
  for (const auto t : indices(tables_)) {
    if (!use_[t].passed_over.empty()) continue;
    for (const auto s : indices(tables_[t].series)) {
      const SeriesIdentity& identity = tables_[t].series[s].identity;
      known.push_back(identity);
      const auto rank = choice.rank(identity);
      if (rank) chosen.emplace(identity.op, identity.dtype);
      ranked.push_back({rank.value_or(unchosen), {t, s}});
      use_of({t, s}).points += tables_[t].series[s].points.size();
    }
  }
  choice.check(known);
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, Place>::first);
  for (const auto& [rank, place] : ranked) {
    const SeriesIdentity& identity = at(place).identity;
    if (rank == unchosen && chosen.contains({identity.op, identity.dtype})) {
      SeriesUse& use = use_of(place);
      use.passed_over = use.points;
      use.reason = "another series was chosen";
      continue;
    }
    order_.push_back(place);
  }
}

SeriesUse& TableSources::use_of(const Place& place) {
  std::vector<SeriesUse>& series = use_[place.table].series;
  const std::string name = at(place).identity.text();
  auto* found = find_or_null(series, name, &SeriesUse::name);
  return found ? *found : series.emplace_back(SeriesUse{.name = name, .reason = {}});
}

std::string TableSources::why_none() const {
  const TableUse& first = use_.front();
  if (first.skipped.empty()) return first.file + ": " + first.passed_over;
  return first.file + ": rows skipped: " + first.skipped.begin()->first;
}

bool TableSources::is_of_target(const Place& place) const {
  return devices_[place.table].id == target_.id;
}

template <class Take>
void TableSources::each_implementation(const Take& take) const {
  std::vector<TableSeries> series;
  for (const Place& place : order_) series.push_back({&tables_[place.table], &at(place)});
  halmark::each_implementation(series, [&](std::size_t first, const auto& points, auto origin) {
    take(order_[first], points, std::move(origin));
  });
}

void TableSources::teach(InterpolatedSource& source) const {
  each_implementation([&](const Place& place, const auto& points, PointsOrigin origin) {
    if (is_of_target(place)) source.add(points, target_, std::move(origin));
  });
}

void TableSources::teach(TransferredSource& source) const {
  each_implementation([&](const Place& place, const auto& points, PointsOrigin origin) {
    if (!is_of_target(place)) source.add(points, devices_[place.table], std::move(origin));
  });
}

void TableSources::teach(LaunchFloor& floor) const {
  for (const Place& place : order_) {
    std::vector<LatencyPoint> points;
    std::ranges::move(at(place).points.all(), std::back_inserter(points));
    floor.add(points);
  }
}

void TableSources::hand_over(ImportedSource& source) {
  for (const Place& place : order_) {
    if (!is_of_target(place)) continue;
    SeriesUse& use = use_of(place);
    const ImportedSource::PassedOver passed =
        source.add(tables_[place.table].name, std::move(at(place)));
    if (passed.points == 0) continue;
    use.passed_over += passed.points;
    use.reason = passed.origin + " goes first";
  }
}

}  // namespace halmark::tune
