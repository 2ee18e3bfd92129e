#include "host/nodes/node_list.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr const char* option = "--mpi-hosts";
constexpr const char* remedy = "name nodes and their ranks as n1:2,n2:2, or slurm:2";

std::optional<int> count_of(std::string_view text) {
  const auto value = read_number<int>(text);
  if (!value || *value < 0) return std::nullopt;
  return value;
}

// Nothing else may reach the launcher's command line: it has options and separators of its own.
bool is_host(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 253 && text.front() != '-' &&
         std::ranges::all_of(text, is_allowed);
}

// At commas outside of brackets.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    } else {
      depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    }
  }
  return out;
}

Error bad_slurm_list(std::string_view item) {
  return refused("the allocation lists nodes as '" + std::string(item) + "', which is not read",
                 "SLURM_JOB_NODELIST", "name the nodes: --mpi-hosts n1:2,n2:2");
}

// "n[08-10,12]": n08 n09 n10 n12. Digits keep their width.
void expand(std::string_view item, std::vector<std::string>& to) {
  const auto open = item.find('[');
  if (open == item.npos) return to.emplace_back(item), void();
  if (item.back() != ']' || item.find('[', open + 1) != item.npos) throw bad_slurm_list(item);
  for (const std::string_view range : items_of(item.substr(open + 1, item.size() - open - 2))) {
    const auto dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = count_of(low);
    const auto last = dash == range.npos ? first : count_of(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= ranks_over_nodes_max) {
      throw bad_slurm_list(item);
    }
    for (int i = *first; i <= *last; ++i) {
      std::string digits = std::to_string(i);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      to.push_back(std::string(item.substr(0, open)) + digits);
    }
  }
}

std::vector<NodeRanks> of_allocation(std::string_view ranks, std::string_view slurm_nodes) {
  const auto each = count_of(ranks);
  if (!each || *each < 1) {
    throw refused("'slurm:" + std::string(ranks) + "' has no number of ranks per node", option,
                  remedy);
  }
  if (slurm_nodes.empty()) {
    throw refused("this is no Slurm allocation: SLURM_JOB_NODELIST is not set", option,
                  "start it in one (salloc, sbatch), or name the nodes: n1:2,n2:2");
  }
  std::vector<std::string> hosts;
  for (const std::string_view item : items_of(slurm_nodes)) expand(item, hosts);
  std::vector<NodeRanks> out;
  for (std::string& host : hosts) out.push_back({std::move(host), *each});
  return out;
}

NodeRanks named_node(std::string_view item) {
  const auto colon = item.rfind(':');
  const auto ranks = colon == item.npos ? std::nullopt : count_of(item.substr(colon + 1));
  if (!ranks || *ranks < 1) {
    throw refused("'" + std::string(item) + "' is not a node and its ranks", option, remedy);
  }
  return {std::string(item.substr(0, colon)), *ranks};
}

}  // namespace

std::vector<NodeRanks> parse_mpi_hosts(std::string_view text, std::string_view slurm_nodes) {
  std::vector<NodeRanks> nodes;
  if (text.starts_with("slurm:")) {
    nodes = of_allocation(text.substr(6), slurm_nodes);
  } else {
    for (const std::string_view item : items_of(text)) nodes.push_back(named_node(item));
  }
  for (auto node = nodes.begin(); node != nodes.end(); ++node) {
    if (!is_host(node->host)) {
      throw refused("'" + node->host + "' is not the name of a node", option, remedy);
    }
    if (std::find_if(nodes.begin(), node,
                     [&](const NodeRanks& other) { return other.host == node->host; }) != node) {
      throw refused("node " + node->host + " is named twice", option,
                    "name it once, with all its ranks");
    }
    if (node->ranks > ranks_over_nodes_max) {
      throw refused(std::to_string(node->ranks) + " ranks on " + node->host + " are more than " +
                        std::to_string(ranks_over_nodes_max),
                    option, "name fewer");
    }
  }
  if (nodes.size() < 2) {
    throw refused("one node is no job over several", option, "name two or more, or leave it out");
  }
  if (ranks_of(nodes) > ranks_over_nodes_max) {
    throw refused(std::to_string(ranks_of(nodes)) + " ranks are more than " +
                      std::to_string(ranks_over_nodes_max),
                  option, "name fewer");
  }
  return nodes;
}

int ranks_of(const std::vector<NodeRanks>& nodes) {
  int ranks = 0;
  for (const NodeRanks& node : nodes) ranks += node.ranks;
  return ranks;
}

const std::string& node_of_rank(const std::vector<NodeRanks>& nodes, int rank) {
  int before = rank;
  for (const NodeRanks& node : nodes) {
    if (before >= 0 && before < node.ranks) return node.host;
    before -= node.ranks;
  }
  throw std::out_of_range("no node has rank " + std::to_string(rank));
}

std::vector<std::string> launcher_arguments(const std::vector<NodeRanks>& nodes) {
  std::string hosts = join(nodes, ",", [](const NodeRanks& node) {
    return node.host + ":" + std::to_string(node.ranks);
  });
  return {"--host", hosts, "--map-by", "slot"};
}

}  // namespace halmark
