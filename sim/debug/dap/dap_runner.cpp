// A program's side of the relay: its launches.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drywell/sim/dap.h"
#include "drywell/sim/driver_words.h"
#include "sim/debug/dap/adapter.h"

namespace drywell::sim {
namespace {

class DapRunner : public LaunchRunner {
 public:
  explicit DapRunner(std::string socket) : socket_(std::move(socket)) {}

  RunResult run(const Launch& launch, const RunOptions& options) override {
    const int fd = connected();
    if (fd < 0) return run_by_driver(launch, options);
    dap::Wire wire(fd, fd);
    Debugger debugger(launch, options);
    if (const auto hello = wire.receive(); hello.has_value() && hello->error.empty()) serve(wire, debugger, hello->body);
    Session& session = debugger.session();
    while (!session.over()) session.step();
    ::close(fd);
    return session.result();
  }

 private:
  static void serve(dap::Wire& wire, Debugger& debugger, const dap::Json& hello) {
    const dap::Positions positions{hello.value("linesStartAt1", true), hello.value("columnsStartAt1", true)};
    dap::DapAdapter(wire, debugger, hello.value("program", ""), hello.value("sourceRoot", "."), false, positions).serve();
  }
  int connected() const {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    if (socket_.size() >= sizeof(at.sun_path)) return -1;
    socket_.copy(at.sun_path, sizeof(at.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0) return fd;
    if (fd >= 0) ::close(fd);
    return -1;
  }

  std::string socket_;
};

}  // namespace

std::unique_ptr<LaunchRunner> make_dap_runner(const std::string& socket) { return std::make_unique<DapRunner>(socket); }

}  // namespace drywell::sim
