#include "report/searched_front.hpp"

namespace halmark {

SearchedFront searched_front(const ServedReport& report, SearchedFront out) {
  out.title = report.title;
  out.model = report.model;
  out.command = report.command;
  out.basis = report.basis;
  out.engine = report.engine;
  out.objectives = report.objectives;
  out.levels = report.levels;
  out.configurations = report.configurations;
  if (report.front.empty()) out.nearest_miss = nearest_miss(report);
  for (const ServedPoint& p : report.front) {
    out.points.push_back({.configuration = p.configuration, .served = p.estimate});
  }
  return out;
}

SearchedFront searched_front(const RunReport& report, SearchedFront out) {
  out.title = report.title;
  out.model = report.model;
  out.command = report.command;
  out.basis = report.machine;
  out.configurations = report.evaluations.size();
  for (const std::string& name : report.objectives) {
    if (const auto objective = parse_objective(name)) out.objectives.push_back(*objective);
  }
  for (const FrontPoint& p : report.front) {
    out.points.push_back(report.evaluations[p.evaluation]);
  }
  return out;
}

std::optional<ServedReport> served_report(const SearchedFront& front) {
  ServedReport out{.title = front.title, .model = front.model, .command = front.command};
  out.basis = front.basis;
  out.objectives = front.objectives;
  out.levels = front.levels;
  out.configurations = out.possible = front.configurations;
  out.engine = front.engine;
  for (const Evaluation& e : front.points) {
    if (!e.served || !e.configuration.served) return std::nullopt;
    out.request = e.configuration.served->request;
    out.front.push_back({.configuration = e.configuration, .estimate = *e.served});
  }
  return out;
}

}  // namespace halmark
