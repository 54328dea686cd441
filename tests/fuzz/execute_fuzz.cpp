// libFuzzer harness of execution: what is read without an error runs, under the driver that the text's length
// chooses, to its end, to a fault, or to a bound. Hazards are looked for, too.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace {

using namespace drywell;

constexpr uint64_t kMostRegisters = 10'000;  // printed text can ask for far more
constexpr auto kMostTime = std::chrono::seconds(2);

/// Every parameter of eight bytes is the address of a buffer, others are zero.
sim::Args arguments_of(const isa::Function& f, GmemAddr buffer) {
  sim::Args args;
  for (const isa::Variable& v : f.params) {
    if (v.bytes() == 8)
      args.add(buffer);
    else
      args.add_bytes(std::vector<uint8_t>(v.bytes(), 0));
  }
  return args;
}

void run(sim::Device& device, const sim::LoadedModule& m, const isa::Function& f, sim::DriverKind driver) {
  const GmemAddr buffer = device.allocate(1 << 16, "buffer");
  device.fill(buffer, 0, 1 << 16);
  sim::HazardChecker checker;
  sim::RunOptions options{
      .driver = driver, .seed = 7, .threads = 1, .max_instructions = 20'000, .max_output = 1 << 16};
  options.deadline = std::chrono::steady_clock::now() + kMostTime;
  options.listeners = {checker.listener()};
  const auto& need = f.directives.reqntid;
  const Dim3 block = need.has_value() ? Dim3{(*need)[0], (*need)[1], (*need)[2]} : Dim3{64};
  sim::LaunchConfig config{.grid = {2}, .block = block, .dynamic_smem = 4096};
  if (const auto& c = f.directives.reqnctapercluster; c.has_value())
    config.grid = {(*c)[0], (*c)[1], (*c)[2]};
  const sim::RunResult r = device.launch(m, f.name, config, arguments_of(f, buffer), options);
  if (r.fault.has_value() && code_kind(r.fault->code) == 'X') std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    isa::Module m = isa::parse_ptx_or_throw(text, "fuzz.ptx");
    if (isa::validate(m).has_errors()) return 0;
    for (const isa::Function& f : m.functions) {
      if (f.regs.size() > kMostRegisters) return 0;
    }
    sim::Device device({.sm_count = 2});
    const sim::LoadedModule loaded = device.load(std::move(m));
    for (const isa::Function& f : loaded.module().functions) {
      if (!f.is_entry) continue;
      try {
        run(device, loaded, f, static_cast<sim::DriverKind>(size % 4));
      } catch (const InputError&) {  // a launch that devices refuse
      }
    }
  } catch (const InputError&) {
  } catch (const Unsupported&) {
  }
  return 0;
}
