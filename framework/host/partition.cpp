#include "host/partition.hpp"

#include <hwloc.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

using Core = std::vector<int>;  // processing units of one core, first sibling first
using Node = std::vector<Core>;

std::vector<int> units_in(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  std::vector<int> units;
  for (hwloc_obj_t unit = nullptr;
       (unit = hwloc_get_next_obj_inside_cpuset_by_type(topology, set, HWLOC_OBJ_PU, unit));) {
    units.push_back(as_int(unit->os_index));
  }
  return units;
}

// Cores of one locality domain, in hwloc's logical order: neighbours share caches.
Node cores_in(hwloc_topology_t topology, hwloc_const_cpuset_t set) {
  Node node;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_covering_cpuset_by_type(topology, set, HWLOC_OBJ_CORE, core));) {
    Core units = units_in(topology, core->cpuset);
    if (!units.empty()) node.push_back(std::move(units));
  }
  if (node.empty()) {  // guests may show no cores
    for (int unit : units_in(topology, set)) node.push_back({unit});
  }
  return node;
}

std::vector<Node> read_nodes(hwloc_topology_t topology) {
  std::vector<Node> nodes;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  for (const int i : below(count)) {
    hwloc_obj_t object =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    Node node = cores_in(topology, object->cpuset);
    if (!node.empty()) nodes.push_back(std::move(node));
  }
  if (nodes.empty())
    nodes.push_back(cores_in(topology, hwloc_topology_get_topology_cpuset(topology)));
  return nodes;
}

// Nodes of single-unit "cores": the siblings of a node behind each other, all first siblings first.
Node units_as_cores(const Node& node) {
  Node units;
  for (std::size_t sibling = 0;; ++sibling) {
    const std::size_t before = units.size();
    for (const Core& core : node) {
      if (sibling < core.size()) units.push_back({core[sibling]});
    }
    if (units.size() == before) return units;
  }
}

std::size_t total(const std::vector<Node>& nodes) {
  std::size_t cores = 0;
  for (const Node& node : nodes) cores += node.size();
  return cores;
}

CpuSet first_units(std::vector<Core>::const_iterator begin, std::size_t count) {
  CpuSet set;
  for (const auto i : indices(count)) set.cpus.push_back((begin + as_int64(i))->front());
  std::ranges::sort(set.cpus);
  return set;
}

// How many parts each node takes so that none crosses a node, loads as even as possible; empty when
// the nodes cannot hold them all.
std::vector<std::size_t> parts_per_node(const std::vector<Node>& nodes, std::size_t parts,
                                        std::size_t size) {
  std::vector<std::size_t> taken(nodes.size(), 0);
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t best = nodes.size();
    for (const auto i : indices(nodes)) {
      if ((taken[i] + 1) * size > nodes[i].size()) continue;
      if (best == nodes.size() || taken[i] < taken[best]) best = i;
    }
    if (best == nodes.size()) return {};
    ++taken[best];
  }
  return taken;
}

std::vector<CpuSet> cut_cores(const std::vector<Node>& nodes, std::size_t parts) {
  const std::size_t size = total(nodes) / parts;
  std::vector<CpuSet> sets;
  const auto taken = parts_per_node(nodes, parts, size);
  for (const auto i : indices(taken)) {
    for (const auto j : indices(taken[i])) {
      sets.push_back(first_units(nodes[i].begin() + as_int64(j * size), size));
    }
  }
  if (!sets.empty()) return sets;
  Node all;
  for (const Node& node : nodes) append_all(all, node);
  for (const auto part : indices(parts)) {
    sets.push_back(first_units(all.begin() + as_int64(part * size), size));
  }
  return sets;
}

hwloc_topology_t loaded_topology(const char* synthetic) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw unfit("hwloc cannot start");
  if (synthetic && hwloc_topology_set_synthetic(topology, synthetic) != 0) {
    hwloc_topology_destroy(topology);
    throw refused(std::string("hwloc does not understand the topology '") + synthetic + "'");
  }
  // Only processing units, cores, caches and nodes matter here; probing I/O devices costs
  // milliseconds.
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  // Beside a cache of its own a core would bring no structure, and siblings would look like cores.
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    throw unfit("hwloc cannot read the processor topology");
  }
  return topology;
}

