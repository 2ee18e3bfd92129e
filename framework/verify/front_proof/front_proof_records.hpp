// The records of a front proof as they are written; nothing about whether they are true.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::front_proof {

// Ends the check: a record that does not follow, or one that cannot be read at all.
struct Broken : std::runtime_error {
  Broken(std::size_t at, const std::string& why) : std::runtime_error(why), line(at) {}
  std::size_t line;
};
struct Unreadable : Broken {
  using Broken::Broken;
};

struct Range {
  double low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

struct Node {
  enum class Op { number, fact, kernel, slot, sum, max, min, scale, divide, rate };
  Op op = Op::number;
  double number = 0;
  std::size_t index = 0;  // of the fact, slot or kernel
  std::vector<Node> operands = {};
};

template <typename T>
struct Table {
  std::size_t line = 0;
  std::vector<std::size_t> over = {};  // domains
  std::vector<T> values = {};
};

struct Objective {
  std::string name;
  bool is_maximised = false;
  std::string unit = {};
};
struct Peak {
  double value = 0, safety = 0;
  bool counts_operations = false;
  std::string id = {}, unit = {}, source = {};
};
struct Domain {
  std::string name;
  std::vector<std::string> values;
};
struct ConstraintText {
  std::string name, expression;
};
struct Term {
  std::size_t peak = 0;
  double amount = 0;
};

struct Kernel {
  std::size_t line = 0;
  std::string key = {};
  double operations = 0, bytes = 0, bound = 0;
  std::vector<Term> terms = {};
  bool is_failed = false;
  std::optional<Range> interval = {};
  double confidence = 1;
  std::vector<int> rounds = {};
  std::vector<double> medians = {};
};

struct Alarm {
  std::size_t line = 0, kernel = 0, peak = 0;
  double low = 0, bound = 0, peak_before = 0, peak_after = 0;
};

struct Bound {
  std::vector<double> values = {};
  std::uint64_t by = 0;
  double gap = 0;
};

struct Leaf {
  enum class Kind { constraint, failed, dominated, evaluated, open };
  std::size_t line = 0;
  std::map<std::size_t, std::size_t> box = {};  // domain: level
  std::uint64_t configurations = 0;
  Kind kind = Kind::open;
  std::vector<std::size_t> constraints = {};
  std::size_t kernel = 0;
  std::optional<std::size_t> cut = {};
  std::vector<Bound> bounds = {};
  std::vector<Range> interval = {};
};

struct FrontPoint {
  std::size_t line = 0, front = 0;
  std::uint64_t config = 0;
  std::vector<Range> interval = {};
  std::vector<std::size_t> kernels = {};
  bool is_certain = false;
  std::optional<Range> run = {};
  double run_value = 0;
};

struct Trailer {
  std::size_t line = 0;
  std::string state = {}, sha256 = {};
  std::uint64_t configurations = 0, evaluated = 0, dominated = 0, failed = 0, open = 0;
  std::uint64_t kernels = 0, kernels_measured = 0, alarms = 0;
  double gap = 0;
  bool composition_confirmed = false;
};

// What a proof is about, from version 2 on: each as it was when the run began.
struct PlanRecord {
  std::size_t line = 0;
  std::string text;  // JSON, whose SHA-256 the header and the journal have
};
struct DeviceRecord {
  std::size_t line = 0;
  std::string text;  // device file; "" = no peaks are known, nothing is bounded
  int threads = 0;   // CPUs of the whole device
};
struct ModelRecord {
  std::size_t line = 0;
  std::string id, config;  // JSON, as Hugging Face writes it
};
// Where configurations run: what decides how the device is cut and how long rings are.
struct TargetRecord {
  std::size_t line = 0;
  std::string backend, device;
  int cores = 0;  // that shards share; 0 = each shard is a device of its own
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> ring_plateau_bytes;
  bool has_bf16 = true;                   // what lies between narrower linears is bf16, else f32
  std::vector<std::size_t> kernel_order;  // kernels in the order of the plan's SHA-256 of them
};

struct Config {
  std::size_t line = 0, front = 0;
  std::vector<Node> objectives = {};
};

struct Proof {
  int version = 1;
  std::string plan_hash;  // as the header states it
  std::optional<PlanRecord> plan;
  std::optional<DeviceRecord> device;
  std::optional<ModelRecord> model;
  std::optional<TargetRecord> target;
  std::vector<Objective> objectives;
  std::vector<std::string> fronts;
  std::vector<Peak> peaks;
  double time_units_per_s = 0, alpha = 0, eps = 0;
  std::int64_t run = 0;
  std::int64_t run_objective = -1;
  bool is_definition = false;
  std::size_t space_line = 0;
  std::vector<Domain> domains;
  std::vector<ConstraintText> constraints;
  std::uint64_t combinations = 0, configurations = 0;
  std::vector<std::string> fact_names, slot_names;
  std::vector<Table<double>> facts;
  std::vector<Table<std::size_t>> slots;
  std::vector<Node> formulas;                          // of every configuration, or
  std::map<std::vector<std::size_t>, Config> configs;  // each its own, by levels
  std::vector<Kernel> kernels;
  std::vector<Alarm> alarms;
  std::vector<Leaf> leaves;
  std::vector<FrontPoint> front;
  Trailer trailer;
  std::string_view hashed;  // the bytes before the trailer
};

// What was found out about a space without the proof's own word.
struct KnownSpace {
  std::map<std::uint64_t, std::string> keys;  // of configurations, by combination
  // By combination: the first constraint that leaves it out, -1 = none; empty = not known.
  std::vector<std::int32_t> left_out_by;
};

// Throws Unreadable: no proof, an unknown version, truncated. Throws Broken: a record that cannot
// be what it says it is.
Proof read_proof(std::string_view text);

}  // namespace halmark::front_proof
