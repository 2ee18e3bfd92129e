#include "plan/toml/load_file.hpp"

#include "core/text/error.hpp"
#include "plan/served_sweep.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

RequestLoad read(const TomlTable& root) {
  RequestLoad out;
  for (const TomlTable& table : root.tables("bucket")) {
    out.buckets.push_back(
        {.request = {.input_tokens = table.integer("input_tokens", 1, tokens_max),
                     .output_tokens = table.integer("output_tokens", 1, tokens_max)},
         .requests_per_s = table.number("requests_per_s", 1e-9, 1e9)});
  }
  if (out.buckets.empty() || out.buckets.size() > buckets_max) {
    throw refused(std::to_string(out.buckets.size()) + " buckets of requests", root.where("bucket"),
                  "1 to " + std::to_string(buckets_max) +
                      ": [[bucket]] with input_tokens, output_tokens and requests_per_s");
  }
  if (const auto slo = root.table("slo")) out.levels = read_service_levels(*slo);
  root.finish();
  return out;
}

}  // namespace

std::string LoadBucket::text() const {
  return std::to_string(request.input_tokens) + " + " + std::to_string(request.output_tokens) +
         " tokens";
}

RequestLoad read_load(const std::string& path) { return read(TomlTable::parse_file(path, "load")); }

RequestLoad parse_load(std::string_view text, std::string_view where) {
  return read(TomlTable::parse(text, where));
}

}  // namespace halmark
