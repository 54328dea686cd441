#include "support/warp_run.h"

#include <fmt/format.h>

#include "drywell/core/error.h"
#include "support/ptx_run.h"

namespace drywell::test {
namespace {

// Copies `bytes` between shared memory and a global buffer, 4 bytes a thread and step.
std::string copy_text(const char* parameter, size_t bytes, unsigned threads, bool to_shared) {
  std::string s = fmt::format(
      "  ld.param.u64 %address, [{}];\n  mad.wide.u32 %address, %lane, 4, %address;\n"
      "  mad.lo.u32 %at, %lane, 4, %s;\n",
      parameter);
  for (size_t offset = 0; offset < bytes; offset += 4 * threads) {
    s += to_shared ? fmt::format("  ld.global.b32 %word, [%address+{0}];\n  st.shared.b32 [%at+{0}], %word;\n", offset)
                   : fmt::format("  ld.shared.b32 %word, [%at+{0}];\n  st.global.b32 [%address+{0}], %word;\n", offset);
  }
  return s;
}

}  // namespace

std::string warp_program_text(const WarpProgram& p) {
  const unsigned bytes = p.bits / 8;
  std::string s = fmt::format(
      ".version {}\n.target {}\n.address_size 64\n"
      ".visible .entry test(.param .u64 in, .param .u64 out, .param .u64 fill, .param .u64 spill) {{\n"
      "  .reg .b64 %address, %d<64>;\n  .reg .b32 %lane, %s, %at, %word, %warp, %t<64>;\n  .reg .pred %p<8>;\n",
      p.version, p.target);
  s += fmt::format("  .reg .b{} %i<{}>, %o<{}>;\n  .shared .align 1024 .b8 smem[{}];\n", p.bits, p.inputs + 1, p.outputs + 1, p.smem_bytes);
  s += "  mov.u32 %lane, %tid.x;\n  mov.u32 %warp, %ctaid.x;\n  mov.u32 %s, smem;\n";
  if (!p.smem.empty()) s += copy_text("fill", p.smem.size(), p.threads, true) + "  bar.sync 0;\n";
  const auto column = [&](const char* parameter, unsigned count) {
    return fmt::format("  ld.param.u64 %address, [{}];\n  mad.lo.u32 %at, %warp, {}, %lane;\n  mad.wide.u32 %address, %at, {}, %address;\n",
                       parameter, p.threads * count, bytes);
  };
  s += column("in", p.inputs);
  for (unsigned i = 0; i < p.inputs; ++i) s += fmt::format("  ld.global.b{} %i{}, [%address+{}];\n", p.bits, i, p.threads * bytes * i);
  for (unsigned i = 0; i < p.outputs; ++i) s += fmt::format("  mov.b{} %o{}, 0;\n", p.bits, i);
  s += p.body + "\n" + column("out", p.outputs);
  for (unsigned i = 0; i < p.outputs; ++i) s += fmt::format("  st.global.b{} [%address+{}], %o{};\n", p.bits, p.threads * bytes * i, i);
  if (p.store_smem != 0) s += "  bar.sync 0;\n" + copy_text("spill", p.store_smem, p.threads, false);
  return s + "  ret;\n}\n";
}

WarpResult run_warps(const WarpProgram& p, const std::vector<uint64_t>& in, size_t ctas, sim::DriverKind driver, uint64_t seed) {
  const size_t bytes = p.bits / 8;
  sim::Device device({.arch = machine_for(p.target)});
  const sim::LoadedModule module = device.load(parse_or_throw(warp_program_text(p)));
  if (p.smem.size() % (4 * p.threads) != 0) throw InternalError("shared memory is filled in whole rounds");
  std::vector<uint8_t> packed(std::max<size_t>(1, in.size() * bytes));
  for (size_t i = 0; i < in.size(); ++i) std::memcpy(&packed[i * bytes], &in[i], bytes);
  WarpResult r;
  r.registers.resize(ctas * p.outputs * p.threads);
  r.smem.resize(p.store_smem);
  const GmemAddr from = device.allocate(packed.size()), to = device.allocate(std::max<size_t>(1, r.registers.size() * bytes)),
                 fill = device.allocate(std::max<size_t>(1, p.smem.size())), spill = device.allocate(std::max<size_t>(1, p.store_smem));
  device.write(from, packed.data(), packed.size());
  if (!p.smem.empty()) device.write(fill, p.smem.data(), p.smem.size());
  const sim::RunResult run = device.launch(module, "test", {.grid = {static_cast<uint32_t>(ctas)}, .block = {p.threads}},
                                           sim::Args().add(from).add(to).add(fill).add(spill), {.driver = driver, .seed = seed, .threads = 1});
  if (!run.ok()) throw InputError(run.fault->code, run.fault->to_string());
  for (size_t i = 0; i < r.registers.size(); ++i) device.read(&r.registers[i], to + i * bytes, bytes);
  if (p.store_smem != 0) device.read(r.smem.data(), spill, p.store_smem);
  return r;
}

}  // namespace drywell::test
