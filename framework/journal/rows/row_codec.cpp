#include "journal/rows/row_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/measured/duet.hpp"
#include "core/text/digest.hpp"

namespace halmark::journal {
namespace {

template <class Value>
Value value_of(const Json& body) {
  if constexpr (ListedValue<Value>) {
    return body.get<Value>();
  } else {
    Value out;
    json_fields::read(body, out);
    return out;
  }
}

void put(std::string& out, double value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

class Doubles {
 public:
  explicit Doubles(std::string_view bytes) : bytes_(bytes) {}
  double next() {
    if (bytes_.size() < sizeof(double)) throw std::invalid_argument("sample block is too short");
    double value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  // Of items of at least one double each: what cannot be there is refused before memory is taken.
  std::size_t count() {
    const double value = next();
    const auto most = as_double(bytes_.size() / sizeof(double));
    if (!(value >= 0 && value <= most) || value != std::floor(value)) {
      throw std::invalid_argument("sample block does not have the number of values that it states");
    }
    return as_size(value);
  }
  std::int32_t set() {
    const double value = next();
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    if (!(value >= 0 && value <= most) || value != std::floor(value)) {
      throw std::invalid_argument("sample block names a set of operands that there is not");
    }
    return as_int(value);
  }
  bool is_at_end() const { return bytes_.empty(); }
  void finish() const {
    if (!bytes_.empty()) throw std::invalid_argument("sample block is too long");
  }

 private:
  std::string_view bytes_;
};

// Labels as runs {label, length}: a quiet row has one. Rows without labels end before them, as all
// rows did before there were labels.
void put_labels(std::string& out, const std::vector<Sample>& samples) {
  struct Run {
    SampleLabel label;
    double length;
  };
  std::vector<Run> runs;
  for (const Sample& s : samples) {
    if (runs.empty() || runs.back().label != s.label) runs.push_back({s.label, 0});
    ++runs.back().length;
  }
  const bool has_none = runs.size() == 1 && runs.front().label == SampleLabel::unlabelled;
  if (runs.empty() || has_none) return;
  put(out, as_double(runs.size()));
  for (const Run& run : runs) {
    put(out, as_double(run.label));
    put(out, run.length);
  }
}

SampleLabel label_from(double value) {
  for (const auto label : {SampleLabel::unlabelled, SampleLabel::clean, SampleLabel::disturbed}) {
    if (value == as_double(label)) return label;
  }
  throw std::invalid_argument("sample block has a label that there is not");
}

void take_labels(Doubles& in, std::vector<Sample>& samples) {
  const std::size_t runs = in.count();
  if (runs == 0) throw std::invalid_argument("sample block ends in no labels");
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const SampleLabel label = label_from(in.next());
    const double length = in.next();
    const auto left = as_double(samples.size() - at);
    if (!(length >= 1 && length <= left) || length != std::floor(length)) {
      throw std::invalid_argument("sample block labels more samples than it has");
    }
    for (const auto end = at + as_size(length); at < end; ++at) {
      samples[at].label = label;
    }
  }
  if (at != samples.size()) throw std::invalid_argument("sample block leaves samples unlabelled");
}

}  // namespace

std::string pack_samples(const Measurement& m) {
  std::string out;
  put(out, as_double(m.samples.size()));
  put(out, as_double(m.shard_wall_ns.size()));
  for (const Sample& s : m.samples) {
    put(out, s.wall_ns);
    put(out, s.cpu_ns);
    put(out, s.device_ns.value_or(-1));
    put(out, s.set);
  }
  for (const auto& series : m.shard_wall_ns) {
    put(out, as_double(series.size()));
    for (const double ns : series) put(out, ns);
  }
  put_labels(out, m.samples);
  return out;
}

void unpack_samples(std::string_view bytes, Measurement& m) {
  Doubles in(bytes);
  const std::size_t samples = in.count(), shards = in.count();
  m.samples.clear();
  for (std::size_t i = 0; i < samples; ++i) {
    Sample s{.wall_ns = in.next(), .cpu_ns = in.next()};
    const double device = in.next();
    if (device >= 0) s.device_ns = device;
    s.set = in.set();
    m.samples.push_back(s);
  }
  m.shard_wall_ns.assign(shards, {});
  for (auto& series : m.shard_wall_ns) {
    const std::size_t n = in.count();
    for (std::size_t i = 0; i < n; ++i) series.push_back(in.next());
  }
  if (!in.is_at_end()) take_labels(in, m.samples);
  in.finish();
}

namespace {

constexpr const char* block_key = "sample_block";  // in the body of a measurement

}  // namespace

void name_block(Json& body, const Measurement& m, std::string_view block) {
  body[block_key] = {{"samples", m.samples.size()}, {"sha256", sha256_of(block)}};
}

SampleBytes sample_bytes(const Json& body, std::string_view in_row,
                         const std::optional<std::string>& block) {
  using enum SampleBytes::State;
  if (!body.contains(block_key)) {
    if (block) return {unnamed, {}};
    return {in_row.empty() ? none : whole, in_row};
  }
  if (!block) return {missing, {}};
  const bool is_same = sha256_of(*block) == body.at(block_key).at("sha256").get<std::string>();
  return is_same ? SampleBytes{whole, *block} : SampleBytes{changed, {}};
}

std::string fault_of(SampleBytes::State state) {
  switch (state) {
    case SampleBytes::State::none:
    case SampleBytes::State::whole:
      break;
    case SampleBytes::State::missing:
      return "its samples are missing, and no row of its run retires them";
    case SampleBytes::State::changed:
      return "its samples are not those that it was stored with";
    case SampleBytes::State::unnamed:
      return "samples lie beside it that it does not name";
  }
  return {};
}

Measurement measurement_from(const Json& body, std::string_view samples) {
  Measurement m = body.get<Measurement>();
  const bool has_block = body.contains(block_key);
  const auto count = has_block ? body.at(block_key).at("samples").get<std::int64_t>() : 0;
  if (samples.empty()) {
    m.retired_samples = count;
    return m;
  }
  unpack_samples(samples, m);
  if (has_block && count != std::ssize(m.samples)) {
    throw std::invalid_argument("its block has another number of samples than it says");
  }
  return m;
}

namespace {

// Before pairs, kernels were measured once in front of the run and once behind it: what was called
// the prediction was their sum, and the printed latency was not kept.
Validation unpaired(Json in) {
  const double composed_ns = in.at("predicted_ns").get<double>();
  in.update({{"predicted_ns", nullptr},
             {"predicted_interval_ns", Interval()},
             {"step_ns", Json::array()},
             {"composition", nullptr},
             {"composition_reason", ""}});
  for (Json& op : in.at("operators")) op["composed_ns"] = op.at("predicted_ns");
  Validation out = in.get<Validation>();
  if (out.measured_ns > 0) {
    const double error = composed_ns / out.measured_ns - 1;
    out.composition = {
        .composed_ns = composed_ns, .error = error, .error_interval = {error, error}};
  }
  return out;
}

// Operators by number, times in whole nanoseconds: a rank executes hundreds of kernels.
struct PackedExecutions {
  std::vector<std::string> operators = {};
  std::vector<std::size_t> of = {};
  std::vector<std::int64_t> begin_ns = {}, ns = {};
};
template <class V, Of<PackedExecutions> M>
void fields(V& v, M& m) {
  v("operators", m.operators);
  v("of", m.of);
  v("begin_ns", m.begin_ns);
  v("ns", m.ns);
}

PackedExecutions packed(const RankExecutions& rank) {
  PackedExecutions out;
  std::map<std::string, std::size_t> numbers;
  for (const Execution& execution : rank) {
    const auto [at, is_new] = numbers.try_emplace(execution.operator_name, numbers.size());
    if (is_new) out.operators.push_back(execution.operator_name);
    out.of.push_back(at->second);
    out.begin_ns.push_back(std::llround(execution.begin_ns));
    out.ns.push_back(std::llround(execution.ns));
  }
  return out;
}

RankExecutions unpacked(const PackedExecutions& in) {
  if (in.begin_ns.size() != in.of.size() || in.ns.size() != in.of.size()) {
    throw std::invalid_argument("executions are cut short");
  }
  RankExecutions out;
  for (const auto i : indices(in.of)) {
    out.push_back({in.operators.at(in.of[i]), as_double(in.begin_ns[i]), as_double(in.ns[i])});
  }
  return out;
}

}  // namespace

Json validation_json(const Validation& v) {
  Json out = v;
  for (const RankExecutions& rank : v.executions) {
    out["executions"].push_back(json_fields::written(packed(rank)));
  }
  return out;
}

Validation validation_from(const Json& in) {
  Validation v = in.contains("composition") ? in.get<Validation>() : unpaired(in);
  if (in.contains("executions")) {
    for (const Json& rank : in.at("executions")) {
      v.executions.push_back(unpacked(value_of<PackedExecutions>(rank)));
    }
  }
  return v;
}

template <class Value>
Value value_from(const Json& body) {
  return value_of<Value>(body);
}
template <>
Validation value_from(const Json& body) {
  return validation_from(body);
}
template Evaluation value_from(const Json&);
template Winner value_from(const Json&);
template Duet value_from(const Json&);
template Doubt value_from(const Json&);
template UsedPeaks value_from(const Json&);
template RunMachine value_from(const Json&);
template Untried value_from(const Json&);

namespace {

template <class Value>
Entry listed(std::string key, const Value& value) {
  if constexpr (ListedValue<Value>) {
    return {row_kind<Value>, std::move(key), dump_json(Json(value))};
  } else {
    return {row_kind<Value>, std::move(key), dump_json(json_fields::written(value))};
  }
}

}  // namespace

Entry entry_of(const Measurement& m) {
  Json body = m;
  const auto is_empty = [](const std::vector<double>& series) { return series.empty(); };
  if (m.samples.empty() && std::ranges::all_of(m.shard_wall_ns, is_empty)) {
    return {row_kind<Measurement>, m.kernel_case.key(), dump_json(body)};
  }
  std::string block = pack_samples(m);
  name_block(body, m, block);
  return {row_kind<Measurement>, m.kernel_case.key(), dump_json(body), std::move(block), true};
}
Entry entry_of(const Evaluation& e) { return listed(e.configuration.key(), e); }
Entry entry_of(const Validation& v) {
  return {row_kind<Validation>, v.deployment_key, dump_json(validation_json(v))};
}
Entry entry_of(const Winner& w) { return listed(winner_key(w.question), w); }
Entry entry_of(const Duet& d) { return listed(d.kernel_case.key(), d); }
Entry entry_of(const Doubt& d) { return listed(d.case_key, d); }
Entry entry_of(const UsedPeaks& p) { return listed("", p); }
Entry entry_of(const RunMachine& m) { return listed("", m); }
Entry entry_of(const Untried& u) { return listed(std::string(phase_name(u.phase)), u); }
Entry entry_of(const Retirement& r) { return listed("", r); }

}  // namespace halmark::journal
