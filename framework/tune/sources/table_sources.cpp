#include "tune/sources/table_sources.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace halmark::tune {
namespace {

// "h100" of "NVIDIA H100 80GB HBM3": what tells models of devices apart, without sizes and sockets.
std::set<std::string> model_words(const std::string& text) {
  std::set<std::string> out;
  std::string word;
  const auto flush = [&] {
    const auto has = [&](int (*is)(int)) {
      return std::ranges::any_of(word, [is](unsigned char c) { return is(c) != 0; });
    };
    const bool is_other = word.starts_with("hbm") || word.starts_with("sxm") ||
                          word.ends_with("gb") || word.starts_with("gddr");
    if (word.size() >= 3 && has(std::isalpha) && has(std::isdigit) && !is_other) out.insert(word);
    word.clear();
  };
  for (const unsigned char c : text) {
    if (std::isalnum(c)) {
      word += static_cast<char>(std::tolower(c));
    } else {
      flush();
    }
  }
  flush();
  return out;
}

// Whether a table that states `stated` can be of `device`; where one of them has no model, it can.
bool can_be_of(const std::string& stated, const Device& device) {
  const std::set<std::string> a = model_words(stated),
                              b = model_words(device.id + ' ' + device.name);
  if (a.empty() || b.empty()) return true;
  return std::ranges::any_of(a, [&](const std::string& word) { return b.contains(word); });
}

// The last `parts` components of a path.
std::string tail(const std::string& file, std::size_t parts) {
  const std::filesystem::path path(file);
  const auto length = static_cast<std::size_t>(std::distance(path.begin(), path.end()));
  auto part = path.begin();
  std::advance(part, static_cast<std::ptrdiff_t>(length - std::min(parts, length)));
  std::filesystem::path out;
  for (; part != path.end(); ++part) out /= *part;
  return out.string();
}

}  // namespace

TableSources::TableSources(const std::vector<std::string>& files, const Choice& choice,
                           const Device& measured_on)
    : measured_on_(measured_on) {
  for (const std::string& file : files) {
    tables_.push_back(read_kernel_table(file, choice.layout));
    const ImportedTable& table = tables_.back();
    TableUse& use = use_.emplace_back();
    use.file = file;
    use.device = table.device;
    use.rows = table.rows;
    use.skipped = table.skipped;
    if (!can_be_of(table.device, measured_on)) {
      use.passed_over = "it states " + table.device + ", not " + measured_on.id +
                        ": --tables-device names the device of tables to carry over";
    } else if (table.series.empty()) {
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
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (!use_[t].passed_over.empty()) continue;
    for (std::size_t s = 0; s < tables_[t].series.size(); ++s) {
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
  const auto found = std::ranges::find(series, name, &SeriesUse::name);
  return found != series.end() ? *found
                               : series.emplace_back(SeriesUse{.name = name, .reason = {}});
}

std::string TableSources::why_none() const {
  const TableUse& first = use_.front();
  if (first.skipped.empty()) return first.file + ": " + first.passed_over;
  return first.file + ": rows skipped: " + first.skipped.begin()->first;
}

void TableSources::teach(InterpolatedSource& source) const {
  using Key = std::tuple<std::size_t, SeriesIdentity, std::string>;
  std::vector<std::pair<Key, std::vector<Place>>> groups;
  for (const Place& place : order_) {
    SeriesIdentity identity = at(place).identity;
    identity.dtype.clear();
    Key key{place.table, std::move(identity), at(place).part};
    auto group = std::ranges::find(groups, key, &std::pair<Key, std::vector<Place>>::first);
    if (group == groups.end()) group = groups.emplace(group, std::move(key), std::vector<Place>{});
    group->second.push_back(place);
  }
  for (const auto& [key, places] : groups) {
    std::vector<LatencyPoint> points;
    for (const Place& place : places) {
      std::ranges::move(at(place).points.all(), std::back_inserter(points));
    }
    const auto& [table, identity, part] = key;
    source.add(points, measured_on_,
               [name = tables_[table].name, of = identity](const Problem& problem) {
                 SeriesIdentity named = of;
                 named.dtype = dtypes_of(problem);
                 return name + ": " + named.text();
               });
  }
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
    SeriesUse& use = use_of(place);
    const ImportedSource::PassedOver passed =
        source.add(tables_[place.table].name, std::move(at(place)));
    if (passed.points == 0) continue;
    use.passed_over += passed.points;
    use.reason = passed.origin + " goes first";
  }
}

}  // namespace halmark::tune
