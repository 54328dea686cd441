// libFuzzer harness of the Debug Adapter Protocol: any bytes are a conversation. What a launch request names
// is one small kernel here.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "drywell/core/error.h"
#include "drywell/sim/dap.h"
#include "drywell/sim/device.h"

namespace {

using namespace drywell;

constexpr const char* kKernel = R"(
.version 8.8
.target sm_100a
.address_size 64
.visible .entry k()
{
 .reg .b32 %r<3>;
 mov.u32 %r0, %tid.x;
 add.u32 %r1, %r0, 5;
 bar.sync 0;
 ret;
}
)";

class Runner : public sim::LaunchRunner {
 public:
  explicit Runner(const sim::DapBody& body) : body_(body) {}
  sim::RunResult run(const sim::Launch& l, const sim::RunOptions& o) override { return body_(l, o); }

 private:
  const sim::DapBody& body_;
};

sim::DapOutcome host(const sim::DapLaunch&, const sim::DapBody& body) {
  sim::Device device({.sm_count = 1});
  Runner runner(body);
  sim::RunOptions options;
  options.runner = &runner;
  options.max_instructions = 10'000;
  device.launch(device.load_ptx(kKernel), "k", {.grid = {1}, .block = {64}}, {}, options);
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int in = ::memfd_create("fuzz", MFD_CLOEXEC), out = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const bool ready = ::write(in, data, size) == static_cast<ssize_t>(size) && ::lseek(in, 0, SEEK_SET) == 0;
  if (ready) sim::serve_dap(in, out, host);
  ::close(in);
  ::close(out);
  return 0;
}
