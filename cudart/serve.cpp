#include "cudart/serve.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "cudart/errors.h"
#include "drywell/core/terminal.h"

namespace drywell::cudart {
namespace {

/// The process-wide state: created by the first call, never destroyed, because destructors of the program's own globals
/// may still free memory at the end of the process.
struct Process {
  std::optional<std::recursive_mutex> lock{std::in_place};  // host functions of a stream may call back
  std::unique_ptr<Context> context;
  pid_t owner = ::getpid();
  int exit_status = 0;  // exit status of the program, set when it ends
};

Process& process();

// A fork waits until no other thread is in a call: otherwise the child would inherit a lock that stays locked. The child gets
// a new lock, because the parent's lock belongs to a thread that the child does not have.
void before_fork() { process().lock->lock(); }
void after_fork_in_parent() { process().lock->unlock(); }
void after_fork_in_child() { process().lock.emplace(); }

Process& process() {
  static Process* const only = [] {
    ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    return new Process;
  }();
  return *only;
}

Context& context(Process& p) {
  if (p.context == nullptr) {
    ::on_exit([](int status, void* process_) { static_cast<Process*>(process_)->exit_status = status; }, &p);
    const char* text = std::getenv(kOptionsVariable);
    p.context = std::make_unique<Context>(from_environment(text != nullptr ? text : ""));
  }
  return *p.context;
}

/// True in a forked child whose parent has a device: a device does not survive a fork. A child of a process without a device
/// starts anew (CUDA C++ Programming Guide, initialization).
bool forked_away(Process& p) {
  if (p.owner == ::getpid()) return false;
  if (p.context == nullptr || !p.context->has_device()) {
    p.owner = ::getpid();
    return false;
  }
  p.context->say_once("this process was forked from one that used the device, and a device does not survive a fork; start workers with exec (spawn)");
  return true;
}

/// The options of this process, if `drywell exec` became it and it started no other programs, which may have used the device.
std::optional<ExecOptions> options_of_whole_program() {
  const char* text = std::getenv(kOptionsVariable);
  rusage children{};
  ::getrusage(RUSAGE_CHILDREN, &children);
  if (text == nullptr || children.ru_maxrss != 0) return std::nullopt;
  ExecOptions o = from_environment(text);
  return o.process == static_cast<uint64_t>(::getpid()) ? std::optional(std::move(o)) : std::nullopt;
}

/// Says that the program of `drywell exec` called no function of CUDA.
ExitCode explain_silence() {
  const std::optional<ExecOptions> o = options_of_whole_program();
  if (!o.has_value()) return ExitCode::ok;
  // The program may have closed its standard error: then nobody reads this.
  std::fputs("drywell: the program called no CUDA function: nothing was simulated (if a library of it contains the CUDA runtime, build that library with -cudart shared)\n", stderr);
  return o->kernel.empty() && o->time.empty() ? ExitCode::ok : ExitCode::usage;
}

// Runs when the program ends (exit, or return from main). A killed program writes no files.
[[gnu::destructor]] void finish() {
  Process& p = process();
  if (p.owner != ::getpid()) return;
  try {
    const ExitCode end = p.context == nullptr ? explain_silence() : p.context->finish(options_of_whole_program().has_value());
    // The program's own exit status has priority.
    if (end != ExitCode::ok && p.exit_status == 0) {
      std::fflush(nullptr);
      ::_exit(static_cast<int>(end));
    }
  } catch (const std::exception& e) {
    print_error(fmt::format("drywell: {}\n", e.what()));
  }
}

bool of_runtime(std::string_view name) { return name.starts_with("cuda"); }
/// The driver's names have a capital behind "cu".
bool of_driver(std::string_view name) { return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z'; }

void begin(Context& c, std::string_view name, bool always) {
  if (!always) require(c.sticky == CudaError::success, c.sticky);
  if (of_runtime(name)) c.enter_runtime();
  if (of_driver(name) && !always) require(c.initialized, CudaError::initialization);
}

}  // namespace

CudaError serve_call(const char* name, Body body, void* closure, bool after_fault) {
  Process& p = process();
  const std::lock_guard lock(*p.lock);
  CudaError error = CudaError::success;
  try {
    if (forked_away(p)) return CudaError::initialization;
    Context& c = context(p);
    begin(c, name, after_fault);
    body(closure, c);
    c.streams.advance();
  } catch (const CallFailed& e) {
    error = e.error;
  } catch (const Error& e) {
    error = error_of(e);
    const std::string text = fmt::format("{}: {}", name, e.what());
    if (p.context != nullptr) p.context->explain(text);
    else print_error(fmt::format("drywell: {}\n", text));
  } catch (const std::bad_alloc&) {
    error = CudaError::memory_allocation;
    print_error(fmt::format("drywell: {}: the memory of this machine is used up\n", name));
  } catch (const std::exception& e) {
    error = CudaError::unknown;
    print_error(fmt::format("drywell: {}: internal error (a bug in Drywell, please report it): {}\n", name, e.what()));
  }
  // Only the runtime has a last error: the driver interface's calls leave it.
  const bool own = error != CudaError::success && error != CudaError::not_ready && of_runtime(name);
  // The error of a fault belongs to the device, not to this call: a reset clears it.
  if (own && p.context != nullptr && error != p.context->sticky) p.context->thread().last = error;
  return error;
}

void before_launch() {
  Context::PoolsAsker ask = nullptr;
  serve_always("before_launch", [&](Context& c) { ask = c.ask_for_pools; });
  if (ask != nullptr) ask();
}

void wait_until(Context& c, const char* what, const std::function<bool()>& done) {
  constexpr int kPerSecond = 2000;
  std::recursive_mutex& lock = *process().lock;
  for (int i = 0;; ++i) {
    c.streams.advance();
    if (done()) return;
    if (i == kPerSecond) c.say_once(fmt::format("{} waits: a stream waits for a value in memory (cuStreamWaitValue) that nothing has written yet", what));
    lock.unlock();
    ::usleep(1000000 / kPerSecond);
    lock.lock();
  }
}

CudaError settled(CudaError error) {
  if (error != CudaError::success) return error;
  return serve("cudaMemcpy", [](Context& c) {
    const Stream& s = c.streams.get(nullptr);
    wait_until(c, "a copy", [&] { return !c.streams.in_front(s); });
  });
}

std::optional<RuntimeState> runtime_state() {
  Process& p = process();
  const std::lock_guard lock(*p.lock);
  if (p.context == nullptr || !p.context->initialized) return std::nullopt;
  const ThreadState& t = p.context->thread();
  return RuntimeState{t.last, t.contexts, p.context->primary_context};
}

void restore(const RuntimeState& state) {
  Process& p = process();
  const std::lock_guard lock(*p.lock);
  p.context->thread().last = state.last;
  p.context->thread().contexts = state.contexts;
  p.context->primary_context = state.primary_context;
}

CudaError not_served(const char* name) {
  return serve_always(name, [&](Context& c) {
    c.say_once(fmt::format("{} is not served", name));
    throw CallFailed{CudaError::not_supported};
  });
}

}  // namespace drywell::cudart
