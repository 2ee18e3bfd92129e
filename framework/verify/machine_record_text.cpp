#include <fmt/format.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "verify/machine_record.hpp"

namespace halmark {

std::string first_fault(const MachineRecord& record) {
  const RecordCheck check = check_record(record);
  return check.findings.empty() ? "" : check.findings[0].where + ": " + check.findings[0].text;
}

std::string record_check_text(const RecordCheck& check, const std::string& path) {
  std::string out;
  for (const RecordFinding& f : check.findings) {
    out += fmt::format("{}: {}: {}\n", path, f.where, printable(f.text));
  }
  if (!check.findings.empty()) {
    return out + fmt::format("{}: {} findings\n", path, check.findings.size());
  }
  return fmt::format(
      "{}: a record of {}: {} kernels, {} samples in {} rounds, {} steps: everything follows from "
      "the samples\nwhether these were measured cannot be told: samples that are made up together "
      "with all that follows from them pass\n",
      path, printable(check.device), check.kernels, check.samples, check.rounds, check.steps);
}

Json record_check_json(const RecordCheck& check, const std::string& path) {
  const Json findings = json_list(check.findings, [](const RecordFinding& f) -> Json {
    return {{"where", f.where}, {"text", f.text}};
  });
  return {{"path", path},           {"device", check.device},   {"kernels", check.kernels},
          {"rounds", check.rounds}, {"samples", check.samples}, {"steps", check.steps},
          {"findings", findings}};
}

}  // namespace halmark
