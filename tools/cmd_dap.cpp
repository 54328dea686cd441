// drywell dap: the debugger for editors (Debug Adapter Protocol over standard input and output; docs/dap.md).
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cudart/options.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/dap.h"
#include "tools/common/command.h"
#include "tools/common/other_program.h"
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
  std::vector<std::string> all = asked.words;
  all.insert(all.end(), asked.options.begin(), asked.options.end());
  const std::vector<std::string> words = parse(std::move(all), f);
  const uint32_t launch = asked.launch.value_or(1);
  LaunchPicker picker(launch, body);
  const HostOutcome out = run_host(f.run, words, picker, launch, "step");
  const ExitCode code = !out.run.ok() ? fault_exit(out.run) : out.passed ? ExitCode::ok
                                                                         : ExitCode::verification_failed;
  return {static_cast<int>(code), out.verification};
}

namespace fs = std::filesystem;

bool is_script(const sim::DapLaunch& asked) { return asked.words[0].ends_with(".py"); }

/// A Python script, or a program that can be run and is named by its path; shared objects have kernels for the command.
bool runs_by_itself(const sim::DapLaunch& asked) {
  const std::string& program = asked.words[0];
  if (is_script(asked)) return true;
  const fs::path file = fs::path(asked.cwd) / program;
  const std::string kind = file.extension().string();
  return program.find('/') != std::string::npos && kind != ".so" && kind != ".ptx" && kind != ".toml" && fs::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0;
}

/// Becomes `drywell python` or `drywell exec`, whose stand-in connects each launch to the socket.
void become(const sim::DapLaunch& asked, const std::string& socket) {
  if (asked.launch == 0u) throw UsageError("launch counts from 1", "dap");
  if (!asked.cwd.empty() && ::chdir(asked.cwd.c_str()) != 0) throw UsageError("cwd: no such folder: " + asked.cwd);
  const char* command = is_script(asked) ? "python" : "exec";
  std::vector<std::string> words = {"drywell", command};
  words.insert(words.end(), asked.options.begin(), asked.options.end());
  if (!asked.kernel.empty()) words.push_back("--kernel=" + asked.kernel);
  words.push_back(asked.launch.has_value() ? fmt::format("--break={}", *asked.launch - 1) : "--break");  // the summary counts from 0
  if (is_script(asked) && !asked.python.empty()) words.push_back("--python=" + asked.python);
  if (!is_script(asked)) words.push_back("--");
  words.insert(words.end(), asked.words.begin(), asked.words.end());
  ::setenv(cudart::kDebuggerVariable, socket.c_str(), 1);
  ::setenv("PYTHONUNBUFFERED", "1", 1);  // what it prints comes when it prints it
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  start_other_program("cuda", command, argv.data());
}

const sim::DapPrograms kPrograms{runs_by_itself, become};

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
  sim::serve_dap(client.get(), client.get(), run_program, kPrograms);
  return ExitCode::ok;
}

ExitCode run(std::optional<uint64_t> port) {
  std::signal(SIGPIPE, SIG_IGN);
  if (port.has_value() && *port > 65535) throw UsageError("--port is 0 to 65535", "dap");
  if (port.has_value()) return serve_port(static_cast<uint16_t>(*port));
  sim::serve_dap(STDIN_FILENO, STDOUT_FILENO, run_program, kPrograms);
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
