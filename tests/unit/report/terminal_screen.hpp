// A terminal of a known width, and a descriptor that leads to it for a while.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace halmark::test {

// `fd` leads elsewhere as long as this lives.
class Redirected {
 public:
  Redirected(int fd, int target) : fd_(fd), kept_(dup(fd)) {
    fflush(nullptr);
    dup2(target, fd);
  }
  ~Redirected() {
    fflush(nullptr);
    dup2(kept_, fd_);
    close(kept_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int fd_, kept_;
};

class Screen {
 public:
  explicit Screen(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    grantpt(master_);
    unlockpt(master_);
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    termios raw{};
    tcgetattr(slave_, &raw);
    cfmakeraw(&raw);
    tcsetattr(slave_, TCSANOW, &raw);
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    ioctl(slave_, TIOCSWINSZ, &size);
    fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~Screen() {
    close(slave_);
    close(master_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  int fd() const { return slave_; }
  std::string text() const {
    std::string out;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(master_, buffer, sizeof buffer)) > 0;) {
      out.append(buffer, static_cast<std::size_t>(n));
    }
    return out;
  }

 private:
  int master_, slave_ = -1;
};

}  // namespace halmark::test
