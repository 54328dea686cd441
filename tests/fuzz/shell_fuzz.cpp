// libFuzzer harness of the commands that a person types into `drywell step`: any lines are commands or messages. They step a small kernel
// with a function, a loop, shared memory, an mbarrier and named registers; what is typed so far can be completed.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/sim/device.h"
#include "sim/debug/shell/shell.h"

namespace {

using namespace drywell;

constexpr const char* kKernel = R"(
.version 8.8
.target sm_100a
.address_size 64
.func (.param .b32 out) twice(.param .b32 in)
{
 .reg .b32 %x;
 ld.param.b32 %x, [in];
 add.u32 %x, %x, %x;
 st.param.b32 [out], %x;
 ret;
}
.visible .entry k()
{
 .shared .align 16 .b8 buf[256];
 .shared .align 8 .b64 bar;
 .reg .b32 %r<5>;
 .reg .f32 %f;
 .reg .b64 %s;
 .reg .pred %p;
 mov.u32 %r0, %tid.x;
 setp.ne.u32 %p, %r0, 0;
 @!%p mbarrier.init.shared.b64 [bar], 64;
 bar.sync 0;
 mov.u32 %r1, 0;
again:
 shl.b32 %r2, %r0, 2;
 st.shared.u32 [%r2], %r1;
 add.u32 %r1, %r1, 1;
 setp.lt.u32 %p, %r1, 3;
 @%p bra again;
 {
 .param .b32 arg, back;
 st.param.b32 [arg], %r1;
 call (back), twice, (arg);
 ld.param.b32 %r3, [back];
 }
 cvt.rn.f32.u32 %f, %r3;
 mbarrier.arrive.shared.b64 %s, [bar];
 bar.sync 0;
 ret;
}
)";
constexpr size_t kMostLines = 40;
constexpr auto kMostTime = std::chrono::seconds(5);

class Typist : public sim::LaunchRunner {
 public:
  explicit Typist(std::string_view text) : text_(text) {}
  sim::RunResult run(const sim::Launch& launch, const sim::RunOptions& options) override {
    sim::Debugger debugger(launch, options);
    const auto end = std::chrono::steady_clock::now() + kMostTime;
    debugger.interrupted = [end] { return std::chrono::steady_clock::now() > end; };
    sim::shell::Shell shell(debugger, false);
    (void)shell.greeting();
    for (size_t i = 0; i < kMostLines && !text_.empty() && !shell.done(); ++i) type(shell);
    return {};
  }

 private:
  void type(sim::shell::Shell& shell) {
    const std::string_view line = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    (void)shell.complete(line);
    (void)shell.execute(line);
  }
  std::string_view text_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sim::Device device({.sm_count = 1});
  static const sim::LoadedModule module = device.load_ptx(kKernel);
  Typist typist({reinterpret_cast<const char*>(data), size});
  sim::RunOptions options;
  options.runner = &typist;
  options.max_instructions = 10'000;
  try {
    device.launch(module, "k", {.grid = {2}, .block = {64}}, {}, options);
  } catch (const InputError&) {
  }
  return 0;
}
