// What keeping studies costs: a durable trial, asked and told, and the list of many.
#include <chrono>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "framework/study/front.hpp"
#include "framework/study/study.hpp"
#include "study/storage/open.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::size_t together = 64;  // trials of one transaction
constexpr std::size_t trials_durable = 64 * together;
constexpr std::size_t trials_listed = 100'000;

// Six parameters and three objectives, as many as the reference problem has.
SpaceDescription space() {
  SpaceDescription out;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    SearchDomain domain{.name = name, .kind = DomainKind::integer, .low = 0, .high = 31};
    out.domains.push_back(domain);
  }
  for (const char* name : {"latency", "throughput", "memory"}) {
    out.objectives.push_back({.name = name});
  }
  return out;
}

double seconds(const std::function<void()>& call) {
  const double begin = monotonic_ns();
  call();
  return (monotonic_ns() - begin) / 1e9;
}

StudyVerdict verdict_of(const StudyProposal& proposal) {
  const double x = proposal.trial;
  return {.trial = proposal.trial, .values = {x, 1e6 - x, x * x}};
}

void ask_and_tell(Study& study, std::size_t count) {
  std::vector<StudyVerdict> verdicts;
  for (const StudyProposal& proposal : study.ask(count)) verdicts.push_back(verdict_of(proposal));
  study.tell(verdicts);
}

// Asked, stored, told and stored again: two transactions for each batch.
void durable(Figures& figures, const std::string& kind, const ScratchFolder& folder) {
  const auto store =
      open_study_store(kind + ':' + (folder.path() / kind).string(), StudyAccess::or_create);
  Study study(*store, space(), {.name = "bench", .sampler = "random"});
  const double batches_s = seconds([&] {
    for (std::size_t i = 0; i < trials_durable; i += together) ask_and_tell(study, together);
  });
  const double ones_s = seconds([&] {
    for (std::size_t i = 0; i < together; ++i) ask_and_tell(study, 1);
  });
  figures.at_most("study_durable_trial_of_64_" + kind,
                  batches_s * 1e3 / static_cast<double>(trials_durable), "ms", 0.2);
  figures.report("study_durable_trial_alone_" + kind, ones_s * 1e3 / together, "ms");
}

// An ask and its tell while 10,000 other trials are running, by the same beside none.
void beside_running(Figures& figures, const std::string& kind, const ScratchFolder& folder) {
  const auto pairs_s = [&](const std::string& name, std::size_t running) {
    const std::string path = (folder.path() / (kind + "-running")).string();
    const auto store = open_study_store(kind + ':' + path, StudyAccess::or_create);
    Study study(*store, space(), {.name = name, .sampler = "random"});
    for (std::size_t asked = 0; asked < running; asked += 1000) study.ask(1000);
    ask_and_tell(study, 1);
    return seconds([&] {
      for (std::size_t i = 0; i < 4 * together; ++i) ask_and_tell(study, 1);
    });
  };
  const double alone_s = pairs_s("alone", 0);
  figures.at_most("study_ask_beside_10000_running_" + kind, pairs_s("beside", 10'000) / alone_s,
                  "ratio", 1.2);
}

std::vector<TrialRow> finished_rows(std::size_t count) {
  const Space points(space());
  std::vector<std::shared_ptr<const ParamDistribution>> distributions;
  for (const SearchDomain& domain : points.domains()) {
    distributions.push_back(std::make_shared<const ParamDistribution>(distribution_of(domain)));
  }
  std::vector<TrialRow> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    TrialRow& row = out[i];
    row.state = TrialState::complete;
    const Point point = points.point(i * 7919 % points.size());
    for (std::size_t d = 0; d < distributions.size(); ++d) {
      row.params.push_back({points.domains()[d].name, point[d], distributions[d]});
    }
    const auto x = static_cast<double>(i % 1000);
    row.values = {x, 1000 - x, x * x};
    row.system = {{std::string(worker_attribute), "\"bench\""}};
  }
  return out;
}

void many(Figures& figures, const std::string& kind, const ScratchFolder& folder) {
  const std::string location = kind + ':' + (folder.path() / (kind + "-many")).string();
  {
    const auto store = open_study_store(location, StudyAccess::or_create);
    std::vector<TrialRow> rows = finished_rows(trials_listed);
    store->transact([&](StudyTransaction& t) {
      StudyInfo info{.name = "many"};
      info.directions.assign(3, StudyDirection::minimize);
      t.create(t.create_study(info).id, rows);
    });
  }
  std::size_t seen = 0;
  const double list_s = seconds([&] {
    const auto store = open_study_store(location, StudyAccess::existing);
    seen = static_cast<std::size_t>(store->list().at(0).trials());
  });
  const double trials_s = seconds([&] {
    const auto store = open_study_store(location, StudyAccess::existing);
    const StudyInfo info = store->list().at(0).info;
    TrialCursor cursor;
    const std::vector<TrialRow> rows = store->trials(info.id, cursor);
    seen = std::min(seen, rows.size());
    if (study_front(info, rows).empty()) seen = 0;
  });
  if (seen != trials_listed) throw Error(ExitCode::incorrect, "trials are missing", location);
  const auto report = [&](const std::string& name, double value_s) {
    if (kind == "sqlite") {
      figures.at_most(name + kind, value_s, "s", 1);
    } else {
      figures.report(name + kind, value_s, "s");
    }
  };
  report("study_list_of_100000_trials_", list_s);
  report("study_trials_and_front_of_100000_", trials_s);
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    const ScratchFolder folder(test::in_build());
    for (const char* kind : {"sqlite", "journal"}) {
      durable(figures, kind, folder);
      beside_running(figures, kind, folder);
      many(figures, kind, folder);
    }
  });
}
