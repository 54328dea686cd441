// Mutated inputs in process: every reader of outside data, through the harnesses of tests/fuzz. A worker
// process reads one input after the other and writes down which; one that dies, does not come back or takes
// too much memory is replaced, and its input is kept.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "mutation.h"
#include "part.h"
#include "targets.h"

namespace drywell::attack {
namespace {

constexpr uint64_t kMostBytes = uint64_t{2} << 30;  // that a worker may hold
constexpr uint64_t kInputsOfAWorker = 20'000;

/// What the worker tells its parent.
struct Progress {
  std::atomic<uint64_t> input{0};  // number of the input that it reads
};

class SharedProgress {
 public:
  SharedProgress()
      : at_(new (::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                Progress) {}
  ~SharedProgress() { ::munmap(at_, sizeof(Progress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress& operator*() const { return *at_; }

 private:
  Progress* at_;
};

/// The input with a number: an unchanged seed first, then mutants.
std::string input_of(const Target& t, uint64_t seed, uint64_t number) {
  if (number < t.seeds.size()) return t.seeds[number];
  Random r(seed ^ number * 0xD1342543DE82EF95ull ^ std::hash<std::string_view>()(t.name));
  const std::string& from = t.seeds[r.below(t.seeds.size())];
  return mutated(from, t.binary ? Unit::bytes : static_cast<Unit>(r.below(3)), r);
}

[[noreturn]] void work(const Target& t, uint64_t seed, uint64_t first, uint64_t end, Progress& progress) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (uint64_t i = first; i < end; ++i) {
    progress.input.store(i, std::memory_order_relaxed);
    const std::string input = input_of(t, seed, i);
    t.run(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
  progress.input.store(end, std::memory_order_relaxed);
  ::_exit(0);
}

class Worker {
 public:
  Worker(const Plan& p, const Target& t, uint64_t first) : plan_(p), target_(t), first_(first) {
    (*progress_).input = first;
    process_ = ::fork();
    if (process_ == 0) work(t, p.seed, first, first + kInputsOfAWorker, *progress_);
  }
  /// Watches the worker until it ends or the time is up. Returns the number of the next input.
  uint64_t watch(Counts& counts);

 private:
  bool look(Counts& counts);
  void stop() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void found(uint64_t& count) { plan_.keep(target_.name, input_of(target_, plan_.seed, at())), ++count; }
  uint64_t at() const { return (*progress_).input.load(std::memory_order_relaxed); }

  const Plan& plan_;
  const Target& target_;
  uint64_t first_;
  SharedProgress progress_;
  pid_t process_;
  uint64_t last_ = ~uint64_t{0};
  std::chrono::steady_clock::time_point since_;
  Share before_;  // when the input began
};

// Returns false if the worker was stopped.
bool Worker::look(Counts& counts) {
  const auto now = std::chrono::steady_clock::now();
  if (at() != last_) {
    last_ = at();
    since_ = now;
    before_ = share_of(process_);
  }
  const double seconds = std::chrono::duration<double>(now - since_).count(),
               most = plan_.seconds_of_an_input;
  const bool endless = seconds > most && hangs(seconds, share_of(process_) - before_, most);
  const bool holds_too_much = resident_of(process_) > kMostBytes;
  if (endless || holds_too_much) found(endless ? counts.hangs : counts.over_memory);
  if (!endless && !holds_too_much && !plan_.time_is_up()) return true;
  stop();
  return false;
}

uint64_t Worker::watch(Counts& counts) {
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (!look(counts)) {
      counts.inputs += at() + 1 - first_;
      return at() + 1;
    }
    ::usleep(5000);
  }
  const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && at() == first_ + kInputsOfAWorker;
  if (!done) found(counts.crashes);
  counts.inputs += at() + (done ? 0 : 1) - first_;
  return at() + (done ? 0 : 1);
}

int crash(const uint8_t*, size_t) { std::abort(); }
int hang(const uint8_t*, size_t) {
  for (;;) ::pause();
}
int grow(const uint8_t*, size_t) {
  std::vector<char> all(kMostBytes + (kMostBytes >> 3), 1);
  return hang(nullptr, static_cast<size_t>(all[0]));
}

Counts attack_one(const Plan& p, const Target& t) {
  Counts counts;
  for (uint64_t next = 0; !p.time_is_up();) next = Worker(p, t, next).watch(counts);
  return counts;
}

}  // namespace

bool finds_what_it_looks_for(Plan p) {
  const auto count = [&](int (*reader)(const uint8_t*, size_t), double seconds) {
    Counts c;
    p.seconds_of_an_input = seconds;
    p.until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    Worker(p, {"itself", reader, true, {"x"}}, 0).watch(c);
    return c;
  };
  const Counts a = count(crash, 50), b = count(hang, 0.1), c = count(grow, 50);
  return a.crashes == 1 && a.hangs == 0 && b.hangs == 1 && b.crashes == 0 && c.over_memory == 1 &&
         c.crashes == 0;
}

Counts attack_readers(const Plan& p) {
  using Clock = std::chrono::steady_clock;
  Counts all;
  std::vector<Target> targets = all_targets();
  if (!p.reader.empty()) std::erase_if(targets, [&](const Target& t) { return p.reader != t.name; });
  for (size_t i = 0; i < targets.size(); ++i) {
    Plan share = p;
    share.until = Clock::now() + std::max(p.until - Clock::now(), Clock::duration(0)) /
                                     static_cast<int64_t>(targets.size() - i);
    const Counts c = attack_one(share, targets[i]);
    std::printf("  %-14s %9llu inputs from %zu seeds%s\n", targets[i].name,
                static_cast<unsigned long long>(c.inputs), targets[i].seeds.size(),
                c.clean() ? "" : "  NOT CLEAN");
    std::fflush(stdout);
    all.add(c);
  }
  return all;
}

}  // namespace drywell::attack
