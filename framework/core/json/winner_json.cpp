#include "core/json/winner_json.hpp"

#include <stdexcept>

#include "core/json/json.hpp"

namespace halmark {
namespace {

Status status_in(const Json& in) {
  const auto status = parse_status(in.at("status").get<std::string>());
  if (!status) throw std::invalid_argument("unknown status");
  return *status;
}

}  // namespace

void to_json(Json& out, const Variant& value) {
  out = Json{{"kernel", value.kernel}, {"config", value.config}, {"is_default", value.is_default}};
}

void from_json(const Json& in, Variant& value) {
  value.kernel = in.at("kernel").get<std::string>();
  value.config = in.at("config").get<Config>();
  value.is_default = in.at("is_default").get<bool>();
}

void to_json(Json& out, const VariantTime& value) {
  out = Json{{"variant", value.variant}, {"implementation", value.implementation},
             {"ns", value.ns},           {"interval_ns", value.interval_ns},
             {"rounds", value.rounds},   {"status", std::string(status_name(value.status))},
             {"reason", value.reason},   {"is_tied", value.is_tied}};
}

void from_json(const Json& in, VariantTime& value) {
  value.variant = in.at("variant").get<Variant>();
  value.implementation = in.at("implementation").get<std::string>();
  value.ns = in.at("ns").get<double>();
  value.interval_ns = in.at("interval_ns").get<Interval>();
  value.rounds = in.at("rounds").get<int>();
  value.status = status_in(in);
  value.reason = in.at("reason").get<std::string>();
  value.is_tied = in.at("is_tied").get<bool>();
}

void to_json(Json& out, const Winner& value) {
  out = Json{{"question", value.question},
             {"plugin", {{"name", value.plugin_name}, {"hash", value.plugin_hash}}},
             {"chosen", value.chosen},
             {"status", std::string(status_name(value.status))},
             {"reason", value.reason},
             {"variants", value.variants}};
}

void from_json(const Json& in, Winner& value) {
  value.question = in.at("question").get<KernelCase>();
  value.plugin_name = in.at("plugin").at("name").get<std::string>();
  value.plugin_hash = in.at("plugin").at("hash").get<std::string>();
  value.chosen = in.at("chosen").get<Variant>();
  value.status = status_in(in);
  value.reason = in.at("reason").get<std::string>();
  value.variants = in.at("variants").get<std::vector<VariantTime>>();
}

}  // namespace halmark
