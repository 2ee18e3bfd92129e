#include "export/front_list.hpp"

#include "core/json/json.hpp"
#include "report/served_report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"

namespace halmark::exports {

report::View front_list(const SearchedFront& front) {
  report::View out;
  std::vector<std::string> header = {"point", "configuration"};
  std::vector<bool> is_right = {true, false};
  for (const Objective o : front.objectives) {
    header.emplace_back(row_of(o).title);
    is_right.push_back(true);
  }
  report::TextTable table(header, is_right);
  Json points = Json::array();
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    const Evaluation& e = front.points[i];
    const std::string key = e.configuration.key();
    std::vector<std::string> cells = {
        std::to_string(i + 1),
        report::clean_text(e.configuration.served ? served_label(e.configuration) : key)};
    Json figures = Json::object();
    for (const Objective o : front.objectives) {
      const auto value = objective_value(e, o);
      cells.push_back(value ? objective_text(o, *value) : "-");
      figures[std::string(objective_name(o))] = optional_number(value);
    }
    table.add(cells);
    points.push_back({{"point", i + 1}, {"key", key}, {"figures", figures}});
  }
  out.data = {{"origin", front.origin},
              {"title", front.title},
              {"model", front.model},
              {"started_utc", front.started_utc},
              {"points", points}};
  out.text = report::clean_text(front.title + ": " + front.model + ", " + front.origin) + '\n' +
             (front.points.empty() ? "no point\n" : table.text());
  return out;
}

}  // namespace halmark::exports
