#include "training_memory_rows.hpp"

#include "core/json/json.hpp"
#include "tests/checkout.hpp"

namespace halmark::published {

namespace {

// The shipped configuration, for sequences as long as the run had them.
std::string config_of(const std::string& model, long sequence) {
  const std::string file = test::in_source("/configs/models/") + model + ".json";
  Json config = read_json_file(file)["config"];
  config["max_position_embeddings"] = sequence;
  return config.dump();
}

MemoryRow read(const Json& row) {
  const auto number = [&](const char* key) { return std::to_string(row.at(key).get<long>()); };
  const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
  const long batch = row.at("local_batch").get<long>() * row.at("dp").get<long>();
  MemoryRow out{.name = text("model") + ", table " + text("table"),
                .config = config_of(text("model"), row.at("seq").get<long>()),
                .arguments = {"--phase", "training", "--dtype", "bf16", "--new-tokens",
                              number("seq"), "--batch", std::to_string(batch), "--micro-batch",
                              number("micro_batch"), "--recompute", text("recompute"), "--loss",
                              text("loss"), "--zero", number("zero"), "--gradients", "f32"},
                .printed_gib = row.at("memory_gib").get<double>(),
                .kind = text("memory")};
  for (const char* degree : {"dp", "tp", "pp", "cp"}) {
    out.arguments.insert(out.arguments.end(), {"--" + std::string(degree), number(degree)});
  }
  if (row.at("tp").get<long>() > 1) out.arguments.emplace_back("--sequence-parallel");
  return out;
}

}  // namespace

std::vector<MemoryRow> memory_rows() {
  const Json json = read_json_file(test::in_source("/tests/data/published_memory.json"));
  std::vector<MemoryRow> out;
  for (const Json& row : json["rows"]) out.push_back(read(row));
  return out;
}

}  // namespace halmark::published
