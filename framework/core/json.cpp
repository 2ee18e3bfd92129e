#include "core/json.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>

#include "core/error.hpp"

namespace halmark {
namespace {

std::string position(std::string_view text, std::size_t byte, std::string_view where) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return std::string(where) + ':' + std::to_string(line) + ':' + std::to_string(column);
}

// Counts what the parser consumed, so that a refusal of ours has a position too.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t& count) : at_(at), count_(&count) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

// Where the string that ends at byte `last` (1-based, its closing quote) begins.
std::size_t string_start(std::string_view text, std::size_t last) {
  std::size_t at = last - 1;
  while (at-- > 0) {
    if (text[at] != '"') continue;
    std::size_t slashes = 0;
    while (slashes < at && text[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return at + 1;
  }
  return last;
}

// SAX pass before the tree is built: the library would parse any depth and crash later.
class Gate : public nlohmann::json_sax<Json> {
 public:
  explicit Gate(std::string_view text) : text_(text) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t value, const string_t&) override {
    return std::isfinite(value) || fail("a number is out of range");
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return deeper();
  }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    fail("key '" + name + "' appears twice");
    byte_ = string_start(text_, consumed_);
    return false;
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& e) override {
    byte_ = byte;
    const std::string what = e.what();
    // The library's own position is dropped: ours names the file.
    const std::size_t colon = what.rfind("; expected");
    reason_ = "not valid JSON" + (colon == std::string::npos ? std::string() : what.substr(colon));
    if (what.find("out_of_range") != std::string::npos) reason_ = "a number is out of range";
    return false;
  }

  std::string reason_;
  std::size_t byte_ = 0;      // 1-based, of what is refused
  std::size_t consumed_ = 0;  // by the parser so far

 private:
  bool deeper() {
    return ++depth_ <= json_depth_max ||
           fail("nesting exceeds " + std::to_string(json_depth_max) + " levels");
  }
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    byte_ = consumed_;
    return false;
  }
  std::string_view text_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;
};

void require_finite(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw std::logic_error("a non-finite number reached a JSON writer");
  }
  if (value.is_structured()) {
    for (const auto& item : value) require_finite(item);
  }
}

template <class T>
T value_or(const Json& in, const char* key, T fallback) {
  const auto it = in.find(key);
  return it == in.end() || it->is_null() ? fallback : it->template get<T>();
}

std::optional<double> number(const Json& in, const char* key) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_number()) return std::nullopt;
  return it->get<double>();
}

bool is_dtype_name(std::string_view name) { return name == "dtype" || name.ends_with("_dtype"); }

Dtype dtype_at(const Json& in, const char* key) {
  const auto dtype = parse_dtype(in.at(key).get<std::string>());
  if (!dtype) throw std::invalid_argument(std::string("unknown data type in '") + key + "'");
  return *dtype;
}

Status status_at(const Json& in, const char* key) {
  const auto status = parse_status(in.at(key).get<std::string>());
  if (!status) throw std::invalid_argument(std::string("unknown status in '") + key + "'");
  return *status;
}

CacheMode cache_mode_at(const Json& in, const char* key) {
  const auto text = in.at(key).get<std::string>();
  for (const auto m :
       {CacheMode::hot, CacheMode::rotate_const, CacheMode::rotate_all, CacheMode::flush}) {
    if (cache_mode_name(m) == text) return m;
  }
  throw std::invalid_argument("unknown cache mode '" + text + "'");
}

Provenance provenance_at(const Json& in, const char* key) {
  const auto text = in.at(key).get<std::string>();
  for (const auto p : {Provenance::measured, Provenance::interpolated, Provenance::roofline,
                       Provenance::imported}) {
    if (provenance_name(p) == text) return p;
  }
  throw std::invalid_argument("unknown provenance '" + text + "'");
}

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  if (text.size() > json_bytes_max) {
    throw refused("the document has " + std::to_string(text.size()) + " bytes; the limit is " +
                      std::to_string(json_bytes_max),
                  std::string(where));
  }
  Gate gate(text);
  const CountingIterator begin(text.data(), gate.consumed_);
  const CountingIterator end(text.data() + text.size(), gate.consumed_);
  if (!Json::sax_parse(begin, end, &gate))
    throw refused(gate.reason_, position(text, gate.byte_, where));
  return Json::parse(text);
}

