// Who comes to the door of ranks on other nodes: with the token, or not at all.
#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/text/error.hpp"
#include "host/nodes/node_group.hpp"
#include "host/nodes/node_list.hpp"
#include "host/nodes/node_report.hpp"
#include "host/nodes/rank_listener.hpp"
#include "host/process/shared_memory.hpp"

namespace halmark {
namespace {

using Nodes = std::vector<NodeRanks>;
using testing::HasSubstr;

constexpr const char* loopback = "127.0.0.1";

std::optional<protocol::Channel> await_channel(RankListener& listener, int tries = 40) {
  for (int i = 0; i < tries; ++i) {
    if (auto channel = listener.accept()) return channel;
  }
  return std::nullopt;
}

FileDescriptor caller_of(const RankListener& listener) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(listener.port()));
  ::inet_pton(AF_INET, loopback, &address.sin_addr);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

FileDescriptor call(const RankListener& listener, RankLine line, int rank = 0) {
  return connect_rank(loopback, listener.port(), listener.token(), rank, line);
}

void expect_closed(const FileDescriptor& caller) {
  const timeval limit{5, 0};
  ::setsockopt(caller.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte = 0;
  EXPECT_EQ(::recv(caller.get(), &byte, 1, 0), 0);
}

TEST(NetworkDoor, a_rank_with_the_token_brings_its_two_lines) {
  RankListener listener(loopback, 2);
  EXPECT_EQ(listener.token().size(), 64u);
  for (const int rank : {1, 0}) {
    EXPECT_FALSE(listener.is_complete());
    const auto meetings = call(listener, RankLine::meetings, rank),
               requests = call(listener, RankLine::requests, rank);
    ASSERT_TRUE(meetings && requests);
    const auto channel = await_channel(listener);
    ASSERT_TRUE(channel);
    EXPECT_EQ(channel->memory_by(), protocol::MemoryBy::copy);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(listener.accept());
  }
  EXPECT_TRUE(listener.is_complete());
}

TEST(NetworkDoor, another_token_rank_or_greeting_is_closed_without_an_answer) {
  RankListener listener(loopback, 2);
  std::string false_token = listener.token();
  false_token.back() = false_token.back() == '0' ? '1' : '0';
  const std::string rank_1("\1\0\0\0\1\0\0\0", 8), rank_2("\1\0\0\0\2\0\0\0", 8);
  for (const std::string& opening :
       {"HMRANK1\n" + false_token + rank_1, "HMRANK1\n" + listener.token() + rank_2,
        "GET / HT" + listener.token() + rank_1}) {
    const FileDescriptor caller = caller_of(listener);
    ASSERT_EQ(::send(caller.get(), opening.data(), opening.size(), 0), 80);
    EXPECT_FALSE(await_channel(listener, 4));
    expect_closed(caller);
  }
}

TEST(NetworkDoor, tells_ranks_where_it_is_and_its_token_to_nobody) {
  RankListener listener(loopback, 2);
  const std::vector<std::string> expected{"--connect-to", loopback, "--port",
                                          std::to_string(listener.port())};
  EXPECT_EQ(listener.arguments(), expected);
  EXPECT_EQ(listener.address(), loopback);
  EXPECT_EQ(listener.token().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(RankListener(loopback, 2).token(), listener.token());
  EXPECT_FALSE(
      connect_rank(loopback, listener.port(), listener.token() + "0", 0, RankLine::requests));
  EXPECT_FALSE(
      connect_rank("no such host", listener.port(), listener.token(), 0, RankLine::requests));
}

// Of two lines for the meetings of a rank the first stays; lines of no kind are closed.
TEST(NetworkDoor, each_rank_has_one_line_for_its_meetings) {
  RankListener listener(loopback, 1);
  const auto first = call(listener, RankLine::meetings);
  for (int i = 0; i < 40 && !listener.is_complete(); ++i) EXPECT_FALSE(listener.accept());
  ASSERT_TRUE(listener.is_complete());
  for (const RankLine line : {RankLine::meetings, static_cast<RankLine>(3)}) {
    const auto other = call(listener, line);
    EXPECT_FALSE(await_channel(listener, 4));
    expect_closed(other);
  }
  const auto meetings = listener.take_meetings();
  ASSERT_EQ(meetings.size(), 1u);
  ASSERT_EQ(::send(meetings[0].get(), "x", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(::recv(first.get(), &byte, 1, 0), 1);
}

TEST(NetworkDoor, sends_small_messages_at_once_and_notices_who_vanished) {
  RankListener listener(loopback, 1);
  const auto requests = call(listener, RankLine::requests);
  const auto channel = await_channel(listener);
  ASSERT_TRUE(channel);
  for (const int socket : {requests.get(), channel->fd()}) {
    int at_once = 0, alive = 0;
    socklen_t length = sizeof at_once;
    ::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, &length);
    ::getsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &alive, &length);
    EXPECT_TRUE(at_once != 0 && alive != 0);
  }
}

// In pieces, slowly: whoever says all of it within five seconds is heard.
TEST(NetworkDoor, hears_an_opening_in_pieces_and_closes_who_takes_too_long) {
  RankListener listener(loopback, 1);
  const std::string opening = "HMRANK1\n" + listener.token() + std::string("\1\0\0\0\0\0\0\0", 8);
  const FileDescriptor slow = caller_of(listener);
  const auto begin = std::chrono::steady_clock::now();
  const FileDescriptor never = caller_of(listener);
  for (std::size_t at = 0; at < 80; at += 16) {
    ASSERT_EQ(::send(slow.get(), opening.data() + at, 16, 0), 16);
    if (at == 64) break;
    EXPECT_FALSE(await_channel(listener, 3));
  }
  EXPECT_TRUE(await_channel(listener));
  char byte = 0;
  while (::recv(never.get(), &byte, 1, MSG_DONTWAIT) < 0 &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) {
    (void)listener.accept();
  }
  EXPECT_EQ(::recv(never.get(), &byte, 1, MSG_DONTWAIT), 0) << "it was closed";
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4900));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(NetworkDoor, callers_that_say_nothing_do_not_keep_a_rank_out) {
  RankListener listener(loopback, 1);
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(caller_of(listener));
    (void)listener.accept();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto requests = call(listener, RankLine::requests);
  EXPECT_TRUE(await_channel(listener));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4500))
      << "each of them has five seconds";
}

