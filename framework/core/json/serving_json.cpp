// Served loads and their estimates as JSON. An absent figure is null; which fact is missing says
// who writes a report.
#include <stdexcept>

#include "core/json/json_fields.hpp"

namespace halmark {

using json_fields::number;

void to_json(Json& out, const RequestShape& value) {
  out = Json{{"input_tokens", value.input_tokens}, {"output_tokens", value.output_tokens}};
}

void from_json(const Json& in, RequestShape& value) {
  value = {.input_tokens = in.at("input_tokens").get<std::int64_t>(),
           .output_tokens = in.at("output_tokens").get<std::int64_t>()};
}

void to_json(Json& out, const ServedLoad& value) {
  out = Json{{"request", value.request},
             {"concurrency", value.concurrency},
             {"token_budget", value.token_budget},
             {"mode", std::string(serving_mode_name(value.mode))}};
  if (value.mode == ServingMode::aggregated) return;
  out["prefill_parallel"] = value.prefill;
  out["prefill_workers"] = value.prefill_workers;
  out["decode_workers"] = value.decode_workers;
}

void from_json(const Json& in, ServedLoad& value) {
  const auto mode = parse_serving_mode(in.at("mode").get<std::string>());
  if (!mode) throw std::invalid_argument("unknown serving mode");
  value = {.request = in.at("request").get<RequestShape>(),
           .concurrency = in.at("concurrency").get<std::int64_t>(),
           .token_budget = in.at("token_budget").get<std::int64_t>(),
           .mode = *mode};
  if (*mode == ServingMode::aggregated) return;
  value.prefill = in.at("prefill_parallel").get<Parallel>();
  value.prefill_workers = in.at("prefill_workers").get<int>();
  value.decode_workers = in.at("decode_workers").get<int>();
}

void to_json(Json& out, const ServingFigures& f) {
  out = Json{{"ttft_ns", f.ttft_ns},
             {"tpot_ns", f.tpot_ns},
             {"request_ns", f.request_ns},
             {"requests_per_s", f.requests_per_s},
             {"tokens_per_s", f.tokens_per_s},
             {"tokens_per_s_per_device", f.tokens_per_s_per_device},
             {"memory_bytes_per_rank", f.memory_bytes_per_rank},
             {"memory_bytes", f.memory_bytes},
             {"energy_j_per_token", optional_number(f.energy_j_per_token)},
             {"usd_per_million_tokens", optional_number(f.usd_per_million_tokens)},
             {"mfu", optional_number(f.mfu)}};
}

void from_json(const Json& in, ServingFigures& f) {
  f = {.ttft_ns = in.at("ttft_ns").get<double>(),
       .tpot_ns = in.at("tpot_ns").get<double>(),
       .request_ns = in.at("request_ns").get<double>(),
       .requests_per_s = in.at("requests_per_s").get<double>(),
       .tokens_per_s = in.at("tokens_per_s").get<double>(),
       .tokens_per_s_per_device = in.at("tokens_per_s_per_device").get<double>(),
       .memory_bytes_per_rank = in.at("memory_bytes_per_rank").get<std::int64_t>(),
       .memory_bytes = in.at("memory_bytes").get<std::int64_t>(),
       .energy_j_per_token = number(in, "energy_j_per_token"),
       .usd_per_million_tokens = number(in, "usd_per_million_tokens"),
       .mfu = number(in, "mfu")};
}

void to_json(Json& out, const ServedEstimate& e) {
  out = Json{
      {"figures", e.figures}, {"is_saturated", e.is_saturated}, {"has_interval", e.has_interval}};
  if (!e.has_interval) return;
  out["fast"] = e.fast;
  out["slow"] = e.slow;
}

void from_json(const Json& in, ServedEstimate& e) {
  e.figures = in.at("figures").get<ServingFigures>();
  e.is_saturated = in.at("is_saturated").get<bool>();
  e.has_interval = in.at("has_interval").get<bool>();
  e.fast = e.has_interval ? in.at("fast").get<ServingFigures>() : e.figures;
  e.slow = e.has_interval ? in.at("slow").get<ServingFigures>() : e.figures;
}

}  // namespace halmark
