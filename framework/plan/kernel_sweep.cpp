#include "plan/kernel_sweep.hpp"

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "plan/sweep_tables.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

ShardPlace backend_of(const std::string& text, const std::string& where) {
  const bool has_device = text.find(':') != text.npos;
  const auto place = parse_shard_place(has_device ? text : text + ":0");
  if (place) return *place;
  throw refused("'" + printable(text) + "' is no backend", where,
                "as cpu, cuda:1 for a device of it, cpu:0/2 for one of two parts of a device");
}

KernelSweep read(const TomlTable& root, std::string_view where) {
  KernelSweep out;
  out.file = std::string(where);
  out.name = root.string("name");
  if (root.has("model")) {
    throw refused("model stands beside [[kernel]]", root.where("model"),
                  "a sweep is of a model or of kernels: keep one of them");
  }
  out.kernels = read_asked_kernels(root, "kernel");
  out.backends = parse_backends(root.strings("backends"), root.where("backends"));
  if (root.has("variants")) out.variants = root.strings("variants");
  static const std::vector<std::string> modes = {"hot", "rotate_const", "rotate_all"};
  if (root.has("mode")) out.mode = *parse_cache_mode(root.choice("mode", modes));
  out.sets = as_int(root.integer_or("sets", 1, 4096, out.sets));
  if (root.has("sampler")) {
    out.sampler = root.string("sampler");
    out.sampler_where = root.where("sampler");
  }
  out.trials = root.integer_or("trials", 0, 1'000'000, out.trials);
  out.seed = as_uint64(root.integer_or("seed", 0, INT64_MAX, 1));
  out.budget_s = root.number_or("budget_s", 1, 1e6, out.budget_s);
  if (const auto table = root.table("measure")) {
    read_measure(*table, out.measure);
    if (out.measure.in_stack) {
      throw refused("in_stack without a model", table->where("in_stack"),
                    "kernels of a sweep without a model have no neighbours: leave it out");
    }
  }
  if (const auto table = root.table("containment")) out.containment = read_stated_limits(*table);
  root.finish();
  return out;
}

}  // namespace

std::vector<ShardPlace> parse_backends(const std::vector<std::string>& texts,
                                       const std::string& where) {
  std::vector<ShardPlace> out;
  for (const std::string& text : texts) {
    const ShardPlace place = backend_of(text, where);
    if (contains(out, place)) {
      throw refused("backend " + place.text() + " is named twice", where, "name it once");
    }
    out.push_back(place);
  }
  return out;
}

KernelSweep parse_kernel_sweep(std::string_view text, std::string_view where) {
  return read(TomlTable::parse(text, where), where);
}

std::variant<Sweep, KernelSweep> read_tune_file(const std::string& path) {
  const TomlTable root = TomlTable::parse_file(path, "sweep");
  if (root.has("kernel")) return read(root, input_name(path));
  return read_sweep_table(root, input_name(path));
}

}  // namespace halmark
