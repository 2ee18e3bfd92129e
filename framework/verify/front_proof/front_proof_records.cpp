#include "verify/front_proof/front_proof_records.hpp"

#include <map>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "verify/front_proof/front_proof_findings.hpp"
#include "verify/front_proof/front_proof_values.hpp"

namespace halmark::front_proof {
namespace {

constexpr int known_version = 2;  // the last one; readers take all before it
constexpr std::size_t formula_depth_max = 64;

Node::Op operation_of(const std::string& name) {
  using Op = Node::Op;
  static const std::map<std::string, Op> known = {{"sum", Op::sum},       {"max", Op::max},
                                                  {"min", Op::min},       {"scale", Op::scale},
                                                  {"divide", Op::divide}, {"rate", Op::rate}};
  const auto* at = find_value(known, name);
  if (!at) throw std::invalid_argument("unknown operation '" + name + "'");
  return *at;
}

Node node_of(const Proof& proof, const Json& json, std::size_t depth = 0) {
  if (depth > formula_depth_max) throw std::invalid_argument("a formula is too deep");
  if (json.is_number()) return {.op = Node::Op::number, .number = json.get<double>()};
  if (json.is_string()) {
    return {.op = Node::Op::fact, .index = named(json.get<std::string>(), proof.fact_names)};
  }
  const auto name = json.at(0).get<std::string>();
  if ((name == "kernel" || name == "slot") && json.size() != 2) {
    throw std::invalid_argument("'" + name + "' is not of one thing");
  }
  if (name == "kernel") return {.op = Node::Op::kernel, .index = value_of<std::size_t>(json.at(1))};
  if (name == "slot") {
    const auto slot = named(json.at(1).get<std::string>(), proof.slot_names);
    return {.op = Node::Op::slot, .index = slot};
  }
  Node out{.op = operation_of(name)};
  for (std::size_t i = 1; i < json.size(); ++i) {
    out.operands.push_back(node_of(proof, json.at(i), depth + 1));
  }
  return out;
}

std::vector<Node> formulas_of(const Proof& proof, const Json& list) {
  return mapped(list, [&](const Json& formula) { return node_of(proof, formula); });
}

void read_header(Proof& proof, const Json& r) {
  if (r.at("record") != "header") throw std::invalid_argument("the first record is no header");
  proof.version = field<int>(r, "version");
  proof.plan_hash = field<std::string>(r, "plan");
  for (const Json& o : r.at("objectives")) {
    proof.objectives.push_back({field<std::string>(o, "name"),
                                is_first(o.at("sign"), "maximize", "minimize"),
                                field<std::string>(o, "unit")});
  }
  for (const Json& p : r.at("peaks")) {
    proof.peaks.push_back({field<double>(p, "value"), field<double>(p, "safety"),
                           is_first(p.at("counts"), "operations", "bytes"),
                           field<std::string>(p, "id"), field<std::string>(p, "unit"),
                           field<std::string>(p, "source")});
  }
  proof.fronts = field<std::vector<std::string>>(r, "fronts");
  proof.time_units_per_s = field<double>(r, "time_units_per_s");
  proof.alpha = field<double>(r, "alpha");
  proof.eps = field<double>(r, "eps");
  proof.run = field<std::int64_t>(r, "run");
  proof.run_objective = field<std::int64_t>(r, "run_objective");
  proof.is_definition = is_first(r.at("composition").at("is"), "definition", "model");
}

DeviceRecord device_of(const Json& r, std::size_t line) {
  return {line, field<std::string>(r, "text"), field<int>(r, "threads")};
}

TargetRecord target_of(const Json& r, std::size_t line) {
  TargetRecord out{.line = line,
                   .backend = field<std::string>(r, "backend"),
                   .device = field<std::string>(r, "device"),
                   .cores = field<int>(r, "cores"),
                   .memory_bytes = field<std::int64_t>(r, "memory_bytes"),
                   .ring_plateau_bytes = {},
                   .has_bf16 = field<bool>(r, "has_bf16"),
                   .kernel_order = field<std::vector<std::size_t>>(r, "kernel_order")};
  const Json& plateau = r.at("ring_plateau_bytes");
  if (!plateau.is_null()) out.ring_plateau_bytes = value_of<std::int64_t>(plateau);
  return out;
}

template <typename T>
void set_once(std::optional<T>& record, T value) {
  if (record) throw Broken(value.line, "there are two records of this kind");
  record = std::move(value);
}

// Whether it was a record of what the proof is about; only version 2 and later have these.
bool read_context(Proof& proof, const std::string& what, const Json& r, std::size_t line) {
  if (proof.version < 2) return false;
  if (what == "plan") {
    set_once(proof.plan, {line, field<std::string>(r, "text")});
  } else if (what == "device") {
    set_once(proof.device, device_of(r, line));
  } else if (what == "model") {
    set_once(proof.model, {line, field<std::string>(r, "id"), field<std::string>(r, "config")});
  } else if (what == "target") {
    set_once(proof.target, target_of(r, line));
  } else {
    return false;
  }
  return true;
}

void read_space(Proof& proof, const Json& r, std::size_t line) {
  if (proof.space_line != 0) throw Broken(line, "there are two records of this kind");
  proof.space_line = line;
  for (const Json& d : r.at("domains")) {
    proof.domains.push_back(
        {field<std::string>(d, "name"), field<std::vector<std::string>>(d, "values")});
  }
  for (const Json& c : r.at("constraints")) {
    proof.constraints.push_back(
        {field<std::string>(c, "name"), field<std::string>(c, "expression")});
  }
  proof.combinations = field<std::uint64_t>(r, "combinations");
  proof.configurations = field<std::uint64_t>(r, "configurations");
}

template <typename T>
Table<T> table_of(const Proof& proof, const Json& r, std::size_t line, const char* values) {
  Table<T> out{.line = line, .values = field<std::vector<T>>(r, values)};
  for (const Json& name : r.at("over")) {
    out.over.push_back(domain_of(proof, name.get<std::string>()));
  }
  return out;
}

void read_config(Proof& proof, const Json& r, std::size_t line) {
  const auto at = field<std::vector<std::size_t>>(r, "at");
  Config config{line, field<std::size_t>(r, "front"), formulas_of(proof, r.at("objectives"))};
  if (!proof.configs.emplace(at, std::move(config)).second) {
    throw Broken(line, "this configuration is listed twice");
  }
}

void read_kernel(Proof& proof, const Json& r, std::size_t line) {
  if (field<std::size_t>(r, "id") != proof.kernels.size()) {
    throw Broken(line, "kernels are not numbered in order");
  }
  Kernel out{.line = line,
             .key = field<std::string>(r, "key"),
             .operations = field<double>(r, "operations"),
             .bytes = field<double>(r, "bytes"),
             .bound = field<double>(r, "bound"),
             .is_failed = r.contains("failed")};
  for (const Json& t : r.at("terms")) {
    out.terms.push_back({field<std::size_t>(t, "peak"), field<double>(t, "amount")});
  }
  if (r.contains("interval")) {
    out.interval = range_of(r.at("interval"));
    out.confidence = field<double>(r, "confidence");
    out.rounds = field<std::vector<int>>(r, "rounds");
    out.medians = field<std::vector<double>>(r, "medians");
  }
  proof.kernels.push_back(std::move(out));
}

void read_record(Proof& proof, const Json& r, std::size_t line) {
  const auto what = field<std::string>(r, "record");
  if (what == "space") {
    read_space(proof, r, line);
  } else if (what == "fact") {
    proof.fact_names.push_back(field<std::string>(r, "name"));
    proof.facts.push_back(table_of<double>(proof, r, line, "values"));
  } else if (what == "slot") {
    proof.slot_names.push_back(field<std::string>(r, "name"));
    proof.slots.push_back(table_of<std::size_t>(proof, r, line, "kernels"));
  } else if (what == "formula") {
    proof.formulas = formulas_of(proof, r.at("objectives"));
  } else if (what == "config") {
    read_config(proof, r, line);
  } else if (what == "kernel") {
    read_kernel(proof, r, line);
  } else if (what == "alarm") {
    proof.alarms.push_back(alarm_of(r, line));
  } else if (what == "leaf") {
    proof.leaves.push_back(leaf_of(proof, r, line));
  } else if (what == "front") {
    proof.front.push_back(front_point_of(r, line));
  } else if (what == "trailer") {
    proof.trailer = trailer_of(r, line);
  } else if (!read_context(proof, what, r, line)) {
    throw Broken(line, "unknown record '" + what + "'");
  }
}

Json record_of(std::string_view text, std::size_t line) {
  try {
    return parse_json(text, "proof");
  } catch (const Error& e) {
    throw Unreadable(line, e.line());
  }
}

void check_format(const Json& header) {
  const bool is_ours = header.is_object() && header.value("format", "") == "halmark-front-proof";
  if (!is_ours) throw Unreadable(1, "this is no front proof of halmark");
  const Json version = header.value("version", Json());
  const bool is_known = version.is_number_integer() && version >= 1 && version <= known_version;
  if (!is_known) {
    throw Unreadable(1, "version " + version.dump() +
                            " of the format is not known here, only 1 to " +
                            std::to_string(known_version));
  }
  const Json composition = header.value("composition", Json::object());
  if (composition.value("id", "") != "formula" || composition.value("version", 0) != 1) {
    throw Unreadable(1, "the composition is of a kind that is not known here");
  }
}

}  // namespace

Proof read_proof(std::string_view text) {
  if (text.empty() || text.back() != '\n') throw Unreadable(0, "the proof is truncated");
  Proof proof;
  std::size_t line = 0;
  bool has_ended = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    ++line;
    if (has_ended) throw Broken(line, "records follow after the trailer");
    const Json record = record_of(text.substr(begin, end - begin), line);
    try {
      if (line == 1) {
        check_format(record);
        read_header(proof, record);
      } else {
        read_record(proof, record, line);
      }
    } catch (const Broken&) {
      throw;
    } catch (const std::exception& e) {
      throw Broken(line, std::string("the record cannot be read: ") + e.what());
    }
    has_ended = record.value("record", "") == "trailer";
    if (has_ended) proof.hashed = text.substr(0, begin);
    begin = end + 1;
  }
  if (!has_ended) throw Unreadable(line, "the proof is truncated: it has no trailer");
  return proof;
}

}  // namespace halmark::front_proof
