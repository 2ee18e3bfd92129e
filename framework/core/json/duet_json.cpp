#include "core/json/duet_json.hpp"

#include <stdexcept>

#include "core/json/json.hpp"

namespace halmark {

void to_json(Json& out, const Duet& value) {
  out = Json{{"case", value.kernel_case},
             {"plugin", value.plugin_name},
             {"old_build", value.old_build},
             {"new_build", value.new_build},
             {"log_ratios", value.log_ratios},
             {"choosing_pairs", value.choosing_pairs},
             {"old_ns", value.old_ns},
             {"new_ns", value.new_ns},
             {"status", std::string(status_name(value.status))},
             {"reason", value.reason}};
  if (value.is_new_at_fault) out["is_new_at_fault"] = true;
}

void from_json(const Json& in, Duet& value) {
  const auto status = parse_status(in.at("status").get<std::string>());
  if (!status) throw std::invalid_argument("unknown status");
  value.kernel_case = in.at("case").get<KernelCase>();
  value.plugin_name = in.at("plugin").get<std::string>();
  value.old_build = in.at("old_build").get<std::string>();
  value.new_build = in.at("new_build").get<std::string>();
  value.log_ratios = in.at("log_ratios").get<std::vector<double>>();
  value.choosing_pairs = in.at("choosing_pairs").get<int>();
  value.old_ns = in.at("old_ns").get<double>();
  value.new_ns = in.at("new_ns").get<double>();
  value.status = *status;
  value.reason = in.at("reason").get<std::string>();
  value.is_new_at_fault = in.value("is_new_at_fault", false);
}

}  // namespace halmark
