// What `export`, `tune` and `report` share: the chosen point of a front, in its report and written
// as an engine wants it.
#pragma once

#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "export/request.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"

namespace halmark::pages {

// Throws Error (exit 2) what exported_point would throw of the options alone.
void check_export(const exports::ExportRequest& request);
Deployment deployment_at(const SearchedFront& front, std::size_t index,
                         const exports::ExportRequest& request);
// Of the points that the engine of the request can run; of all where there is none.
Pick chosen_point(const SearchedFront& front, const std::string& how,
                  const exports::ExportRequest& request);
report::View exported_point(const SearchedFront& front, const Pick& pick,
                            const exports::ExportRequest& request);

// Which point, what is written of it, and the database of the line to type next ("" = the usual).
struct PointRequest {
  std::string how;
  exports::ExportRequest written;
  std::string database;
};
// Of requests the point stands above the front, of steps below it; what is exported below both. The
// text of that, and both in the document.
std::string take_point(RunReport& report, const SearchedFront& front, const PointRequest& request,
                       Json& document);
std::string take_point(ServedReport& report, const SearchedFront& front,
                       const PointRequest& request, Json& document);

// Of a search that is kept as a study, and written to `files`. Throws Error (exit 2) for files of a
// search over steps, of which the list of its points is all that is kept.
report::View front_report(const SearchedFront& front, const std::string& database,
                          const std::vector<std::string>& files, bool color, int width);

}  // namespace halmark::pages