Json read_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refused("cannot be read", path);
  // No more than the gate lets through: a file may be endless.
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (text.size() <= json_bytes_max && (file.read(buffer.data(), buffer.size()), true) &&
         file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw refused("cannot be read", path);  // a folder
  return parse_json(text, path);
}

std::string dump_json(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json optional_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

void to_json(Json& out, const Params& value) {
  out = Json::object();
  for (const Param& item : value.items()) {
    const auto dtype = is_dtype_name(item.name) ? dtype_from_value(item.value) : std::nullopt;
    if (dtype) {
      out[item.name] = std::string(dtype_name(*dtype));
    } else {
      out[item.name] = item.value;
    }
  }
}

void from_json(const Json& in, Params& value) {
  value = Params();
  for (const auto& [name, item] : in.items()) {
    if (item.is_string()) {
      value.set(name, static_cast<std::int64_t>(dtype_at(in, name.c_str())));
    } else {
      value.set(name, item.get<std::int64_t>());
    }
  }
}

void to_json(Json& out, const Problem& value) {
  out = Json{{"op", value.op}, {"params", Json(value.params)}};
}

void from_json(const Json& in, Problem& value) {
  value.op = in.at("op").get<std::string>();
  value.params = in.at("params").get<Params>();
}

void to_json(Json& out, const Config& value) {
  Json labels = Json::object();
  for (const auto& [name, label] : value.labels) labels[name] = label;
  out = Json{{"params", value.params}, {"labels", labels}};
}

void from_json(const Json& in, Config& value) {
  value.params = in.at("params").get<Params>();
  value.labels.clear();
  for (const auto& [name, label] : in.at("labels").items()) {
    value.labels.emplace_back(name, label.get<std::string>());
  }
}

void to_json(Json& out, const KernelCase& value) {
  out = Json{{"problem", value.problem},
             {"config", value.config},
             {"kernel", value.kernel},
             {"backend", value.backend},
             {"device", value.device},
             {"parts", value.parts},
             {"shards_at_once", value.shards_at_once},
             {"mode", std::string(cache_mode_name(value.mode))},
             {"sets", value.sets}};
}

void from_json(const Json& in, KernelCase& value) {
  value.problem = in.at("problem").get<Problem>();
  value.config = in.at("config").get<Config>();
  value.kernel = in.at("kernel").get<std::string>();
  value.backend = in.at("backend").get<std::string>();
  value.device = in.at("device").get<std::string>();
  value.parts = in.at("parts").get<int>();
  value.shards_at_once = in.at("shards_at_once").get<int>();
  value.sets = in.at("sets").get<int>();
  value.mode = cache_mode_at(in, "mode");
}

void to_json(Json& out, const Interval& value) { out = Json::array({value.low, value.high}); }

void from_json(const Json& in, Interval& value) {
  value = {in.at(0).get<double>(), in.at(1).get<double>()};
}

void to_json(Json& out, const Signal& value) {
  out =
      Json{{"name", value.name}, {"value", optional_number(value.value)}, {"reason", value.reason}};
}

void from_json(const Json& in, Signal& value) {
  value.name = in.at("name").get<std::string>();
  value.value = number(in, "value");
  value.reason = value_or<std::string>(in, "reason", {});
}

void to_json(Json& out, const Implementation& value) {
  out = Json{{"name", value.name},
             {"isa", value.isa},
             {"library", value.library},
             {"library_version", value.library_version}};
}

void from_json(const Json& in, Implementation& value) {
  value.name = in.at("name").get<std::string>();
  value.isa = in.at("isa").get<std::string>();
  value.library = in.at("library").get<std::string>();
  value.library_version = in.at("library_version").get<std::string>();
}

void to_json(Json& out, const OneTimeCost& value) {
  out = Json{
      {"create_ns", value.create_ns}, {"pack_ns", value.pack_ns}, {"first_ns", value.first_ns}};
}

void from_json(const Json& in, OneTimeCost& value) {
  value.create_ns = in.at("create_ns").get<double>();
  value.pack_ns = in.at("pack_ns").get<double>();
  value.first_ns = in.at("first_ns").get<double>();
}

void to_json(Json& out, const Correctness& value) {
  out = Json{{"method", value.method},
             {"checked", value.checked},
             {"worst_ratio", optional_number(value.worst_ratio)}};
}

void from_json(const Json& in, Correctness& value) {
  value.method = in.at("method").get<std::string>();
  value.checked = in.at("checked").get<std::int64_t>();
  // null stands for a ratio beyond every number: a NaN in the output.
  value.worst_ratio = number(in, "worst_ratio").value_or(std::numeric_limits<double>::infinity());
}

void to_json(Json& out, const Measurement& m) {
  out = Json{{"case", m.kernel_case},
             {"round", m.round},
             {"seed", std::to_string(m.seed)},
             {"status", std::string(status_name(m.status))},
             {"reason", m.reason},
             {"phase", m.phase},
             {"plugin",
              {{"name", m.plugin_name},
               {"version", m.plugin_version},
               {"build", m.plugin_build},
               {"hash", m.plugin_hash}}},
             {"implementation", m.implementation},
             {"workspace_bytes", m.workspace_bytes},
             {"constant_bytes", m.constant_bytes},
             {"one_time", m.one_time},
             {"samples_dropped", m.samples_dropped},
             {"repeat", m.repeat},
             {"stop_rule", m.stop_rule},
             {"wall_s", m.wall_s},
             {"duration_ns_median", m.duration_ns_median},
             {"duration_ns_interval", m.duration_ns_interval},
             {"duration_ns_min", m.duration_ns_min},
             {"relative_iqr", m.relative_iqr},
             {"signals", m.signals},
             {"clock_hz_before", optional_number(m.clock_hz_before)},
             {"clock_hz_after", optional_number(m.clock_hz_after)},
             {"peak_flops_before", optional_number(m.peak_flops_before)},
             {"peak_flops_after", optional_number(m.peak_flops_after)},
             {"correctness", m.correctness},
             {"environment", m.environment}};
}

void from_json(const Json& in, Measurement& m) {
  m.kernel_case = in.at("case").get<KernelCase>();
  m.round = in.at("round").get<int>();
  m.seed = std::stoull(in.at("seed").get<std::string>());
  m.status = status_at(in, "status");
  m.reason = in.at("reason").get<std::string>();
  m.phase = in.at("phase").get<std::string>();
  const Json& plugin = in.at("plugin");
  m.plugin_name = plugin.at("name").get<std::string>();
  m.plugin_version = plugin.at("version").get<std::string>();
  m.plugin_build = plugin.at("build").get<std::string>();
  m.plugin_hash = plugin.at("hash").get<std::string>();
  m.implementation = in.at("implementation").get<Implementation>();
  m.workspace_bytes = in.at("workspace_bytes").get<std::int64_t>();
  m.constant_bytes = in.at("constant_bytes").get<std::int64_t>();
  m.one_time = in.at("one_time").get<OneTimeCost>();
  m.samples_dropped = in.at("samples_dropped").get<std::int64_t>();
  m.repeat = in.at("repeat").get<std::int64_t>();
  m.stop_rule = in.at("stop_rule").get<std::string>();
  m.wall_s = in.at("wall_s").get<double>();
  m.duration_ns_median = in.at("duration_ns_median").get<double>();
  m.duration_ns_interval = in.at("duration_ns_interval").get<Interval>();
  m.duration_ns_min = in.at("duration_ns_min").get<double>();
  m.relative_iqr = in.at("relative_iqr").get<double>();
  m.signals = in.at("signals").get<std::vector<Signal>>();
  m.clock_hz_before = number(in, "clock_hz_before");
  m.clock_hz_after = number(in, "clock_hz_after");
  m.peak_flops_before = number(in, "peak_flops_before");
  m.peak_flops_after = number(in, "peak_flops_after");
  m.correctness = in.at("correctness").get<Correctness>();
  m.environment = in.at("environment").get<std::string>();
}

void to_json(Json& out, const Workload& value) {
  out = Json{{"phase", std::string(phase_name(value.phase))},
             {"batch", value.batch},
             {"new_tokens", value.new_tokens},
             {"context", value.context}};
  if (value.routing_skew != 0) out["routing_skew"] = value.routing_skew;
  if (value.micro_batch != 0) out["micro_batch"] = value.micro_batch;
  if (value.expert_imbalance_ppm != Workload::balanced_ppm) {
    out["expert_imbalance_ppm"] = value.expert_imbalance_ppm;
  }
}

void from_json(const Json& in, Workload& value) {
  const auto phase = parse_phase(in.at("phase").get<std::string>());
  if (!phase) throw std::invalid_argument("unknown phase");
  value = {*phase,
           in.at("batch").get<std::int64_t>(),
           in.at("new_tokens").get<std::int64_t>(),
           in.at("context").get<std::int64_t>(),
           in.value("routing_skew", std::int64_t{0}),
           in.value("micro_batch", std::int64_t{0}),
           in.value("expert_imbalance_ppm", Workload::balanced_ppm)};
}

void to_json(Json& out, const Parallel& value) {
  out = Json{{"tp", value.tp}, {"pp", value.pp}, {"dp", value.dp}, {"ep", value.ep}};
}

void from_json(const Json& in, Parallel& value) {
  value = {.dp = in.at("dp").get<int>(),
           .tp = in.at("tp").get<int>(),
           .pp = in.at("pp").get<int>(),
           .ep = in.at("ep").get<int>()};
}

void to_json(Json& out, const Precision& value) {
  const auto name = [](Dtype d) { return std::string(dtype_name(d)); };
  out = Json{{"name", value.name},
             {"linear", name(value.linear)},
             {"head", name(value.head)},
             {"attention", name(value.attention)},
             {"kv_cache", name(value.kv_cache)},
             {"activation", name(value.activation)}};
}

void from_json(const Json& in, Precision& value) {
  value = {in.at("name").get<std::string>(), dtype_at(in, "linear"),   dtype_at(in, "head"),
           dtype_at(in, "attention"),        dtype_at(in, "kv_cache"), dtype_at(in, "activation")};
}

void to_json(Json& out, const Deployment& value) {
  out = Json{{"model", value.model},
             {"workload", value.workload},
             {"parallel", value.parallel},
             {"precision", value.precision}};
}

void from_json(const Json& in, Deployment& value) {
  value = {in.at("model").get<std::string>(), in.at("parallel").get<Parallel>(),
           in.at("precision").get<Precision>(), in.at("workload").get<Workload>()};
}

void to_json(Json& out, const OperatorShare& value) {
  out = Json{{"name", value.name},
             {"layer_type", value.layer_type},
             {"count", value.count},
             {"ns", value.ns},
             {"low_ns", value.low_ns},
             {"high_ns", value.high_ns},
             {"lower_bound_ns", value.lower_bound_ns},
             {"flops", value.flops},
             {"bytes", value.bytes},
             {"bound", value.bound},
             {"provenance", std::string(provenance_name(value.provenance))},
             {"status", std::string(status_name(value.status))},
             {"strategy", value.strategy},
             {"dtype", value.dtype},
             {"implementation", value.implementation}};
}

void from_json(const Json& in, OperatorShare& value) {
  value.name = in.at("name").get<std::string>();
  value.layer_type = in.at("layer_type").get<std::string>();
  value.count = in.at("count").get<std::int64_t>();
  value.ns = in.at("ns").get<double>();
  value.low_ns = in.at("low_ns").get<double>();
  value.high_ns = in.at("high_ns").get<double>();
  value.lower_bound_ns = in.at("lower_bound_ns").get<double>();
  value.flops = in.at("flops").get<double>();
  value.bytes = in.at("bytes").get<double>();
  value.bound = in.at("bound").get<std::string>();
  value.provenance = provenance_at(in, "provenance");
  value.status = status_at(in, "status");
  value.strategy = in.at("strategy").get<std::string>();
  value.dtype = in.at("dtype").get<std::string>();
  value.implementation = in.at("implementation").get<std::string>();
}

void to_json(Json& out, const Estimate& e) {
  out = Json{{"step_ns", e.step_ns},
             {"low_ns", e.low_ns},
             {"high_ns", e.high_ns},
             {"lower_bound_ns", e.lower_bound_ns},
             {"tokens_per_s", e.tokens_per_s},
             {"matmul_flops", e.matmul_flops},
             {"memory_bytes_per_rank", e.memory_bytes_per_rank},
             {"memory_bytes_total", e.memory_bytes_total},
             {"mfu", optional_number(e.mfu)},
             {"mfu_reason", e.mfu_reason},
             {"mfu_datasheet", optional_number(e.mfu_datasheet)},
             {"bottleneck", e.bottleneck},
             {"provenance", std::string(provenance_name(e.provenance))},
             {"status", std::string(status_name(e.status))},
             {"reason", e.reason},
             {"operators", e.operators}};
}

void from_json(const Json& in, Estimate& e) {
  e.step_ns = in.at("step_ns").get<double>();
  e.low_ns = in.at("low_ns").get<double>();
  e.high_ns = in.at("high_ns").get<double>();
  e.lower_bound_ns = in.at("lower_bound_ns").get<double>();
  e.tokens_per_s = in.at("tokens_per_s").get<double>();
  e.matmul_flops = in.at("matmul_flops").get<double>();
  e.memory_bytes_per_rank = in.at("memory_bytes_per_rank").get<std::int64_t>();
  e.memory_bytes_total = in.at("memory_bytes_total").get<std::int64_t>();
  e.mfu = number(in, "mfu");
  e.mfu_reason = in.at("mfu_reason").get<std::string>();
  e.mfu_datasheet = number(in, "mfu_datasheet");
  e.bottleneck = in.at("bottleneck").get<std::string>();
  e.provenance = provenance_at(in, "provenance");
  e.status = status_at(in, "status");
  e.reason = in.at("reason").get<std::string>();
  e.operators = in.at("operators").get<std::vector<OperatorShare>>();
}

namespace {

Json standing_json(const std::optional<FrontStanding>& standing) {
  if (!standing) return nullptr;
  return {{"class", std::string(front_class_name(standing->front_class))},
          {"probability", standing->probability}};
}

// Rows of earlier versions have none.
std::optional<FrontStanding> standing_at(const Json& evaluation) {
  const auto it = evaluation.find("standing");
  if (it == evaluation.end() || it->is_null()) return std::nullopt;
  const auto parsed = parse_front_class(it->at("class").get<std::string>());
  if (!parsed) return std::nullopt;
  return FrontStanding{*parsed, it->at("probability").get<double>()};
}

}  // namespace

void to_json(Json& out, const Evaluation& e) {
  out = Json{{"deployment", e.deployment},
             {"status", std::string(status_name(e.status))},
             {"reason", e.reason},
             {"estimate", e.estimate ? Json(*e.estimate) : Json(nullptr)},
             {"measured_ns", optional_number(e.measured_ns)},
             {"measured_interval_ns",
              e.measured_interval_ns ? Json(*e.measured_interval_ns) : Json(nullptr)},
             {"standing", standing_json(e.standing)}};
}

void from_json(const Json& in, Evaluation& e) {
  e.deployment = in.at("deployment").get<Deployment>();
  e.status = status_at(in, "status");
  e.reason = in.at("reason").get<std::string>();
  e.estimate.reset();
  if (!in.at("estimate").is_null()) e.estimate = in.at("estimate").get<Estimate>();
  e.measured_ns = number(in, "measured_ns");
  e.measured_interval_ns.reset();
  if (!in.at("measured_interval_ns").is_null()) {
    e.measured_interval_ns = in.at("measured_interval_ns").get<Interval>();
  }
  e.standing = standing_at(in);
}

}  // namespace halmark
