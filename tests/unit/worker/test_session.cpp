// The worker's conversation, byte for byte: how it begins, what it answers to frames that no client
// of ours sends, with which code it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <halmark_plugin.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "core/version.hpp"
#include "fake_worker.hpp"
#include "host/process/contained_process.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using protocol::Type;
using testing::HasSubstr;

class RawWorker {
 public:
  explicit RawWorker(const Environment& environment = {}) {
    auto [ours, theirs] = protocol::socket_pair();
    ProcessSpec spec;
    spec.program = halmark::test::in_build("/bin/halmark-worker");
    spec.environment = worker_environment({}, environment);
    spec.protocol_fd = theirs.get();
    process = ContainedProcess::start(spec);
    channel = protocol::Channel(std::move(ours));
  }
  template <class Message>
  protocol::Received ask(Type type, const Message& message, int fd = -1) {
    EXPECT_TRUE(channel.send_message(type, ++request, message, fd));
    return answer();
  }
  // The answer behind the notes of phases.
  protocol::Received answer() {
    protocol::Received received;
    do {
      received = channel.receive(protocol::deadline_after(60));
      phases.push_back(received.frame.payload);
    } while (received && received.frame.type() == Type::phase);
    if (received) {
      EXPECT_EQ(received.frame.header.request, request);
    }
    return received;
  }
  std::string failure(const protocol::Received& received) {
    EXPECT_EQ(received.frame.type(), Type::failed);
    return protocol::decode<protocol::Failed>(received.frame.payload).message;
  }
  void greet(protocol::Hello hello = {}) {
    ASSERT_EQ(ask(Type::hello, hello).frame.type(), Type::hello);
  }
  void load() {
    ASSERT_EQ(ask(Type::load, protocol::Load{halmark::test::in_build("/tests/plugins/hm_fake.so")})
                  .frame.type(),
              Type::plugin);
  }
  int exit_code() {
    const auto cause = process->wait(protocol::deadline_after(60));
    return cause && cause->signal == 0 ? cause->code : -1;
  }
  std::unique_ptr<ContainedProcess> process;
  protocol::Channel channel;
  std::uint32_t request = 100;
  std::vector<std::string> phases;
};

TEST(Session, begins_with_a_hello_and_ends_with_quit_or_the_end_of_the_stream) {
  RawWorker worker;
  protocol::Hello hello;
  hello.cpus = {cut(1).front().cpus.front()};
  const auto greeted = worker.ask(Type::hello, hello);
  ASSERT_EQ(greeted.frame.type(), Type::hello);
  const auto own = protocol::decode<protocol::Hello>(greeted.frame.payload);
  EXPECT_EQ(own.pid, worker.process->pid());
  EXPECT_EQ(own.build, tool_build);
  EXPECT_EQ(own.protocol, protocol::version);
  ASSERT_TRUE(worker.channel.send(Type::quit, 7, 0, ""));
  EXPECT_EQ(worker.exit_code(), 0);
  RawWorker left;
  left.greet();
  left.channel.close();
  EXPECT_EQ(left.exit_code(), 0);
}

TEST(Session, that_begins_otherwise_is_over) {
  RawWorker loading;
  ASSERT_TRUE(loading.channel.send_message(Type::load, 1, protocol::Load{"x"}));
  EXPECT_EQ(loading.exit_code(), 1);
  for (const auto& [cpu, said] : {std::pair(-1, "no CPU has this number"),
                                  {CPU_SETSIZE, "no CPU has this number"},
                                  {CPU_SETSIZE - 1, "cannot bind to the CPUs"}}) {
    RawWorker worker;
    protocol::Hello hello;
    hello.cpus = {cpu};
    ASSERT_TRUE(worker.channel.send_message(Type::hello, 1, hello));
    EXPECT_EQ(worker.exit_code(), 1);
    EXPECT_THAT(worker.process->log_tail(), HasSubstr(said));
  }
  RawWorker gone;
  gone.channel.close();
  EXPECT_EQ(gone.exit_code(), 1);
}

TEST(Session, of_damaged_frames_ends_with_one) {
  RawWorker worker;
  worker.greet();
  ASSERT_EQ(::send(worker.channel.fd(), "no frame, but long enough", 25, 0), 25);
  EXPECT_EQ(worker.exit_code(), 1);
}

