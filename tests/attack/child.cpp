#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace drywell::attack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBug = 70;  // exit code of an internal error (drywell/core/error.h)

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int file_of(const std::string& content) {
  const int fd = ::memfd_create("input", MFD_CLOEXEC);
  size_t put = 0;
  while (fd >= 0 && put < content.size()) {
    const ssize_t n = ::write(fd, content.data() + put, content.size() - put);
    if (n <= 0) break;
    put += static_cast<size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string text_of(int fd) {
  std::string text(1 << 20, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  ::close(fd);
  return text;
}

[[noreturn]] void become(const Command& c, int in, int out, int err) {
  ::setpgid(0, 0);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const std::string& e : c.environment) ::putenv(const_cast<char*>(e.c_str()));
  if (c.before) c.before();
  std::vector<char*> words;
  for (const std::string& w : c.words) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

// /proc/PID/stat: behind the name in parentheses, the 12th and 13th word are ticks in user and system mode
// (proc(5)).
double computed_by(pid_t process) {
  constexpr int kBehindName = 11;
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string word;
  std::getline(in, word, ')');
  for (int i = 0; i < kBehindName; ++i) in >> word;
  uint64_t user = 0, system = 0;
  in >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// /proc/PID/task/TID/schedstat: nanoseconds on a processor and on its queue (Linux, scheduler/sched-stats).
double waited_by(pid_t process) {
  uint64_t all = 0;
  std::error_code gone;
  for (std::filesystem::directory_iterator task("/proc/" + std::to_string(process) + "/task", gone), end; !gone && task != end; task.increment(gone)) {
    std::ifstream in(task->path() / "schedstat");
    uint64_t ran = 0, waited = 0;
    if (in >> ran >> waited) all += waited;
  }
  return static_cast<double>(all) * 1e-9;
}

}  // namespace

Share share_of(pid_t process) { return {computed_by(process), waited_by(process)}; }

bool hangs(double seconds, const Share& s, double most) {
  return seconds > most && (s.computed > most || seconds - s.waited > kPatience * most);
}

uint64_t resident_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  uint64_t all = 0, pages = 0;
  in >> all >> pages;
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

Ending run(const Command& c, const Bounds& bounds) {
  const int in = file_of(c.input), out = file_of({}), err = file_of({});
  const auto start = Clock::now();
  const pid_t process = ::fork();
  if (process == 0) become(c, in, out, err);
  ::close(in);
  Ending e;
  int status = 0;
  rusage usage{};
  bool killed = false;
  while (::wait4(process, &status, WNOHANG, &usage) == 0) {
    e.seconds = since(start);
    if (e.seconds > bounds.seconds && hangs(e.seconds, share_of(process), bounds.seconds))
      e.how = Ending::How::hung;
    else if (resident_of(process) > bounds.bytes)
      e.how = Ending::How::over_memory;
    else if (c.kill_after != 0 && e.seconds >= c.kill_after)
      killed = true;
    if (e.how != Ending::How::exited || killed) ::kill(-process, SIGKILL);
    ::usleep(e.seconds < 0.05 ? 500 : 5000);
  }
  ::kill(-process, SIGKILL);  // what it started
  e.seconds = since(start);
  e.peak = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  e.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  if (e.how == Ending::How::exited && !killed && (WIFSIGNALED(status) || e.code == kBug))
    e.how = Ending::How::crashed;
  if (e.how == Ending::How::exited && e.peak > bounds.bytes) e.how = Ending::How::over_memory;
  e.out = text_of(out);
  e.err = text_of(err);
  return e;
}

}  // namespace drywell::attack
