// halmark-worker: drives one device for the parent. A compute worker inherits its socket; a rank of
// a group connects: halmark-worker --connect SOCKET --token T, with its rank from the MPI launcher.
// On another node the rank comes over the network, with its token from the environment:
// halmark-worker --connect-to ADDRESS --port N.
// halmark-worker --node-report PLUGIN says what node it is on and which build it is, and ends.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "host/nodes/meeting.hpp"
#include "host/nodes/node_report.hpp"
#include "host/nodes/rank_listener.hpp"
#include "worker/session.hpp"

namespace {

using halmark::FileDescriptor;
using halmark::worker::Introduction;

constexpr int exit_refused = 2;
constexpr int exit_unreachable = 5;

struct Arguments {
  std::string socket, token;
  std::string address;  // instead of the socket
  int port = 0;
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--connect") {
      arguments.socket = argv[i + 1];
    } else if (name == "--token") {
      arguments.token = argv[i + 1];
    } else if (name == "--connect-to") {
      arguments.address = argv[i + 1];
    } else if (name == "--port") {
      arguments.port = std::atoi(argv[i + 1]);
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || arguments.socket.empty() == arguments.address.empty()) return std::nullopt;
  return arguments;
}

bool is_socket(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

FileDescriptor connect_to(const std::string& path) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (!socket ||
      connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return socket;
}

int rank_from_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

// _exit: a plugin's atexit hooks and static destructors may hang or crash, and nothing is left to
// save.
[[noreturn]] void serve(halmark::protocol::Channel channel,
                        std::optional<Introduction> introduction) {
  using halmark::worker::Session;
  const int code = Session(std::move(channel), std::move(introduction)).run();
  _exit(code);
}

// Two lines to the parent: one for requests, one on which ranks meet before samples.
int serve_from_afar(const Arguments& arguments) {
  using halmark::RankLine;
  const char* token = std::getenv(halmark::group_token_variable);
  Introduction introduction{token ? token : "", rank_from_launcher(), nullptr};
  ::unsetenv(halmark::group_token_variable);  // no plugin needs it
  const auto call = [&](RankLine line) {
    return halmark::connect_rank(arguments.address, arguments.port, introduction.token,
                                 introduction.rank, line);
  };
  FileDescriptor meetings = call(RankLine::meetings);
  FileDescriptor requests = meetings ? call(RankLine::requests) : FileDescriptor();
  if (!requests) {
    ::dprintf(STDERR_FILENO, "halmark-worker: rank %d cannot reach %s port %d\n", introduction.rank,
              arguments.address.c_str(), arguments.port);
    return exit_unreachable;
  }
  introduction.meeting = std::make_unique<halmark::MeetingPlace>(std::move(meetings));
  serve(halmark::protocol::Channel(std::move(requests), halmark::protocol::MemoryBy::copy),
        std::move(introduction));
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  constexpr int inherited = halmark::protocol::worker_descriptor;
  if (argc == 1 && is_socket(inherited)) {
    fcntl(inherited, F_SETFD, FD_CLOEXEC);
    serve(halmark::protocol::Channel(FileDescriptor(inherited)), std::nullopt);
  }
  if (argc == 3 && std::string_view(argv[1]) == "--node-report") {
    const auto report = halmark::this_node_report(rank_from_launcher(), argv[2]);
    ::dprintf(STDOUT_FILENO, "%s\n", halmark::report_line(report).c_str());
    return 0;
  }
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    ::dprintf(STDERR_FILENO, "halmark-worker is started by halmark; run halmark instead\n");
    return exit_refused;
  }
  if (!arguments->address.empty()) return serve_from_afar(*arguments);
  FileDescriptor socket = connect_to(arguments->socket);
  if (!socket) {
    ::dprintf(STDERR_FILENO, "halmark-worker: cannot reach %s\n", arguments->socket.c_str());
    return exit_unreachable;
  }
  serve(halmark::protocol::Channel(std::move(socket)),
        Introduction{arguments->token, rank_from_launcher(), nullptr});
}
