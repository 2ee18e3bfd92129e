// A table is looked up, never averaged over implementations: which kernel an engine would take is
// not known here, so the first series speaks, and says its name.
#include "latency/imported/imported_source.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "latency/imported/collective_type.hpp"
#include "latency/judged.hpp"

namespace halmark {
namespace {

// Half of it finds a place among millions; the problem itself is compared then.
std::uint32_t short_hash(std::uint64_t hash) { return as_uint32(hash >> 32); }

}  // namespace

ImportedSource::PassedOver ImportedSource::add(const std::string& table, KernelSeries series) {
  PassedOver out;
  const auto index = as_uint32(series_.size());
  std::vector<Place> added;
  added.reserve(series.points.size());
  for (const auto i : indices(series.points)) {
    const Place place{short_hash(series.points.hash(i)), index, as_uint32(i)};
    const auto known = std::ranges::lower_bound(places_, place.hash, {}, &Place::hash);
    if (known == places_.end() || known->hash != place.hash) {
      added.push_back(place);
      continue;
    }
    const auto first = find(series.points.at(i).problem);
    if (first == places_.end()) {
      added.push_back(place);
    } else if (++out.points == 1) {
      out.origin = series_[first->series].origin;
    }
  }
  std::ranges::sort(added);
  points_ += added.size();
  const auto middle = as_int64(places_.size());
  append_all(places_, added);
  std::inplace_merge(places_.begin(), places_.begin() + middle, places_.end());
  series_.push_back({table, table + ": " + series.identity.text(), std::move(series.points)});
  return out;
}

void ImportedSource::add(ImportedTable table) {
  for (KernelSeries& series : table.series) add(table.name, std::move(series));
}

std::vector<ImportedSource::Place>::const_iterator ImportedSource::find(
    const Problem& problem) const {
  const std::uint32_t hash = short_hash(hash_of(problem));
  auto place = std::ranges::lower_bound(places_, hash, {}, &Place::hash);
  while (place != places_.end() && place->hash == hash &&
         !series_[place->series].points.is_of(place->row, problem)) {
    ++place;
  }
  return place != places_.end() && place->hash == hash ? place : places_.end();
}

std::optional<Latency> ImportedSource::latency(const Problem& asked, const Work& work) const {
  const Problem problem = with_one_16_bit_type(asked);
  const auto first = find(problem);
  if (first == places_.end()) return std::nullopt;
  const Series& series = series_[first->series];
  double sum = 0;
  int rows = 0;
  for (auto place = first; place != places_.end() && place->hash == first->hash; ++place) {
    if (place->series != first->series || !series.points.is_of(place->row, problem)) continue;
    sum += series.points.ns(place->row);
    ++rows;
  }
  Latency out;
  out.ns = out.low_ns = out.high_ns = sum / rows;
  out.provenance = Provenance::imported;
  out.origin = series.origin;
  out.where = series.table + ':' + std::to_string(series.points.line(first->row));
  out.reason = "measured by others: " + out.where + series.origin.substr(series.table.size() + 1) +
               "; no spread stated";
  return judged(std::move(out), roofline::step_bound(asked, work, ceilings_));
}

std::size_t ImportedSource::bytes() const {
  std::size_t out = places_.size() * sizeof(Place);
  for (const Series& series : series_) out += series.points.bytes();
  return out;
}

}  // namespace halmark
