#include "host/nodes/node_report.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "host/group.hpp"
#include "host/machine.hpp"

namespace halmark {
namespace {

constexpr std::string_view mark = "halmark-node-report";
constexpr std::size_t report_fields = 7;

std::string hash_of(const std::string& path) {
  try {
    InputFile file(path, plugin_input);
    return sha256_rest(file);
  } catch (const Error&) {
    return {};
  }
}

// Tabs and line ends separate.
std::string field(std::string text) {
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return text;
}

// "n1, n2": those of whose ranks one or more said nothing.
std::string silent_nodes(const std::vector<NodeRanks>& nodes,
                         const std::vector<std::optional<NodeReport>>& told) {
  std::string out, last;
  for (const auto rank : indices(told)) {
    const std::string& node = node_of_rank(nodes, as_int(rank));
    if (told[rank] || node == last) continue;
    append_item(out, ", ", node);
    last = node;
  }
  return out;
}

ProcessSpec job(const std::string& mpirun, const std::vector<NodeRanks>& nodes,
                const std::string& plugin_path) {
  const std::vector<CpuSet> cpus(as_size(ranks_of(nodes)));  // as the launcher's
  ProcessSpec spec = group_process(
      mpirun, {program_beside("halmark-worker"), "--node-report", plugin_path}, cpus, {});
  const std::vector<std::string> where = launcher_arguments(nodes);
  spec.arguments.insert(spec.arguments.begin(), where.begin(), where.end());
  return spec;
}

}  // namespace

NodeReport this_node_report(int rank, const std::string& plugin_path) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const Machine machine = this_machine();
  std::error_code error;
  return {.rank = rank,
          .host = host.data(),
          .worker_hash = hash_of(std::filesystem::read_symlink("/proc/self/exe", error).string()),
          .plugin_hash = hash_of(plugin_path),
          .hardware_class = machine.hardware_class(),
          .processor = machine.cpu_model};
}

std::string report_line(const NodeReport& r) {
  std::string out(mark);
  for (const std::string& text : {std::to_string(r.rank), r.host, r.worker_hash, r.plugin_hash,
                                  r.hardware_class, r.processor}) {
    out += '\t' + field(text);
  }
  return out;
}

std::optional<NodeReport> parse_report(std::string_view line) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == '\t') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != report_fields || parts[0] != mark) return std::nullopt;
  NodeReport out;
  const char* end = parts[1].data() + parts[1].size();
  const auto read = std::from_chars(parts[1].data(), end, out.rank);
  if (read.ec != std::errc() || read.ptr != end || out.rank < 0) return std::nullopt;
  out.host = parts[2];
  out.worker_hash = parts[3];
  out.plugin_hash = parts[4];
  out.hardware_class = parts[5];
  out.processor = parts[6];
  return out;
}

Result<std::vector<NodeReport>, std::string> ask_nodes(const std::vector<NodeRanks>& nodes,
                                                       const std::string& plugin_path,
                                                       double limit_s) {
  const std::string mpirun = find_mpirun();
  if (mpirun.empty()) return std::string("mpirun is not installed; install openmpi-bin");
  const auto process = ContainedProcess::start(job(mpirun, nodes, plugin_path));
  const auto cause = process->wait(protocol::deadline_after(limit_s));
  process->settle();
  std::vector<std::optional<NodeReport>> told(as_size(ranks_of(nodes)));
  std::string rest;
  std::istringstream log(process->log_tail());
  for (std::string line; std::getline(log, line);) {
    auto report = parse_report(line);
    if (report && as_size(report->rank) < told.size()) {
      told[as_size(report->rank)] = std::move(report);
    } else if (!line.empty() && line.find_first_not_of("- ") != line.npos) {
      append_item(rest, " ", line);
    }
  }
  if (const std::string silent = silent_nodes(nodes, told); !silent.empty()) {
    return "no report from " + silent + ": " +
           (cause ? "mpirun ended with " + cause->text()
                  : "no answer within " + std::to_string(as_int(limit_s)) + " s") +
           (rest.empty() ? "" : ": " + cut_text(rest, 300));
  }
  std::vector<NodeReport> out;
  for (auto& report : told) out.push_back(std::move(*report));
  return out;
}

}  // namespace halmark
