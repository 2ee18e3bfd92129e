#include "latency/interpolation/implementations.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/lists.hpp"

namespace halmark {

void each_implementation(std::span<const TableSeries> series, const TakeImplementation& take) {
  using Key = std::tuple<const ImportedTable*, SeriesIdentity, std::string>;
  std::vector<std::pair<Key, std::vector<std::size_t>>> groups;
  for (const auto i : indices(series)) {
    SeriesIdentity identity = series[i].series->identity;
    identity.dtype.clear();
    Key key{series[i].table, std::move(identity), series[i].series->part};
    auto group = std::ranges::find(groups, key, &std::pair<Key, std::vector<std::size_t>>::first);
    if (group == groups.end()) {
      group = groups.emplace(group, std::move(key), std::vector<std::size_t>{});
    }
    group->second.push_back(i);
  }
  for (const auto& [key, members] : groups) {
    std::vector<LatencyPoint> points;
    for (const std::size_t i : members) {
      std::ranges::move(series[i].series->points.all(), std::back_inserter(points));
    }
    const auto& [table, identity, part] = key;
    take(members.front(), points, [name = table->name, of = identity](const Problem& problem) {
      SeriesIdentity named = of;
      named.dtype = dtypes_of(problem);
      return name + ": " + named.text();
    });
  }
}

}  // namespace halmark
