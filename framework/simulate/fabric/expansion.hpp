// The steps of expand(): each adds its entities and links to the same topology.
#pragma once

#include <vector>

#include "simulate/fabric/fabric_plan.hpp"

namespace halmark::fabric {

struct Expansion {
  const FabricPlan& plan;
  Topology& topology;
  std::vector<std::vector<int>> devices;  // by node
  std::vector<std::vector<int>> hosts;    // by node and NUMA domain; empty without hosts
  int host_figure = -1;                   // of device to host and to adapter

  int add_figure(const StatedFigure& stated);
  int add_entity(Entity entity);
  void add_link(int from, int to, int figure, int cables = 1);
  // A level whose groups say something new: more than one rank each, and not those of another.
  void add_level(std::string name, std::vector<std::vector<int>> groups);
};

void add_nodes(Expansion& expansion);
void add_scale_up(Expansion& expansion);
void add_network(Expansion& expansion);

}  // namespace halmark::fabric
