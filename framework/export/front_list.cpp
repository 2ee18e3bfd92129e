#include "export/front_list.hpp"

#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "report/choice/grouping.hpp"
#include "report/served_report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"

namespace halmark::exports {

namespace {

std::string label_of(const Evaluation& e) {
  return report::clean_text(e.configuration.served ? served_label(e.configuration)
                                                   : e.configuration.key());
}

std::string numbers_text(const std::vector<std::size_t>& points) {
  return join(points, ", ", [](const std::size_t i) { return std::to_string(i + 1); });
}

Json point_json(const SearchedFront& front, std::size_t i, std::size_t representative) {
  Json figures = Json::object();
  for (const Objective o : front.objectives) {
    figures[std::string(objective_name(o))] = optional_number(objective_value(front.points[i], o));
  }
  return {{"point", i + 1},
          {"key", front.points[i].configuration.key()},
          {"alike", representative + 1},
          {"figures", figures}};
}

}  // namespace

report::View front_list(const SearchedFront& front, double share) {
  std::vector<std::string> header = {"point", "configuration"};
  for (const Objective o : front.objectives) header.emplace_back(row_of(o).title);
  std::vector<bool> is_right(header.size(), true);
  is_right[1] = false;
  header.emplace_back("and alike");
  report::TextTable table(header, is_right);
  Json points = Json::array();
  const auto groups = group_points(front.points, front.objectives, share);
  std::vector<std::size_t> stands_for(front.points.size());
  for (const PointGroup& group : groups) {
    const Evaluation& e = front.points[group.representative];
    stands_for[group.representative] = group.representative;
    for (const std::size_t i : group.others) stands_for[i] = group.representative;
    std::vector<std::string> cells = {std::to_string(group.representative + 1), label_of(e)};
    for (const Objective o : front.objectives) {
      const auto value = objective_value(e, o);
      cells.push_back(value ? objective_text(o, *value) : "-");
    }
    cells.push_back(numbers_text(group.others));
    table.add(cells);
  }
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    points.push_back(point_json(front, i, stands_for[i]));
  }
  report::View out;
  out.data = {{"origin", front.origin},           {"title", front.title},    {"model", front.model},
              {"started_utc", front.started_utc}, {"groups", groups.size()}, {"points", points}};
  out.text = report::clean_text(front.title + ": " + front.model + ", " + front.origin) + '\n' +
             (front.points.empty() ? "no point\n" : table.text());
  return out;
}

report::View pick_view(const SearchedFront& front, const Pick& pick) {
  const Evaluation& e = front.points[pick.index];
  const std::string key = e.configuration.key();
  report::View out;
  out.data = {{"point", pick.index + 1},
              {"key", key},
              {"because", pick.because},
              {"gives_up", pick.gives_up}};
  out.text =
      report::clean_text("point " + std::to_string(pick.index + 1) + " of " + front.origin + ": ") +
      label_of(e) + "\n  " + pick.because + '\n';
  for (const std::string& line : pick.gives_up) out.text += "  gives up: " + line + '\n';
  return out;
}

}  // namespace halmark::exports
