#include "bisect/bisect_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/numeric/statistics.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::bisect {
namespace {

using history::BisectState;
using report::probability_text;
using report::signed_percent_text;

constexpr double shown_probability = 0.01;

std::string size_text(const Search& search, std::size_t revision) {
  const Interval interval = search.posterior.ratio_interval(revision);
  return fmt::format("{} (95 %: {} .. {})",
                     signed_percent_text(search.posterior.ratio(revision) - 1),
                     signed_percent_text(interval.low - 1), signed_percent_text(interval.high - 1));
}

std::string_view direction_of(const Search& search) {
  const bool is_more = search.posterior.ratio(search.found()) > 1;
  return is_more == search.is_bigger_better ? "better" : "worse";
}

std::string line_of(const Commit& commit) {
  return fmt::format("{} {} {}", short_hash(commit), commit.date, report::clean_text(commit.title));
}

std::string effort_text(const Search& search) {
  std::size_t measured = 0;
  for (const Revision& r : search.revisions) measured += r.log_ratios.empty() ? 0 : 1;
  return fmt::format("{} pairs with {}, {} of {} later revisions measured", search.pairs(),
                     short_hash(search.revisions.front().commit), measured,
                     search.revisions.size() - 1);
}

std::string found_text(const Search& search) {
  const std::size_t found = search.found();
  const Commit& commit = search.revisions[found].commit;
  std::string out =
      fmt::format("{}\n  is the first changed commit, probability {}: {} {}; {}\n", line_of(commit),
                  probability_text(search.posterior.hypotheses[found].probability),
                  size_text(search, found), direction_of(search), effort_text(search));
  for (const Commit* other : search.undistinguished()) {
    out += fmt::format("  or {}, which cannot be measured\n", line_of(*other));
  }
  if (commit.is_merge) {
    out += fmt::format("  it is a merge: --good {0}^ --bad {0}^2 searches what it brought\n",
                       short_hash(commit));
  }
  return out;
}

std::string headline(const Search& search) {
  const std::size_t last = search.revisions.size() - 1;
  if (search.state == BisectState::found) return found_text(search);
  if (search.state == BisectState::no_change) {
    return fmt::format("no change between {} and {}: {}, floor {}; {} pairs\n",
                       short_hash(search.revisions.front().commit),
                       short_hash(search.revisions[last].commit), size_text(search, last),
                       report::percent_text(search.floor), search.pairs());
  }
  return fmt::format("not decided yet, {}: the same command resumes\n", effort_text(search));
}

std::optional<double> ratio_at(const Revision& revision) {
  if (revision.log_ratios.empty()) return std::nullopt;
  return std::exp(mean(revision.log_ratios));
}

std::string table_text(const Search& search) {
  report::TextTable table({"revision", "date", ">pairs", ">change", ">probability", "title"});
  std::string skipped;
  for (std::size_t r = 1; r < search.revisions.size(); ++r) {
    const Revision& one = search.revisions[r];
    if (!one.skipped.empty()) {
      skipped +=
          fmt::format("skipped {}: {}\n", short_hash(one.commit), report::clean_text(one.skipped));
      continue;
    }
    const double probability = search.posterior.hypotheses[r].probability;
    if (one.log_ratios.empty() && probability < shown_probability) continue;
    const auto ratio = ratio_at(one);
    table.add({short_hash(one.commit), one.commit.date, std::to_string(one.log_ratios.size()),
               ratio ? signed_percent_text(*ratio - 1) : "-", probability_text(probability),
               report::clean_text(one.commit.title)});
  }
  return table.text() + skipped;
}

Json document(const Search& search) {
  const std::size_t found = search.found();
  const bool is_found = search.state == BisectState::found;
  const std::size_t shown = is_found ? found : search.revisions.size() - 1;
  Json revisions = Json::array();
  for (std::size_t r = 0; r < search.revisions.size(); ++r) {
    Json one = json_fields::written(search.revisions[r]);
    one["ratio"] = optional_number(ratio_at(search.revisions[r]));
    one["probability"] = r == 0 ? 0.0 : search.posterior.hypotheses[r].probability;
    revisions.push_back(std::move(one));
  }
  Json others = Json::array();
  if (is_found) {
    for (const Commit* other : search.undistinguished()) {
      others.push_back(json_fields::written(*other));
    }
  }
  return {{"state", history::bisect_state_name(search.state)},
          {"commit", is_found ? json_fields::written(search.revisions[found].commit) : Json()},
          {"undistinguished", std::move(others)},
          {"probability", is_found ? Json(search.posterior.hypotheses[found].probability) : Json()},
          {"no_change_probability", search.posterior.hypotheses.front().probability},
          {"ratio", search.posterior.ratio(shown)},
          {"ratio_interval", search.posterior.ratio_interval(shown)},
          {"direction", is_found ? Json(std::string(direction_of(search))) : Json()},
          {"pairs", search.pairs()},
          {"confidence", search.confidence},
          {"floor", search.floor},
          {"folder", search.folder},
          {"revisions", std::move(revisions)}};
}

}  // namespace

report::View bisect_view(const Search& search) {
  return {.data = document(search),
          .text = headline(search) + table_text(search) + "builds and pairs lie in " +
                  search.folder + '\n'};
}

ExitCode bisect_exit(const Search& search) {
  if (search.state == BisectState::found) return ExitCode::ok;
  return search.state == BisectState::no_change ? ExitCode::gate_failed : ExitCode::partial;
}

}  // namespace halmark::bisect
