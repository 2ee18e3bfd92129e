#include "host/nodes/node_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/text/error.hpp"
#include "host/nodes/node_group.hpp"
#include "host/nodes/node_report.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using Nodes = std::vector<NodeRanks>;

std::string node_list_refusal(std::string_view text, std::string_view slurm = {}) {
  try {
    parse_mpi_hosts(text, slurm);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.line();
  }
  return "accepted";
}

TEST(NodeList, reads_nodes_and_their_ranks_in_order) {
  EXPECT_EQ(parse_mpi_hosts("n1:2,10.0.0.7:1"), (Nodes{{"n1", 2}, {"10.0.0.7", 1}}));
}

TEST(NodeList, takes_letters_digits_dots_dashes_and_underscores_in_names) {
  EXPECT_EQ(parse_mpi_hosts("azAZ09._-:1,z:1"), (Nodes{{"azAZ09._-", 1}, {"z", 1}}));
  EXPECT_EQ(parse_mpi_hosts(std::string(253, 'n') + ":1,m:1").front().host.size(), 253u);
  for (const std::string& bad :
       {std::string("`"), std::string("{"), std::string("@"), std::string("["), std::string("/"),
        std::string("-n"), std::string(254, 'n')}) {
    EXPECT_THAT(node_list_refusal("m:1," + bad + ":1"), HasSubstr("is not the name of a node"))
        << bad;
  }
}

TEST(NodeList, reads_the_nodes_of_a_slurm_allocation) {
  EXPECT_EQ(parse_mpi_hosts("slurm:4", "n[08-10,12],gpu01"),
            (Nodes{{"n08", 4}, {"n09", 4}, {"n10", 4}, {"n12", 4}, {"gpu01", 4}}));
}

TEST(NodeList, refuses_in_one_line_what_names_no_job_over_nodes) {
  const struct {
    const char *hosts, *refusal, *slurm = "";
  } cases[] = {{"n1", "'n1' is not a node and its ranks"},
               {"n1:0,n2:1", "'n1:0' is not a node and its ranks"},
               {"n1:2x,n2:1", "'n1:2x'"},
               {"n1:2", "one node is no job over several"},
               {"n1:2,n1:2", "node n1 is named twice"},
               {"n1:2,--mca:2", "'--mca' is not the name of a node"},
               {"n1:2,a b:2", "'a b' is not the name of a node"},
               {"n1:65,n2:64", "129 ranks are more than 128"},
               {"n1:64,n2:64", "accepted"},
               {"n1:2147483647,n2:1", "more than 128"},
               {"slurm:2", "no Slurm allocation"},
               {"slurm:", "no number of ranks per node", "n[1-2]"},
               {"slurm:1", "which is not read", "n[1-2][3-4]"},
               {"slurm:1", "which is not read", "n[2-1]"}};
  for (const auto& [hosts, refusal, slurm] : cases) {
    EXPECT_THAT(node_list_refusal(hosts, slurm), HasSubstr(refusal)) << hosts << slurm;
  }
}

TEST(NodeList, ranks_fill_nodes_in_order) {
  const Nodes nodes{{"n1", 2}, {"n2", 1}};
  EXPECT_EQ(ranks_of(nodes), 3);
  EXPECT_EQ(node_of_rank(nodes, 0), "n1");
  EXPECT_EQ(node_of_rank(nodes, 1), "n1");
  EXPECT_EQ(node_of_rank(nodes, 2), "n2");
  EXPECT_THROW(node_of_rank(nodes, 3), std::out_of_range);
  EXPECT_THROW(node_of_rank(nodes, -1), std::out_of_range);
  EXPECT_EQ(launcher_arguments(nodes),
            (std::vector<std::string>{"--host", "n1:2,n2:1", "--map-by", "slot"}));
}

TEST(NodeReport, survives_its_line_and_no_other_line_is_one) {
  const NodeReport report{3, "n2", "aa", "", "cpu-01", "Some CPU @ 2 GHz"};
  EXPECT_EQ(parse_report(report_line(report)), report);
  NodeReport tabbed = report;
  tabbed.processor = "a\tb\nc\x1f~";
  EXPECT_EQ(report_line(tabbed), "halmark-node-report\t3\tn2\taa\t\tcpu-01\ta b c ~");
  const std::string sound = "halmark-node-report\t0\tn2\taa\tbb\tcc\tdd";
  EXPECT_EQ(parse_report(sound)->rank, 0);
  for (const std::string& line :
       {std::string("mpirun: something else"), sound + "\tmore", "x" + sound,
        std::string(sound).replace(20, 1, "-1"), std::string(sound).replace(20, 1, "1x"),
        sound.substr(0, sound.rfind('\t'))}) {
    EXPECT_FALSE(parse_report(line)) << line;
  }
}

// Three nodes of four ranks at most.
TEST(NodeJobs, are_filled_node_by_node) {
  const NodeJob job{{{"a", 4}, {"b", 4}, {"c", 4}}, "10.0.0.1"};
  EXPECT_FALSE(filled_nodes(std::nullopt, 8));
  EXPECT_FALSE(filled_nodes(job, 4)) << "one node has room for them";
  EXPECT_EQ(filled_nodes(job, 8), (NodeJob{{{"a", 4}, {"b", 4}}, "10.0.0.1"}));
  EXPECT_EQ(filled_nodes(job, 12), job);
}

TEST(NodeJobs, have_parts_with_fewer_ranks_on_each_node) {
  const NodeJob job{{{"a", 4}, {"b", 4}, {"c", 4}}, "10.0.0.1"};
  EXPECT_EQ(part_of(job, 2, 1), (NodeJob{{{"a", 1}, {"b", 1}}, "10.0.0.1"}));
}

}  // namespace
}  // namespace halmark
