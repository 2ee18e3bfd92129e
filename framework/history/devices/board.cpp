#include "history/devices/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t steps_max = 3;
constexpr double hour_s = 3600;

std::optional<double> geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / as_double(values.size()));
}

std::optional<double> tokens_of(const BoardMachine& m, const std::vector<std::string>& steps) {
  std::vector<double> tokens;
  for (const std::string& key : steps) {
    const auto of = std::ranges::find(m.steps, key, &BoardFigure::of);
    if (of == m.steps.end()) return std::nullopt;
    tokens.push_back(of->value);
  }
  return geometric_mean(tokens);
}

// Watts of a sum: metered, else what the device states.
std::optional<BoardFigure> power_of(const RecordSum& sum, const Device& device) {
  if (sum.joules && sum.ns > 0) return BoardFigure{*sum.joules / sum.ns * ns_per_s, "measured"};
  if (device.power_w) return BoardFigure{*device.power_w, "stated"};
  return std::nullopt;
}

void add_figures(BoardMachine& m, const std::vector<std::string>& steps) {
  m.share = m.all.share();
  m.tokens_per_s = tokens_of(m, steps);
  m.power_w = power_of(m.all, m.device);
  if (const auto memory = m.device.bandwidth("memory", m.threads)) {
    m.bytes_per_s = memory->bytes_per_s;
  }
  const auto most = std::ranges::max_element(m.classes, {}, &RecordSum::flops_per_s);
  if (most == m.classes.end() || most->matmul_flops <= 0) return;
  m.flops_per_s = BoardFigure{most->flops_per_s(), most->dtype};
  if (const auto power = power_of(*most, m.device)) {
    m.flops_per_joule = most->flops_per_s() / power->value;
  }
  if (m.usd_per_hour.value_or(0) > 0) {
    m.flops_per_usd = most->flops_per_s() * hour_s / *m.usd_per_hour;
  }
}

// Classes of all machines: by op and type, the sizes.
using Classes = std::map<std::string, std::set<std::string>>;

Classes classes_of(const std::vector<RecordSum>& sums) {
  Classes out;
  for (const RecordSum& sum : sums) out[sum.op + ' ' + sum.dtype].insert(sum.shapes);
  return out;
}

void add_lacks(BoardMachine& m, const Classes& all, const std::vector<std::string>& steps) {
  const Classes own = classes_of(m.classes);
  std::size_t sizes = 0;
  for (const auto& [kind, shapes] : all) {
    const auto has = own.find(kind);
    if (has == own.end()) {
      m.lacks.push_back(kind);
    } else {
      sizes += shapes.size() - has->second.size();
    }
  }
  if (sizes > 0) m.lacks.push_back(sizes == 1 ? "1 size" : fmt::format("{} sizes", sizes));
  for (const std::string& key : steps) {
    if (!contains(m.steps, key, &BoardFigure::of)) m.lacks.push_back("step " + key);
  }
  if (!m.power_w) m.lacks.emplace_back("power");
  if (!m.usd_per_hour) m.lacks.emplace_back("price");
}

std::vector<std::string> shared_steps(const std::vector<BoardMachine>& machines) {
  std::map<std::string, std::size_t> counts;
  for (const BoardMachine& m : machines) {
    for (const BoardFigure& step : m.steps) ++counts[step.of];
  }
  std::vector<std::string> out;
  for (const auto& [key, count] : counts) out.push_back(key);
  std::ranges::stable_sort(out, std::greater<>(), [&](const std::string& k) { return counts[k]; });
  if (out.size() > steps_max) out.resize(steps_max);
  std::ranges::sort(out);
  return out;
}

}  // namespace

BoardMachine board_machine(const MachineRecord& record) {
  BoardMachine out{.device = record.device,
                   .threads = record.threads,
                   .measured_on = record.measured_on,
                   .tool_version = record.tool_version,
                   .all = record.all,
                   .classes = record.classes,
                   .steps = {},
                   .usd_per_hour = record.device.usd_per_hour};
  for (Peak& peak : out.device.peaks) peak.occasions.clear();
  for (Bandwidth& bandwidth : out.device.bandwidths) bandwidth.occasions.clear();
  for (const RecordStep& step : record.steps) {
    out.steps.push_back({step.tokens_per_s, step.configuration.key()});
  }
  return out;
}

void set_price(std::vector<BoardMachine>& machines, const std::string& device,
               double usd_per_hour) {
  bool is_known = false;
  std::vector<std::string> names;
  for (BoardMachine& m : machines) {
    names.push_back(m.device.name);
    if (!m.device.is_called(device)) continue;
    m.usd_per_hour = usd_per_hour;
    is_known = true;
  }
  if (!is_known)
    throw refused("no record is of '" + device + "'", "--price", suggestion(device, names));
}

Board ranked_board(std::vector<BoardMachine> machines, std::vector<std::string> left_out) {
  Board out{.steps = shared_steps(machines), .left_out = std::move(left_out)};
  Classes all;
  for (BoardMachine& m : machines) {
    add_figures(m, out.steps);
    for (const auto& [kind, shapes] : classes_of(m.classes)) {
      all[kind].insert(shapes.begin(), shapes.end());
    }
  }
  for (const auto& [kind, shapes] : all) out.classes += shapes.size();
  std::ranges::stable_sort(machines, std::greater<>(),
                           [](const BoardMachine& m) { return m.share.value_or(0); });
  for (std::size_t i = 0; i < machines.size(); ++i) {
    machines[i].name = fmt::format("{} {}", i + 1, machines[i].device.name);
    add_lacks(machines[i], all, out.steps);
  }
  out.machines = std::move(machines);
  return out;
}

}  // namespace halmark::history
