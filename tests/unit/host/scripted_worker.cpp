// A child that speaks the protocol badly on purpose. HALMARK_FAKE_HOST names what it does; without
// a fault it answers every request with something small and valid.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "host/process/shared_memory.hpp"
#include "host/transport.hpp"

namespace {

using namespace halmark;
using namespace halmark::protocol;

const std::string fault = std::getenv("HALMARK_FAKE_HOST") ? std::getenv("HALMARK_FAKE_HOST") : "";

// The one conversation: what comes next answers this request.
Channel channel;
std::uint32_t request = 0;

template <class Message>
bool say(Type type, const Message& message, int fd = -1) {
  return channel.send_message(type, request, message, fd);
}
bool say_raw(Type type, const std::string& payload) {
  return channel.send(type, request, 0, payload);
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

// A daemon that left session and group, ignores SIGTERM, and writes its pid to HALMARK_FAKE_PIDS.
void leave_daemon() {
  if (::fork() != 0) return;
  ::setsid();
  ::signal(SIGTERM, SIG_IGN);
  if (::fork() != 0) ::_exit(0);
  ::close(worker_descriptor);
  const int fd = ::open(std::getenv("HALMARK_FAKE_PIDS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string line = std::to_string(::getpid()) + "\n";
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  hang();
}

void misbehave(const std::string& phase) {
  if (fault == "hang_" + phase) {
    ::signal(SIGTERM, SIG_IGN);
    hang();
  }
  if (fault == "spin_" + phase) {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    for (std::atomic<unsigned> turns{0};;) turns.fetch_add(1);
  }
  if (fault == "stop_" + phase) ::raise(SIGSTOP);
  if (fault == "crash_" + phase) {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  if (fault == "abort_" + phase) {
    ::signal(SIGABRT, SIG_DFL);
    ::abort();
  }
  if (fault == "exit_" + phase) ::_exit(0);
  const std::string raise = "raise_" + phase + "_";  // and the number of the signal
  if (fault.starts_with(raise)) {
    const int signal = std::atoi(fault.c_str() + raise.size());
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  if (fault == "fill_memory_" + phase) {
    constexpr std::size_t block_bytes = 16u << 20;
    while (true) std::memset(new char[block_bytes], 1, block_bytes);
  }
  if (fault == "daemon_" + phase) {
    leave_daemon();
    hang();
  }
}

void send_raw(const void* bytes, std::size_t count) {
  [[maybe_unused]] const auto sent = ::send(worker_descriptor, bytes, count, MSG_NOSIGNAL);
}

void send_bad_frame() {
  FrameHeader header{magic, static_cast<std::uint16_t>(Type::plugin), 0, request, 8};
  if (fault == "bad_magic") header.magic = 0x21212121;
  if (fault == "oversized") header.length = max_payload_bytes + 1;
  if (fault == "unknown_type") header.type = 9999;
  if (fault == "truncated") {
    send_raw(&header, sizeof header);
    send_raw("half", 4);
    ::_exit(0);
  }
  send_raw(&header, sizeof header);
  hang();
}

void answer_supports(const SupportsRequest& asked) {
  SupportsAnswer answer;
  answer.status.resize(asked.configs.size() + (fault == "long_status" ? 1 : 0));
  answer.reason.resize(asked.configs.size() + (fault == "long_reason" ? 1 : 0));
  say(Type::answer, answer);
}

Hello hello(const Hello& asked) {
  Hello answer;
  if (fault == "other_protocol") ++answer.protocol;
  answer.pid = ::getpid();
  answer.rank = asked.rank;
  answer.cpus = asked.cpus;
  answer.build = "scripted";
  return answer;
}

void note(const char* phase) {
  if (!say(Type::phase, PhaseNote{phase})) ::_exit(1);
  misbehave(phase);
}

// Answers a load with something else; whether it did.
bool answer_load_oddly() {
  if (fault == "other_kind") return say(Type::dropped, Drop{});
  if (fault == "unasked_samples") return say_raw(Type::samples, pack_doubles({1}));
  if (fault == "bad_phase") return say_raw(Type::phase, "{");
  if (fault == "bad_failed") return say_raw(Type::failed, "{");
  if (fault == "bad_refused") return say_raw(Type::refused, "{");
  if (fault == "silent_failure") return say(Type::failed, Failed{3, "", ""});
  if (fault == "long_phase") {
    say(Type::phase, PhaseNote{std::string(40, 'p')});
    ::_exit(0);
  }
  return false;
}

void answer_load() {
  if (const char* text = std::getenv("HALMARK_FAKE_SAY")) {
    std::fputs(text, stdout);
    std::fflush(stdout);
  }
  misbehave("load");
  if (answer_load_oddly()) return;
  if (fault == "bad_magic" || fault == "oversized" || fault == "unknown_type" ||
      fault == "truncated") {
    send_bad_frame();
  }
  if (fault == "not_json") return void(say_raw(Type::plugin, "{\"name\":"));
  if (fault == "other_request") {
    request += 7;
    say(Type::plugin, PluginDescription{});
    return;
  }
  if (fault == "refuse") {
    say(Type::refused, Refused{"no\x1b[31m such entry"});
    return;
  }
  if (fault == "optional_type") (void)channel.send(static_cast<Type>(9999), request, 1, "skip me");
  if (fault == "flood") {
    const std::string line(1023, 'x');
    for (int i = 0; i < 12'000; ++i) std::puts(line.c_str());
    std::puts("the last line");
    std::fflush(stdout);
  }
  PluginDescription plugin;
  plugin.name = "scripted";
  plugin.devices.resize(1);
  plugin.devices[0].id = "0";
  for (const char* name : {"PATH", "HALMARK_SECRET", "OMP_NUM_THREADS", "GOMP_SPINCOUNT"}) {
    const char* value = std::getenv(name);
    plugin.log.push_back(std::string(name) + "=" + (value ? value : "(unset)"));
  }
  cpu_set_t cpus;
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  plugin.log.push_back("cpus=" + std::to_string(CPU_COUNT(&cpus)));
  plugin.log.push_back("sid=" + std::to_string(::getsid(0) == ::getpid()));
  for (int fd = 4; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) plugin.log.push_back("open descriptor " + std::to_string(fd));
  }
  say(Type::plugin, plugin);
}

void answer_stage(const Stage& stage) {
  note("create");
  note("pack");
  note("first");
  if (fault == "unsupported") {
    say(Type::failed, Failed{1, "create", "no kernel for it"});
    return;
  }
  Staged staged;
  staged.id = stage.id;
  staged.kernel = stage.problem.op;
  staged.sets = stage.sets;
  say(Type::staged, staged);
}

void answer_sample(const SampleRequest& sample) {
  note("sample");
  const double wall = fault == "nan_sample" ? std::nan("") : 250.0;
  std::vector<double> block;
  for (int i = 0; i < 10; ++i) {
    const double label = i < 4 ? 1 : 2;
    const double values[] = {1000.0 * i, wall, 500.0, std::nan(""), static_cast<double>(i % 2),
                             label};
    block.insert(block.end(), std::begin(values), std::end(values));
  }
  say_raw(Type::samples, fault == "odd_block" ? std::string(7, 'x') : pack_doubles(block));
  Measured measured;
  measured.id = sample.id;
  measured.stop_rule = StopReason::count;
  measured.samples = 10;
  const char* const text = std::getenv("HALMARK_FAKE_KEPT");
  if (text == nullptr) {
    say(Type::measured, measured);
    return;
  }
  auto memory = SharedMemory::create("kept", 4096, false);
  for (int i = 0; i < 4096; ++i) memory.data()[i] = static_cast<std::byte>(i % 251);
  measured.overwritten.resize(1);
  std::istringstream numbers(text);  // offset, bytes, begin and row of each; row -9: none
  std::int64_t row = 0;
  for (KeptOutput kept; numbers >> kept.offset >> kept.bytes >> kept.begin >> row;) {
    if (row != -9) kept.overwritten = row;
    measured.kept.push_back(kept);
  }
  const int fd = fault == "no_memory" ? -1 : memory.fd();
  say(Type::measured, measured, fd);
}

void answer_reveal(const Reveal& reveal) {
  auto memory = SharedMemory::create("revealed", 4096, false);
  std::memset(memory.data(), 7, 4096);
  Revealed revealed;
  revealed.id = reveal.id;
  revealed.parts.push_back({0, 2, 64, fault == "long_reveal" ? 1 << 20 : 128});
  if (const char* text = std::getenv("HALMARK_FAKE_PARTS")) {  // offset and bytes of each
    revealed.parts.clear();
    std::istringstream numbers(text);
    for (RevealedPart part; numbers >> part.offset >> part.bytes;) revealed.parts.push_back(part);
  }
  const int fd = fault == "no_memory" ? -1 : memory.fd();
  say(Type::revealed, revealed, fd);
}

// --connect SOCKET --token T: a rank introduces itself before it serves.
void connect_as_rank(char** argv) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, argv[2], sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    ::_exit(1);
  }
  channel = Channel(std::move(socket));
  Hello introduction;
  introduction.pid = ::getpid();
  introduction.token = fault == "wrong_token" ? "guess" : argv[4];
  introduction.rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  if (!say(Type::hello, introduction)) ::_exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) {
    connect_as_rank(argv);
  } else {
    channel = Channel(FileDescriptor(worker_descriptor));
  }
  while (auto received = channel.receive()) {
    const auto& frame = received.frame;
    request = frame.header.request;
    switch (frame.type()) {
      case Type::hello:
        misbehave("hello");
        say(Type::hello, hello(decode<Hello>(frame.payload)));
        break;
      case Type::load:
        answer_load();
        break;
      case Type::stage:
        answer_stage(decode<Stage>(frame.payload));
        break;
      case Type::sample:
        answer_sample(decode<SampleRequest>(frame.payload));
        break;
      case Type::reveal:
        answer_reveal(decode<Reveal>(frame.payload));
        break;
      case Type::supports:
        answer_supports(decode<SupportsRequest>(frame.payload));
        break;
      case Type::open:
        misbehave("open");
        say(Type::opened, DeviceDescription{});
        break;
      case Type::sequence:
        misbehave("sequence");
        answer_sample(SampleRequest{});
        break;
      case Type::probe:
        misbehave("probe");
        say(Type::answer, ProbeAnswer{{}, {1, 2}, ""});
        break;
      case Type::token:
        say(Type::answer, TokenAnswer{"ab"});
        break;
      case Type::join:
        misbehave("join");
        say_raw(Type::joined, "");
        break;
      case Type::close:
        misbehave("close");
        say_raw(Type::closed, "");
        break;
      case Type::drop:
        misbehave("drop");
        say(Type::dropped, Drop{});
        break;
      case Type::quit:
        misbehave("quit");
        return 0;
      default:
        say(Type::failed, Failed{2, "", "not scripted"});
    }
  }
  return 0;
}