TEST(Session, answers_what_it_cannot_do_and_goes_on) {
  RawWorker worker;
  worker.greet();
  EXPECT_EQ(worker.failure(worker.ask(Type::kernels, protocol::Drop{})), "no plugin is loaded");
  EXPECT_EQ(worker.failure(worker.ask(Type::hello, protocol::Hello{})), "no request of type 1");
  ASSERT_TRUE(worker.channel.send(Type::load, ++worker.request, 0, "{"));
  const auto malformed = worker.answer();
  EXPECT_THAT(worker.failure(malformed), HasSubstr("not JSON"));
  EXPECT_EQ(protocol::decode<protocol::Failed>(malformed.frame.payload).code, HM_INVALID_ARGUMENT);
  worker.load();
  const auto listed = worker.ask(Type::kernels, protocol::Drop{});
  ASSERT_EQ(listed.frame.type(), Type::plugin);
  EXPECT_FALSE(protocol::decode<protocol::PluginDescription>(listed.frame.payload).kernels.empty());
  EXPECT_EQ(worker.failure(worker.ask(Type::domains, protocol::DomainsRequest{"gemm", {}})),
            "no device is open");
  ASSERT_EQ(worker.ask(Type::open, protocol::Open{}).frame.type(), Type::opened);
  EXPECT_THAT(worker.failure(worker.ask(Type::domains,
                                        protocol::DomainsRequest{"gemm", {"gemm", {{"m", 1}}}})),
              HasSubstr("gemm"));
  ASSERT_TRUE(worker.channel.send(Type::close, ++worker.request, 0, ""));
  EXPECT_EQ(worker.answer().frame.type(), Type::closed);
  EXPECT_EQ(worker.failure(worker.ask(Type::drop, protocol::Drop{3})), "no device is open");
}

TEST(Session, notes_each_phase_before_it) {
  RawWorker worker;
  worker.greet();
  worker.load();
  ASSERT_EQ(worker.ask(Type::open, protocol::Open{}).frame.type(), Type::opened);
  worker.phases.clear();
  const auto staged =
      worker.ask(Type::stage, test::stage_of(1, test::gemm(2, 2, 2), CacheMode::rotate_const, 2));
  ASSERT_EQ(staged.frame.type(), Type::staged);
  worker.phases.pop_back();
  EXPECT_THAT(worker.phases, testing::ElementsAre(R"({"phase":"create"})", R"({"phase":"create"})",
                                                  R"({"phase":"pack"})", R"({"phase":"first"})"));
  EXPECT_EQ(worker.failure(worker.ask(Type::stage, test::small_stage())), "1 is staged already");
  const auto with_barrier = [&](Type type, auto request) {
    request.barrier = protocol::Barrier{1, 0};
    return worker.failure(worker.ask(type, request));
  };
  for (const std::string& said : {with_barrier(Type::sample, test::count_samples(1, 3)),
                                  with_barrier(Type::sequence, protocol::SequenceRequest()),
                                  with_barrier(Type::probe, protocol::ProbeRequest())}) {
    EXPECT_EQ(said, "the barrier came without its memory");
  }
}

TEST(Session, says_of_each_config_whether_a_kernel_takes_it) {
  test::FakeWorker worker;
  Config fine, narrow, unknown;
  fine.labels = {{"impl", "wide"}};
  fine.params = {{"block", 32}};
  narrow.labels = {{"impl", "wide"}};
  narrow.params = {{"block", 8}};
  unknown.labels = {{"imp", "wide"}};
  const auto answer = worker->supports("", test::gemm(2, 2, 2), {fine, narrow, unknown, {}});
  ASSERT_TRUE(answer) << answer.failure.reason;
  EXPECT_THAT(answer->status, testing::ElementsAre(HM_OK, HM_UNSUPPORTED, HM_UNSUPPORTED, HM_OK));
  EXPECT_EQ(answer->reason[0], "");
  EXPECT_THAT(answer->reason[2], HasSubstr("the kernel has no parameter imp"));
  const auto domains = worker->domains("gemm", test::gemm(2, 2, 2));
  if (domains) {
    EXPECT_EQ(domains->size(), 2u);
  } else {
    EXPECT_THAT(domains.failure.reason, HasSubstr("did you mean"));
  }
}

