// drywell dap: the debugger for editors (Debug Adapter Protocol over standard input and output; docs/dap.md).
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <optional>

#include "drywell/core/terminal.h"
#include "drywell/sim/dap.h"
#include "tools/common/command.h"
#include "tools/step/launch_picker.h"
#include "tools/step/step_flags.h"

namespace drywell::tools {
namespace {

/// A launch request's words, read as those of `drywell step`; what is left are the kernel's parameters.
std::vector<std::string> parse(std::vector<std::string> words, StepFlags& f) {
  Command app({}, "step");
  add_step_flags(app, f);
  app.allow_extras();
  if (const std::string error = app.parse(std::move(words)).error; !error.empty()) throw UsageError(error, "step");
  return app.remaining();
}

sim::DapOutcome run_program(const sim::DapLaunch& asked, const sim::DapBody& body) {
  if (!asked.cwd.empty() && ::chdir(asked.cwd.c_str()) != 0) throw UsageError("cwd: no such folder: " + asked.cwd);
  StepFlags f;
  const std::vector<std::string> words = parse(asked.words, f);
  LaunchPicker picker(asked.launch, body);
  const HostOutcome out = run_host(f.run, words, picker, asked.launch, "step");
  const ExitCode code = !out.run.ok() ? fault_exit(out.run) : out.passed ? ExitCode::ok : ExitCode::verification_failed;
  return {static_cast<int>(code), out.verification};
}

/// A descriptor that is closed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Serves one client that connects to the port of this machine; 0: a free port, which is printed.
ExitCode serve_port(uint16_t port) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int again = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (listener.get() < 0 || ::bind(listener.get(), address, size) != 0 || ::listen(listener.get(), 1) != 0 || ::getsockname(listener.get(), address, &size) != 0)
    throw UsageError(fmt::format("--port: {} of this machine cannot be listened to", port), "dap");
  print(fmt::format("listening on 127.0.0.1:{}\n", ntohs(at.sin_port)));
  std::fflush(stdout);
  const Descriptor client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (client.get() < 0) throw UsageError("--port: no client came", "dap");
  sim::serve_dap(client.get(), client.get(), run_program);
  return ExitCode::ok;
}

ExitCode run(std::optional<uint64_t> port) {
  std::signal(SIGPIPE, SIG_IGN);
  if (port.has_value() && *port > 65535) throw UsageError("--port is 0 to 65535", "dap");
  if (port.has_value()) return serve_port(static_cast<uint16_t>(*port));
  sim::serve_dap(STDIN_FILENO, STDOUT_FILENO, run_program);
  return ExitCode::ok;
}

}  // namespace

void register_dap(Command& app, CommandContext& context) {
  Command* sub = add_command(app, "dap");
  auto port = std::make_shared<std::optional<uint64_t>>();
  sub->add_option("--port", *port, "serve one client that connects to this TCP port of this machine; 0: a free one, which is printed");
  sub->callback([port, &context] { context.action = [port] { return run(*port); }; });
}

}  // namespace drywell::tools
