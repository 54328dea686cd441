#include "cudart/endings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

namespace drywell::cudart {
namespace {

struct Ending {
  int signal;
  const char* name;
};
constexpr Ending kEndings[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

// A signal handler may use static storage only and must not allocate memory: the text is prepared before.
std::array<char, 256> words{};
std::atomic<size_t> length{0};  // bytes of `words`; 0: between launches
pid_t owner = 0;

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void explain(int signal) {
  if (::getpid() == owner) {
    put("drywell: ended by ");
    for (const Ending& e : kEndings) {
      if (e.signal == signal) put(e.name);
    }
    const size_t n = length.load(std::memory_order_acquire);
    put(n != 0 ? std::string_view(words.data(), n) : std::string_view(" between launches; no report or trace is written\n"));
  }
  // With the default disposition this ends the process when the handler returns. SA_RESETHAND is gone where a library has put this
  // handler back by signal() (LLVM in NVRTC does).
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void explain_endings() {
  owner = ::getpid();
  for (const Ending& e : kEndings) {
    struct sigaction now {};
    if (::sigaction(e.signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction then {};
    then.sa_handler = explain;
    then.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(e.signal, &then, nullptr);
  }
}

Doing::Doing(uint64_t launch, std::string_view kernel) {
  const auto text = fmt::format(" during launch {}, '{}'; no report or trace is written\n", launch, kernel);
  const size_t n = std::min(text.size(), words.size());
  std::memcpy(words.data(), text.data(), n);
  length.store(n, std::memory_order_release);
}

Doing::~Doing() { length.store(0, std::memory_order_release); }

}  // namespace drywell::cudart