TEST(Session, stages_a_collective_in_a_group_alone) {
  test::FakeWorker worker;
  const Problem problem{"all_reduce", {{"bytes", 64}, {"ranks", 1}, {"dtype", test::f32}}};
  const auto alone = worker->stage(test::stage_of(1, problem, CacheMode::hot, 1));
  EXPECT_EQ(alone.failure.status, Status::unsupported);
  EXPECT_THAT(alone.failure.reason, HasSubstr(" is a collective: it needs a group of workers"));
  ASSERT_TRUE(worker->join({}));
  EXPECT_TRUE(worker->stage(test::stage_of(1, problem, CacheMode::hot, 1)));
}

TEST(Session, answers_a_token_in_hexadecimal) {
  test::FakeWorker worker;
  const auto token = worker->token();
  ASSERT_TRUE(token) << token.failure.reason;
  EXPECT_EQ(token->hex.size() % 2, 0u);
  EXPECT_EQ(token->hex.find_first_not_of("0123456789abcdef"), std::string::npos);
}

// More samples than fit one frame: 16 MiB hold 349,525 of 48 bytes.
TEST(Session, sends_a_long_series_in_several_frames) {
  test::FakeWorker worker;
  ASSERT_TRUE(worker->stage(test::stage_of(1, test::gemm(1, 1, 1), CacheMode::hot, 1)));
  auto request = test::count_samples(1, 400'000);
  request.wall_cap_s = 100;
  const auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  ASSERT_EQ(sampled->samples.size(), 400'000u);
  for (std::size_t i = 1; i < sampled->samples.size(); ++i) {
    ASSERT_GT(sampled->samples[i].begin_ns, sampled->samples[i - 1].begin_ns) << i;
  }
}

class RankWorker : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/halmark-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder + "/group";
    listener = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::unique_ptr<ContainedProcess> start(std::vector<std::string> arguments,
                                          const Environment& environment = {}) {
    ProcessSpec spec;
    spec.program = halmark::test::in_build("/bin/halmark-worker");
    spec.arguments = std::move(arguments);
    spec.environment = environment;
    return ContainedProcess::start(spec);
  }
  int code(std::vector<std::string> arguments) {
    auto process = start(std::move(arguments));
    const auto cause = process->wait(protocol::deadline_after(60));
    said = process->log_tail();
    return cause && cause->signal == 0 ? cause->code : -1;
  }
  std::string folder, path, said;
  FileDescriptor listener;
};

TEST_F(RankWorker, introduces_itself_with_its_token_and_the_rank_of_its_launcher) {
  for (const auto& [environment, rank] :
       {std::pair(Environment{{"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "4"}}, 3),
        std::pair(Environment{{"PMIX_RANK", "4"}, {"PMI_RANK", "5"}}, 4),
        std::pair(Environment{{"PMI_RANK", "5"}}, 5), std::pair(Environment{}, 0)}) {
    auto process = start({"--connect", path, "--token", "secret"}, environment);
    protocol::Channel channel{
        FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC))};
    auto introduced = channel.receive(protocol::deadline_after(60));
    ASSERT_EQ(introduced.frame.type(), Type::hello);
    EXPECT_EQ(introduced.frame.header.request, 0u);
    auto hello = protocol::decode<protocol::Hello>(introduced.frame.payload);
    EXPECT_EQ(hello.token, "secret");
    EXPECT_EQ(hello.rank, rank);
    EXPECT_EQ(hello.pid, process->pid());
    ASSERT_TRUE(channel.send_message(Type::hello, 9, protocol::Hello{}));
    auto answered = channel.receive(protocol::deadline_after(60));
    EXPECT_EQ(answered.frame.header.request, 9u);
    EXPECT_EQ(protocol::decode<protocol::Hello>(answered.frame.payload).rank, rank);
    channel.close();
    EXPECT_EQ(process->wait(protocol::deadline_after(60))->code, 0);
  }
}

TEST_F(RankWorker, that_reaches_nobody_or_is_told_nonsense_says_so) {
  EXPECT_EQ(code({"--connect", folder + "/nobody", "--token", "t"}), 5);
  EXPECT_THAT(said, HasSubstr("cannot reach " + folder + "/nobody"));
  EXPECT_EQ(code({"--connect", "/" + std::string(107, 'x'), "--token", "t"}), 5);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--connect"},
                                                    {"--connect", path, "--token"},
                                                    {"--token", "t"},
                                                    {"--conect", path},
                                                    {}}) {
    EXPECT_EQ(code(arguments), 2);
    EXPECT_EQ(said, "halmark-worker is started by halmark; run halmark instead\n");
  }
}

}  // namespace
}  // namespace halmark