// "L2 2048 KiB of 2 CPUs x4": data and unified caches, each line once with its count.
std::vector<std::string> read_caches(hwloc_topology_t topology) {
  std::map<std::string, int> counts;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                      HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    const int count = std::max(0, hwloc_get_nbobjs_by_type(topology, type));
    for (const int i : below(count)) {
      hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
      const int served = hwloc_bitmap_weight(cache->cpuset);
      ++counts["L" + std::to_string(cache->attr->cache.depth) + " " +
               std::to_string(cache->attr->cache.size >> 10) + " KiB of " + std::to_string(served) +
               (served == 1 ? " CPU" : " CPUs")];
    }
  }
  std::vector<std::string> out;
  for (const auto& [text, count] : counts) out.push_back(text + " x" + std::to_string(count));
  return out;
}

CpuShape shape_of(const std::vector<Node>& nodes, std::vector<std::string> caches) {
  CpuShape out{.caches = std::move(caches)};
  for (const Node& node : nodes) {
    out.cores_of_nodes.push_back(as_int(node.size()));
    for (const Core& core : node) {
      append_all(out.cpus.cpus, core);
    }
  }
  out.cores = as_int(total(nodes));
  std::ranges::sort(out.cpus.cpus);
  std::ranges::sort(out.cores_of_nodes, std::greater<>());
  return out;
}

// Leaves only what this process is bound to: taskset and container limits are the operator's word.
void restrict_to_affinity(hwloc_topology_t topology) {
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_topology_restrict(topology, allowed, 0);
  }
  hwloc_bitmap_free(allowed);
}

}  // namespace

std::string CpuSet::text() const { return ranges_text(cpus); }

struct Topology::Layout {
  std::vector<Node> nodes;
  CpuShape shape;

  explicit Layout(hwloc_topology_t topology)
      : nodes(read_nodes(topology)), shape(shape_of(nodes, read_caches(topology))) {}
};

Topology::Topology(std::unique_ptr<Layout> layout) : layout_(std::move(layout)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;
Topology::~Topology() = default;

Topology Topology::of_machine() {
  hwloc_topology_t topology = loaded_topology(nullptr);
  restrict_to_affinity(topology);
  auto layout = std::make_unique<Layout>(topology);
  hwloc_topology_destroy(topology);
  return Topology(std::move(layout));
}

Topology Topology::synthetic(const std::string& description) {
  hwloc_topology_t topology = loaded_topology(description.c_str());
  auto layout = std::make_unique<Layout>(topology);
  hwloc_topology_destroy(topology);
  return Topology(std::move(layout));
}

int Topology::cores() const { return as_int(total(layout_->nodes)); }

int Topology::processing_units() const {
  std::size_t units = 0;
  for (const Node& node : layout_->nodes) {
    for (const Core& core : node) units += core.size();
  }
  return as_int(units);
}

const CpuShape& Topology::shape() const { return layout_->shape; }

std::vector<CpuSet> Topology::cut(int parts) const {
  if (parts < 1 || parts > processing_units()) {
    throw refused("a CPU of " + std::to_string(processing_units()) +
                  " logical processors cannot be cut into " + std::to_string(parts) + " parts");
  }
  const auto wanted = as_size(parts);
  if (wanted <= total(layout_->nodes)) return cut_cores(layout_->nodes, wanted);
  std::vector<Node> units =
      mapped(layout_->nodes, [&](const Node& node) { return units_as_cores(node); });
  return cut_cores(units, wanted);
}

namespace {

const Topology& topology_of_machine() {
  static const Topology machine = Topology::of_machine();
  return machine;
}

}  // namespace

const CpuShape& cpu_shape() { return topology_of_machine().shape(); }

std::vector<CpuSet> cut(int parts) { return topology_of_machine().cut(parts); }

CpuSet cpus_of(const ShardPlace& place) {
  const auto sets = cut(place.parts);
  if (place.part < 0 || place.part >= place.parts) {
    throw refused("part " + std::to_string(place.part) + " of " + std::to_string(place.parts) +
                  " does not exist");
  }
  return sets[as_size(place.part)];
}

}  // namespace halmark
