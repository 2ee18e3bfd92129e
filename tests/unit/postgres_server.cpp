#include "tests/unit/postgres_server.hpp"
#include "tests/checkout.hpp"

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

namespace halmark::test {
namespace {

// The folder of initdb and postgres; empty where they are not installed.
std::string find_programs() {
  glob_t found{};
  std::string out;
  if (glob("/usr/lib/postgresql/*/bin/initdb", 0, nullptr, &found) == 0 && found.gl_pathc > 0) {
    out = std::filesystem::path(found.gl_pathv[found.gl_pathc - 1]).parent_path();
  }
  globfree(&found);
  return out;
}

// It refuses to run as root.
const passwd* other_user() { return geteuid() == 0 ? getpwnam("postgres") : nullptr; }

bool give_to_user(const std::filesystem::path& folder) {
  const passwd* user = other_user();
  if (user == nullptr) return true;
  bool is_given = lchown(folder.c_str(), user->pw_uid, user->pw_gid) == 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    is_given &= lchown(entry.path().c_str(), user->pw_uid, user->pw_gid) == 0;
  }
  return is_given;
}

}  // namespace

PostgresServer* PostgresServer::get(bool is_durable) {
  static const std::unique_ptr<PostgresServer> server =
      [is_durable]() -> std::unique_ptr<PostgresServer> {
    const std::string programs = find_programs();
    if (programs.empty() || (geteuid() == 0 && other_user() == nullptr)) return nullptr;
    return std::unique_ptr<PostgresServer>(new PostgresServer(programs, is_durable));
  }();
  return server && server->is_ready_ ? server.get() : nullptr;
}

PostgresServer::PostgresServer(std::string programs, bool is_durable)
    : programs_(std::move(programs)), is_durable_(is_durable) {
  char folder[] = "/tmp/halmark-pg-XXXXXX";
  if (mkdtemp(folder) == nullptr) return;
  root_ = folder;
  const passwd* user = other_user();
  if (user != nullptr && chown(folder, user->pw_uid, user->pw_gid) != 0) return;
  if (make_data()) start_server();
}

// A cluster takes a second to be made and a tenth to be copied: the first server of a build leaves
// its own for those that follow.
bool PostgresServer::make_data() const {
  namespace fs = std::filesystem;
  const fs::path data = root_ + "/data";
  const fs::path left =
      test::in_build("/tests/postgres-") + fs::path(programs_).parent_path().filename().string();
  std::error_code failed;
  if (fs::exists(left)) {
    fs::copy(left, data, fs::copy_options::recursive, failed);
    if (!failed && give_to_user(data)) return true;
    fs::remove_all(data, failed);
  }
  if (!run({"initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres",
            "-N"})) {
    return false;
  }
  const fs::path own = left.string() + '.' + std::to_string(getpid());
  fs::copy(data, own, fs::copy_options::recursive, failed);
  if (!failed) fs::rename(own, left, failed);  // fails where another test was first
  if (failed) fs::remove_all(own, failed);
  return true;
}

// One that was killed may hold its memory for a moment: then the next one ends at once.
void PostgresServer::start_server() {
  is_ready_ = false;
  for (int i = 0; i < 400 && !is_ready_; ++i) {
    if (server_ <= 0 || waitpid(server_, nullptr, WNOHANG) == server_) {
      server_ =
          start({"postgres", "-D", root_ + "/data", "-c", "listen_addresses=", "-c",
                 "unix_socket_directories=" + root_, "-c", is_durable_ ? "fsync=on" : "fsync=off"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_ready_ = run({"pg_isready", "-q", "-h", root_, "-U", "postgres"});
  }
}

void PostgresServer::kill_now() {
  const std::string pid = std::to_string(server_);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  const std::vector<pid_t> started{std::istream_iterator<pid_t>(children), {}};
  kill(server_, SIGKILL);
  // Left alone, each would end what it does, a commit too.
  for (const pid_t child : started) kill(child, SIGKILL);
  waitpid(server_, nullptr, 0);
  server_ = -1;
}

void PostgresServer::start_again() { start_server(); }

PostgresServer::~PostgresServer() {
  if (server_ > 0) {
    kill(server_, SIGQUIT);
    waitpid(server_, nullptr, 0);
  }
  std::error_code ignored;
  if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
}

pid_t PostgresServer::start(const std::vector<std::string>& command, int out) const {
  const passwd* user = other_user();
  const std::string program = programs_ + '/' + command.front();
  // Its own path first: beside that it looks for the other programs, which are in nobody's PATH.
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (std::size_t i = 1; i < command.size(); ++i) {
    arguments.push_back(const_cast<char*>(command[i].c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  if (user != nullptr &&
      (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) {
    _exit(126);
  }
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(fd == 1 && out >= 0 ? out : nowhere, fd);
  if (getppid() != parent || chdir("/") != 0) _exit(126);
  execv(program.c_str(), arguments.data());
  _exit(127);
}

bool PostgresServer::run(const std::vector<std::string>& command) const {
  const pid_t child = start(command);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

std::string PostgresServer::database() {
  if (server_ < 0) start_again();  // the case that killed it ended before it could
  const std::string name = "d" + std::to_string(databases_++);
  run({"createdb", "-h", root_, "-U", "postgres", name});
  return "postgresql://postgres@/" + name + "?host=" + root_;
}

std::string PostgresServer::value(const std::string& url, const std::string& query) const {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = start({"psql", "-q", "-A", "-t", "-d", url, "-c", query}, ends[1]);
  close(ends[1]);
  std::string out;
  char part[4096];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) {
    out.append(part, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return out.substr(0, out.find('\n'));
}

bool PostgresServer::sql(const std::string& url, const std::string& text) const {
  return run({"psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", text});
}

}  // namespace halmark::test
