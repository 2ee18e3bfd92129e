// What is opened and what is not, both sides of every limit, and files that change while they are
// read.
#include "core/input/input_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::ScratchFolder;
using test::write_file;
using testing::HasSubstr;

constexpr InputKind small{"a small file", 10, "name a small file"};
constexpr InputKind no_pipe{"a file", 10, "", false};

std::string refusal(const std::string& path, const InputKind& kind = small) {
  const Error error = error_of([&] { read_input(path, kind); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused) << path;
  return error.line();
}

TEST(InputFile, both_sides_of_the_limit) {
  const ScratchFolder folder;
  write_file(folder / "a", "0123456789");
  EXPECT_EQ(read_input(folder / "a", small), "0123456789");
  write_file(folder / "a", "0123456789x");
  EXPECT_EQ(refusal(folder / "a"),
            (folder / "a") + ": has 11 bytes; the limit of a small file is 10");
  write_file(folder / "a", "");
  EXPECT_EQ(read_input(folder / "a", small), "");
}

TEST(InputFile, a_large_file_with_a_hole_is_not_read) {
  const ScratchFolder folder;
  write_file(folder / "a", "x");
  std::filesystem::resize_file(folder / "a", std::uintmax_t{10} << 30);
  EXPECT_THAT(refusal(folder / "a", table_input), HasSubstr("has 10737418240 bytes"));
}

TEST(InputFile, what_is_no_regular_file_is_named_and_never_opened) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder / "fifo"), HasSubstr("it is a FIFO; name a regular file, or - for"));
  EXPECT_THAT(refusal(folder / "fifo", no_pipe), HasSubstr("it is a FIFO; name a regular file"));
  EXPECT_THAT(refusal(folder.path().string()), HasSubstr("it is a folder"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("it is a device"));
  EXPECT_THAT(refusal(folder / "absent"), HasSubstr("No such file"));
  EXPECT_THAT(refusal(folder / "absent"), HasSubstr("name a small file"));
  EXPECT_THAT(refusal(""), HasSubstr("No such file"));
}

TEST(InputFile, a_socket_is_refused) {
  const ScratchFolder folder;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = folder / "s";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(refusal(path), HasSubstr("it is a socket"));
  ::close(fd);
}

TEST(InputFile, symbolic_links_are_judged_by_their_target) {
  const ScratchFolder folder;
  write_file(folder / "a", "text");
  std::filesystem::create_symlink(folder / "a", folder / "good");
  EXPECT_EQ(read_input(folder / "good", small), "text");
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  EXPECT_THAT(refusal(folder / "zero"), HasSubstr("it is a device"));
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  EXPECT_THAT(refusal(folder / "loop"), HasSubstr("symbolic links"));
}

TEST(InputFile, a_file_that_grows_while_it_is_read_is_refused) {
  const ScratchFolder folder;
  write_file(folder / "a", "0123");
  InputFile file(folder / "a", small);
  std::array<char, 2> some{};
  EXPECT_EQ(file.read(some), 2u);
  std::ofstream(folder / "a", std::ios::app) << "45";
  EXPECT_THAT(error_of([&] { file.read_rest(); }).line(), HasSubstr("more than the 4 bytes"));
}

TEST(InputFile, a_file_that_shrinks_while_it_is_read_is_refused) {
  const ScratchFolder folder;
  write_file(folder / "a", "0123");
  InputFile file(folder / "a", small);
  std::filesystem::resize_file(folder / "a", 3);
  EXPECT_THAT(error_of([&] { file.read_rest(); }).line(), HasSubstr("after 3 of the 4 bytes"));
}

// Files of /proc say that they are empty, and some never end.
TEST(InputFile, a_file_that_states_no_size_and_has_bytes_is_refused) {
  EXPECT_THAT(refusal("/proc/self/status"), HasSubstr("more than the 0 bytes"));
}

TEST(InputFile, a_large_file_is_read_whole) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; text.size() < (20u << 20); ++i) text += std::to_string(i) + '\n';
  write_file(folder / "a", text);
  EXPECT_EQ(read_input(folder / "a", table_input), text);
}

// Standard input is the process's, so it is put back.
class Standard {
 public:
  explicit Standard(int fd) : saved_(::dup(STDIN_FILENO)) { ::dup2(fd, STDIN_FILENO); }
  ~Standard() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

std::string piped(const std::string& text, const InputKind& kind) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  const Standard in(ends[0]);
  ::close(ends[0]);
  return read_input("-", kind);
}

TEST(InputFile, a_dash_is_a_pipe_up_to_its_limit) {
  EXPECT_EQ(piped("0123456789", small), "0123456789");
  EXPECT_EQ(piped("", small), "");
  EXPECT_EQ(error_of([] { piped("0123456789x", small); }).line(),
            "standard input: gives more bytes than are taken; the limit of a small file is 10");
}

TEST(InputFile, a_dash_is_no_device_and_no_pipe_where_files_alone_are_read) {
  const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  {
    const Standard in(zero);
    EXPECT_THAT(refusal("-"), HasSubstr("standard input: cannot be read: it is no pipe"));
    EXPECT_THAT(refusal("-", no_pipe), HasSubstr("No such file"));
  }
  ::close(zero);
}

TEST(InputFile, a_redirected_file_is_read_from_where_it_stands) {
  const ScratchFolder folder;
  write_file(folder / "a", "0123456789");
  const int fd = ::open((folder / "a").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::lseek(fd, 4, SEEK_SET), 4);
  {
    const Standard in(fd);
    EXPECT_EQ(read_input("-", small), "456789");
  }
  ::lseek(fd, 4, SEEK_SET);
  {
    const Standard in(fd);
    std::string two(2, ' ');
    InputFile("-", small).read_at(1, two);
    EXPECT_EQ(two, "56");
  }
  ::close(fd);
}

TEST(InputFile, places_are_read_in_any_order_and_missing_bytes_refused) {
  const ScratchFolder folder;
  write_file(folder / "a", "0123456789");
  InputFile file(folder / "a", small);
  std::string three(3, ' ');
  file.read_at(7, three);
  EXPECT_EQ(three, "789");
  file.read_at(0, three);
  EXPECT_EQ(three, "012");
  EXPECT_EQ(file.read_rest(), "0123456789") << "reading in order goes on where it was";
  std::filesystem::resize_file(folder / "a", 8);
  EXPECT_THAT(error_of([&] { file.read_at(7, three); }).line(),
              HasSubstr("shorter than the 10 bytes"));
}

// What reliability asks for: these figures are promised, not found.
TEST(InputKinds, have_the_promised_limits) {
  EXPECT_EQ(toml_input.bytes_max, 1048576u);
  EXPECT_EQ(json_input.bytes_max, 16777216u);
  EXPECT_EQ(table_input.bytes_max, 1073741824u);
  EXPECT_EQ(trace_input.bytes_max, 1073741824u);
  EXPECT_EQ(plugin_input.bytes_max, 1073741824u);
  EXPECT_EQ(proof_input.bytes_max, 67108864u);
}

}  // namespace
}  // namespace halmark
