// Refits the sets of configs/engines/ENGINE/serving_terms.json, and how far measured figures lie
// from sets that have not seen them. Not run with the tests: it takes an hour (HALMARK_ENGINE: one
// alone).
//   scripts/accuracy --all --table rows.tsv
//   HALMARK_SERVED_ROWS=rows.tsv test_served_deployments --gtest_also_run_disabled_tests
//     --gtest_filter='*are_refitted*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "served_points.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tests/checkout.hpp"

namespace halmark::test {
namespace {

using serving::FitOf;
using serving::SeriesTerms;
using Json = nlohmann::ordered_json;
using Points = std::vector<const ServedPoints::Point*>;

constexpr std::size_t folds = 4, rows_of_series = 12;
// Of a model, as many rows count as much as all other models; of its errors likewise.
constexpr double rows_of_doubt = 10, errors_of_doubt = 20;
// With fewer a model has no set of its own, nor a device of it.
constexpr std::size_t rows_least = 10;
// Errors of TPOT of what is unknown are this many times those of one model or device left out: half
// of the groups lie inside by 86 % then when the other half was fitted (79 % without).
constexpr double of_unknown = 1.3;

std::size_t hashed(const std::string& text) { return std::hash<std::string>{}(text); }

Points chosen(const Points& points, const std::function<bool(const ServedRow&)>& is_wanted) {
  Points out;
  for (const auto* p : points) {
    if (is_wanted(*p->row)) out.push_back(p);
  }
  return out;
}

// Long series of rows shall not decide.
Points thinned(Points points) {
  std::ranges::sort(points, {}, [](const auto* p) { return hashed(p->row->id); });
  std::map<std::string, std::size_t> rows;
  return chosen(points, [&](const ServedRow& r) {
    return rows[r.device + r.model + r.release]++ < rows_of_series;
  });
}

SeriesTerms fitted(FitOf of, const SeriesTerms& start, const Points& points, int evaluations) {
  std::vector<const serving::ServedPoint*> figures;
  for (const auto* p : points) figures.push_back(&p->figures);
  return figures.empty() ? start : fitted_from(start, figures, evaluations, of);
}

// Of a model, from the engine's; of a device of it, from the model's.
SeriesTerms drawn(const SeriesTerms& all, const Points& points) {
  SeriesTerms out = fitted(FitOf::model, all, points, 40);
  const auto n = as_double(points.size());
  const double own = n / (n + rows_of_doubt);
  out.terms.device_scale =
      std::pow(all.terms.device_scale, 1 - own) * std::pow(out.terms.device_scale, own);
  out.terms.arrival_ns = (1 - own) * all.terms.arrival_ns + own * out.terms.arrival_ns;
  return out;
}

// Logarithms of measured over predicted.
struct LogErrors {
  std::vector<double> ttft, tpot;
  void add(const Points& points, const SeriesTerms& terms) {
    for (const auto* p : points) {
      const auto f = predicted(p->figures, terms);
      ttft.push_back(std::log(p->figures.ttft_ns / f.ttft_ns));
      tpot.push_back(std::log(p->figures.tpot_ns / f.tpot_ns));
    }
  }
};

// Those between which 90 % lie; `others` count as many as errors_of_doubt of them.
Json ratios(const std::vector<double>& own, const std::vector<double>& others) {
  std::vector<std::pair<double, double>> weighted;
  for (const double e : own) weighted.emplace_back(e, 1);
  for (const double e : others) {
    weighted.emplace_back(e, errors_of_doubt / as_double(others.size()));
  }
  std::ranges::sort(weighted);
  double all = 0;
  for (const auto& [error, weight] : weighted) all += weight;
  const auto at = [&](double share) {
    double sum = 0;
    for (const auto& [error, weight] : weighted) {
      if ((sum += weight) >= share * all) return std::stod(std::to_string(std::exp(error)));
    }
    return std::exp(weighted.back().first);
  };
  return {at(0.05), at(0.95)};
}

std::vector<double> widened(std::vector<double> errors) {
  for (double& e : errors) e *= of_unknown;
  return errors;
}

Json set_of(const std::string& model, const Points& points, const SeriesTerms& t,
            const LogErrors& errors, const LogErrors& others) {
  std::set<std::string> devices;
  std::string on;
  for (const auto* p : points) devices.insert(p->row->device);
  for (const std::string& d : devices) on += (on.empty() ? "" : ", ") + d;
  return {{"model", model},
          {"devices", devices},
          {"rows", std::to_string(points.size()) + " rows on " + on},
          {"token_budget", t.token_budget},
          {"chunks_prompts", t.chunks_prompts},
          {"terms",
           {{"device_scale", t.terms.device_scale},
            {"step_ns", t.terms.step_ns},
            {"sequence_ns", t.terms.sequence_ns},
            {"token_ns", t.terms.token_ns},
            {"arrival_ns", t.terms.arrival_ns}}},
          {"ttft", ratios(errors.ttft, others.ttft)},
          {"tpot", ratios(errors.tpot, others.tpot)}};
}

Points of_device(const Points& points, const std::string& device) {
  return chosen(points, [&](const ServedRow& r) { return r.device == device; });
}

// A device has a set of its own where it has rows enough, and is not the only one of the model.
bool has_set(const Points& of_model, const Points& on_device) {
  return on_device.size() >= rows_least && on_device.size() < of_model.size();
}

// Errors of a quarter of the curves in turn, by terms of the others: of all devices as one, and of
// each by its own set.
struct HeldOut {
  LogErrors of_model;
  std::map<std::string, LogErrors> of_devices;
};

HeldOut held_out(const SeriesTerms& all, const Points& own) {
  HeldOut out;
  std::set<std::string> devices;
  for (const auto* p : own) devices.insert(p->row->device);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const auto is_held = [&](const ServedRow& r) { return hashed(r.curve()) % folds == fold; };
    const SeriesTerms terms = drawn(all, chosen(own, std::not_fn(is_held)));
    out.of_model.add(chosen(own, is_held), terms);
    for (const std::string& d : devices) {
      const Points mine = of_device(own, d);
      if (!has_set(own, mine)) continue;
      out.of_devices[d].add(chosen(mine, is_held),
                            drawn(terms, chosen(mine, std::not_fn(is_held))));
    }
  }
  return out;
}

void print_sets(const std::string& model, const Points& own, const SeriesTerms& all,
                const HeldOut& errors, const LogErrors& of_all) {
  const SeriesTerms terms = drawn(all, own);
  for (const auto& [device, of_it] : errors.of_devices) {
    const Points mine = of_device(own, device);
    std::printf(",\n    %s", set_of(model, mine, drawn(terms, mine), of_it, of_all).dump().c_str());
  }
  std::printf(",\n    %s", set_of(model, own, terms, errors.of_model, of_all).dump().c_str());
}

void fit_engine(const std::string& engine, const Points& points) {
  std::set<std::string> models, devices;
  for (const auto* p : points) models.insert(p->row->model), devices.insert(p->row->device);
  // The scheduler of models with rows is that of the shipped sets of theirs.
  const auto from = [&](const std::string& model) {
    const SeriesTerms start = serving::fitted_terms(engine, model, "").series;
    return fitted(FitOf::engine, start, thinned(points), 150);
  };
  const SeriesTerms all = from(""), known = from(*models.begin());
  LogErrors unknown, elsewhere, of_all;
  for (const std::string& d : devices) {
    const auto is_of = [&](const ServedRow& r) { return r.device == d; };
    const auto rest = thinned(chosen(points, std::not_fn(is_of)));
    elsewhere.add(chosen(points, is_of), fitted(FitOf::model, all, rest, 30));
  }
  std::map<std::string, HeldOut> held;
  for (const std::string& m : models) {
    const auto is_of = [&](const ServedRow& r) { return r.model == m; };
    const Points own = chosen(points, is_of);
    const auto rest = thinned(chosen(points, std::not_fn(is_of)));
    unknown.add(own, fitted(FitOf::model, all, rest, 30));
    held[m] = held_out(known, own);
    const LogErrors& errors = held[m].of_model;
    of_all.ttft.insert(of_all.ttft.end(), errors.ttft.begin(), errors.ttft.end());
    of_all.tpot.insert(of_all.tpot.end(), errors.tpot.begin(), errors.tpot.end());
  }
  unknown.tpot = widened(std::move(unknown.tpot));
  std::printf("%s\n  \"other_device\": {\"ttft\": %s, \"tpot\": %s},\n    %s", engine.c_str(),
              ratios(elsewhere.ttft, {}).dump().c_str(),
              ratios(widened(elsewhere.tpot), {}).dump().c_str(),
              set_of("", points, all, unknown, {}).dump().c_str());
  for (const std::string& m : models) {
    const Points own = chosen(points, [&](const ServedRow& r) { return r.model == m; });
    if (own.size() >= rows_least) print_sets(m, own, known, held[m], of_all);
  }
  std::printf("\n");
}

std::vector<ServedRow> named_rows() {
  const char* const file = std::getenv("HALMARK_SERVED_ROWS");
  if (file == nullptr) throw std::runtime_error("name what scripts/accuracy --table wrote");
  return read_served_rows(file);
}

// A server whose prompts have workers of their own, as measured and by terms that have seen none.
struct Apart {
  std::string engine, group;
  double ttft_ns, tpot_ns, predicted_ttft_ns, predicted_tpot_ns;
};

std::vector<Apart> servers_apart(const std::vector<ServedRow>& rows) {
  std::vector<Apart> out;
  for (const ServedRow& row : rows) {
    if (!row.apart) continue;
    try {
      const auto s = tune::simulate_serving(question_of(row), {in_source("/configs/models")},
                                            {in_source("/configs/devices")});
      const double way_ns =
          serving::fitted_terms(row.engine, row.model, row.device, row.named().release).apart_ns;
      out.push_back({row.engine, row.engine + ' ' + row.device + ' ' + row.release,
                     row.ttft_ms * 1e6, row.tpot_ms * 1e6, s.summary.ttft.mean - way_ns,
                     s.summary.tpot.mean});
    } catch (const Error&) {  // what is not answered has no error
    }
  }
  return out;
}

// That leaves TTFT the least error, each at most 1; a longer way moves it by as much.
double best_way_ns(const std::vector<Apart>& servers) {
  double best = 0, least = 1e300;
  for (double way_ns = 0; way_ns <= 1e9; way_ns += 5e6) {
    double sum = 0;
    for (const Apart& s : servers) {
      sum += std::min(1.0, std::abs(std::log(s.ttft_ns / (s.predicted_ttft_ns + way_ns))));
    }
    if (sum < least) least = sum, best = way_ns;
  }
  return best;
}

LogErrors errors_of(const std::vector<Apart>& servers, double way_ns) {
  LogErrors out;
  for (const Apart& s : servers) {
    out.ttft.push_back(std::log(s.ttft_ns / (s.predicted_ttft_ns + way_ns)));
    out.tpot.push_back(std::log(s.tpot_ns / s.predicted_tpot_ns));
  }
  return out;
}

std::vector<Apart> those(const std::vector<Apart>& servers,
                         const std::function<bool(const Apart&)>& is_wanted) {
  std::vector<Apart> out;
  std::ranges::copy_if(servers, std::back_inserter(out), is_wanted);
  return out;
}

// Errors of each group by the way of the engine's others.
LogErrors errors_left_out(const std::vector<Apart>& servers) {
  std::set<std::string> groups;
  for (const Apart& s : servers) groups.insert(s.group);
  LogErrors out;
  for (const std::string& group : groups) {
    const auto is_of = [&](const Apart& s) { return s.group == group; };
    const auto rest = those(servers, std::not_fn(is_of));
    const LogErrors own =
        errors_of(those(servers, is_of), best_way_ns(rest.empty() ? servers : rest));
    out.ttft.insert(out.ttft.end(), own.ttft.begin(), own.ttft.end());
    out.tpot.insert(out.tpot.end(), own.tpot.begin(), own.tpot.end());
  }
  return out;
}

// Within minutes, of the shipped terms.
TEST(ServedDeployments, DISABLED_disaggregated_servers_are_refitted) {
  const std::vector<Apart> all = servers_apart(named_rows());
  for (const std::string& engine : serving::fitted_engines()) {
    const auto is_of = [&](const Apart& s) { return s.engine == engine; };
    const std::vector<Apart> own = those(all, is_of);
    const LogErrors errors = errors_left_out(own),
                    others = errors_left_out(those(all, std::not_fn(is_of)));
    std::printf(
        "%s, %zu rows\n  \"disaggregated\": {\"way_ns\": %.0f, \"ttft\": %s, \"tpot\": %s},\n",
        engine.c_str(), own.size(), best_way_ns(own),
        ratios(errors.ttft, others.ttft).dump().c_str(),
        ratios(errors.tpot, others.tpot).dump().c_str());
  }
  for (const Apart& s : all) {
    std::printf("# %s %g %g %g %g\n", s.group.c_str(), s.ttft_ns, s.predicted_ttft_ns, s.tpot_ns,
                s.predicted_tpot_ns);
  }
}

TEST(ServedDeployments, DISABLED_terms_are_refitted) {
  const ServedPoints all(named_rows());
  const char* const only = std::getenv("HALMARK_ENGINE");
  for (const std::string& engine : serving::fitted_engines()) {
    if (only != nullptr && engine != only) continue;
    Points points;
    for (const auto& p : all.points()) {
      if (p.row->engine == engine && p.row->is_of_one_server()) points.push_back(&p);
    }
    fit_engine(engine, points);
  }
}

}  // namespace
}  // namespace halmark::test
