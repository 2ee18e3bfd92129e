#include "core/json/json.hpp"
#include "core/measured/engine_step.hpp"
#include "core/text/digest.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "deploy/deploy_check.hpp"
#include "export/engine/launch_text.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::deploy {
namespace {

std::string command_text(const exports::Launch& launch) {
  return join(exports::server_words(launch, 0), " ", shell_word);
}

Json point_json(const CheckedPoint& p) {
  const Deployment& d = p.planned.deployment;
  return {{"point", d.point_name},
          {"key", d.configuration().key()},
          {"phase", p.measured.phase},
          {"predicted_ns", p.predicted_ns},
          {"predicted_low_ns", p.low_ns},
          {"predicted_high_ns", p.high_ns},
          {"predicted_from", d.provenance},
          {"measured", p.measured},
          {"measured_over_predicted", p.measured.step_ns / p.predicted_ns},
          {"command", exports::server_words(p.planned.launch, 0)},
          {"changed", p.added}};
}

}  // namespace

report::View check_view(const std::vector<CheckedPoint>& points) {
  report::TextTable table({"step", "configuration", ">predicted", ">interval", "from",
                           ">engine measured", ">deviation", ">of", ">engine / predicted"});
  report::View out;
  Json list = Json::array();
  std::string lines;
  for (const CheckedPoint& p : points) {
    const Deployment& d = p.planned.deployment;
    table.add({p.measured.phase, report::clean_text(d.configuration().key()),
               report::duration_text(p.predicted_ns),
               report::duration_range_text(p.low_ns, p.high_ns), report::clean_text(d.provenance),
               report::duration_text(p.measured.step_ns),
               report::duration_text(p.measured.deviation_ns.value_or(0)),
               std::to_string(p.measured.samples),
               report::significant_text(p.measured.step_ns / p.predicted_ns)});
    lines += report::clean_text(p.measured.phase + ": " + d.point_name + "; " + p.measured.how +
                                "; batch " + std::to_string(p.measured.batch)) +
             "\n  " + report::clean_text(command_text(p.planned.launch)) + '\n';
    list.push_back(point_json(p));
  }
  if (!points.empty()) {
    const CheckedPoint& first = points.front();
    lines += report::clean_text(first.measured.engine + " " + first.measured.engine_version +
                                " on " + first.measured.device + ", " + first.measured.model) +
             '\n';
    for (const std::string& change : first.added) lines += "  set for the check: " + change + '\n';
  }
  out.data["points"] = std::move(list);
  out.text = table.text() + lines;
  return out;
}

EngineImport import_of(const std::vector<CheckedPoint>& points, const std::string& utc) {
  EngineImport out{
      .tool = "deploy-check", .file = {}, .file_sha256 = {}, .imported_utc = utc, .steps = {}};
  std::string commands;
  for (const CheckedPoint& p : points) {
    append_item(out.file, "; ", p.planned.deployment.point_name);
    commands += command_text(p.planned.launch) + '\n';
    out.steps.push_back(p.measured);
  }
  out.file_sha256 = sha256_of(commands);
  return out;
}

}  // namespace halmark::deploy