TEST(NetworkDoor, a_wildcard_or_another_machine_is_no_address_to_listen_at) {
  for (const char* address : {"0.0.0.0", "::", "", "no such host"}) {
    EXPECT_THROW(RankListener(address, 2), Error) << address;
  }
  EXPECT_THROW(RankListener("192.0.2.1", 2), Error);  // of documentation: of no machine
}

TEST(NetworkDoor, memory_beside_a_frame_arrives_as_its_bytes) {
  RankListener listener(loopback, 1);
  protocol::Channel rank(call(listener, RankLine::requests), protocol::MemoryBy::copy);
  auto parent = await_channel(listener);
  ASSERT_TRUE(parent);
  constexpr std::int64_t bytes = (3 << 20) + 5;
  SharedMemory memory = SharedMemory::create("test", bytes, false);
  for (std::int64_t i = 0; i < bytes; ++i)
    memory.data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::thread sender([&] {
    EXPECT_TRUE(rank.send(protocol::Type::revealed, 3, 0, "{}", memory.fd()));
    EXPECT_TRUE(rank.send(protocol::Type::closed, 4, 0, ""));
  });
  auto received = parent->receive(protocol::deadline_after(20));
  sender.join();
  ASSERT_TRUE(received) << received.reason;
  EXPECT_EQ(received.frame.payload, "{}");
  ASSERT_EQ(received.frame.fds.size(), 1u);
  const auto copy =
      SharedMemory::map(std::move(received.frame.fds[0]), bytes, Access::read_only, false);
  EXPECT_TRUE(std::equal(copy.view().begin(), copy.view().end(), memory.view().begin()));
  memory.data()[0] = std::byte{99};
  EXPECT_NE(copy.data()[0], memory.data()[0]);  // no memory in common
  const auto next = parent->receive(protocol::deadline_after(20));
  ASSERT_TRUE(next);
  EXPECT_EQ(next.frame.type(), protocol::Type::closed);
}

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
