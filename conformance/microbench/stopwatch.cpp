#include "conformance/microbench/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"

namespace drywell::kernels::microbench {
namespace {

constexpr uint32_t kSweepThreads = 1024, kSweepCtas = 1024, kSweepSteps = 16;  // of 16 bytes each: 256 MiB
constexpr uint64_t kSweepBytes = uint64_t{kSweepThreads} * kSweepCtas * kSweepSteps * 16;
constexpr uint32_t kWarpBytes = 32;  // start and end of a warp: nanoseconds, cycles

// Lane 0 of every warp of one-dimensional CTAs.
std::string stamp(uint32_t offset) {
  return fmt::format(
      "\t{{\n\t.reg .pred %stamp_p;\n\t.reg .b32 %stamp_r<6>;\n\t.reg .b64 %stamp_q<4>;\n"
      "\tmov.u32 %stamp_r0, %tid.x;\n\tand.b32 %stamp_r1, %stamp_r0, 31;\n\tsetp.eq.u32 %stamp_p, %stamp_r1, 0;\n"
      "\tmov.u32 %stamp_r2, %ctaid.x;\n\tmov.u32 %stamp_r3, %ctaid.y;\n\tmov.u32 %stamp_r4, %nctaid.x;\n\tmad.lo.u32 %stamp_r2, %stamp_r3, %stamp_r4, %stamp_r2;\n"
      "\tmov.u32 %stamp_r3, %ntid.x;\n\tmad.lo.u32 %stamp_r2, %stamp_r2, %stamp_r3, %stamp_r0;\n\tshr.u32 %stamp_r2, %stamp_r2, 5;\n"
      "\tld.param.u64 %stamp_q0, [stamps];\n\tmad.wide.u32 %stamp_q0, %stamp_r2, {}, %stamp_q0;\n"
      "\tmov.u64 %stamp_q1, %globaltimer;\n\tmov.u64 %stamp_q2, %clock64;\n\t@%stamp_p st.global.v2.b64 [%stamp_q0+{}], {{%stamp_q1, %stamp_q2}};\n\t}}\n",
      kWarpBytes, offset);
}

std::string sweep_text() {
  return fmt::format(
      ".visible .entry drywell_sweep(.param .u64 sweep_memory, .param .u32 sweep_stores)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<2>;\n"
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, {0}, %r0;\nld.param.u64 %rd0, [sweep_memory];\nld.param.u32 %r1, [sweep_stores];\n"
      "setp.ne.u32 %p0, %r1, 0;\nmad.wide.u32 %rd0, %r0, 16, %rd0;\nmov.u32 %r2, {1};\nmov.u32 %r7, 0;\n"
      "SWEEP:\n@%p0 st.global.v4.b32 [%rd0], {{%r0, %r0, %r0, %r0}};\n@!%p0 ld.global.cg.v4.b32 {{%r3, %r4, %r5, %r6}}, [%rd0];\n@!%p0 xor.b32 %r7, %r7, %r3;\n"
      "add.u64 %rd0, %rd0, {2};\nsub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra SWEEP;\n"
      "setp.eq.u32 %p1, %r7, 0x12345678;\n@%p1 st.global.b32 [%rd0+-16], %r7;\nret;\n}}\n",
      kSweepThreads, kSweepSteps, uint64_t{kSweepThreads} * kSweepCtas * 16);
}

[[noreturn]] void refuse(const std::string& kernel, std::string_view why) { throw InputError(Code::E4521, fmt::format("'{}' cannot be timed: {}", kernel, why)); }

}  // namespace

std::string stamped(std::string text, const std::string& kernel) {
  const size_t entry = text.find(".entry " + kernel + "(");
  if (entry == std::string::npos) refuse(kernel, "no such entry");
  const size_t parameters = text.find("\n)", entry), body = text.find("\n{\n", parameters);
  if (parameters == std::string::npos || body == std::string::npos) refuse(kernel, "it has no parameters");
  // The first line that is not a declaration.
  size_t first = body + 3;
  while (text.compare(first, 6, "\t.reg ") == 0 || text.compare(first, 9, "\t.shared ") == 0 || text.compare(first, 8, "\t.local ") == 0) first = text.find('\n', first) + 1;
  const size_t end = text.find("\n}\n", first);
  std::string code = text.substr(first, end + 1 - first), out;
  constexpr std::string_view kReturn = "\tret;\n";
  size_t at = 0;
  bool ends = false;
  for (size_t hit = code.find(kReturn); hit != std::string::npos; hit = code.find(kReturn, at)) {
    out += code.substr(at, hit - at) + stamp(16) + std::string(kReturn);
    at = hit + kReturn.size();
    ends = true;
  }
  out += code.substr(at);
  if (!ends || out.find(" ret;") != std::string::npos || out.find("exit;") != std::string::npos) refuse(kernel, "it does not end in plain returns only");
  text.replace(first, code.size(), stamp(0) + out);
  text.insert(parameters, ",\n\t.param .u64 stamps");
  return text + sweep_text();
}

Stopwatch::Stopwatch(Accelerator& device, std::vector<Elapsed>& out, unsigned repeats, Caches caches) : ForwardingAccelerator(device), out_(out), repeats_(repeats), caches_(caches) {
  if (repeats_ != 0 && caches_ != Caches::warm) memory_ = target().allocate(kSweepBytes, "sweep");
}

Stopwatch::~Stopwatch() {
  if (memory_.value() != 0) target().release(memory_);
}

void Stopwatch::load(isa::Module module, std::string_view text) {
  const std::string kernel = module.functions.at(0).name;
  const std::string ptx = stamped(text.empty() ? isa::print_module(module) : std::string(text), kernel);
  isa::Module m = isa::parse_ptx_or_throw(ptx, kernel);
  if (Diagnostics problems = isa::validate(m); problems.has_errors()) throw InputError(std::move(problems));
  target().load(std::move(m), ptx);
}

// Loads leave the caches clean, stores leave them full of dirty lines.
void Stopwatch::sweep() {
  const sim::Args args = sim::Args().add(memory_).add(uint32_t{caches_ == Caches::dirty ? 1u : 0u});
  target().launch("drywell_sweep", {{kSweepCtas, 1, 1}, {kSweepThreads, 1, 1}, {1, 1, 1}, 0}, args, {});
}

sim::RunResult Stopwatch::launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) {
  if (config.block.y * config.block.z * config.grid.z != 1 || config.block.x % 32 != 0) refuse(std::string(kernel), "its CTAs are not rows of whole warps");
  const uint64_t warps = config.grid.count() * config.block.x / 32;
  const GmemAddr stamps = target().allocate(warps * kWarpBytes, "stamps");
  sim::Args all = args;
  all.add(stamps);
  Elapsed best{std::numeric_limits<double>::infinity(), 0};
  sim::RunResult r;
  for (unsigned i = 0; i < repeats_ + 1; ++i) {
    if (memory_.value() != 0) sweep();
    r = target().launch(kernel, config, all, options);
    if (!r.ok()) break;
    if (const Elapsed e = read_stamps(stamps, warps); (i != 0 || repeats_ == 0) && e.nanoseconds < best.nanoseconds) best = e;
  }
  target().release(stamps);
  out_.push_back(best);
  return r;
}

Elapsed Stopwatch::read_stamps(GmemAddr stamps, uint64_t warps) const {
  struct Stamp {
    uint64_t from_ns, from, to_ns, to;
  };
  std::vector<Stamp> all(warps);
  target().read(all.data(), stamps, warps * sizeof(Stamp));
  uint64_t first = all[0].from_ns, last = all[0].to_ns;
  const Stamp* longest = &all[0];
  for (const Stamp& s : all) {
    first = std::min(first, s.from_ns);
    last = std::max(last, s.to_ns);
    if (s.to - s.from > longest->to - longest->from) longest = &s;
  }
  const auto ns = static_cast<double>(last - first);
  const auto seen = static_cast<double>(longest->to_ns - longest->from_ns);
  return {ns, seen > 0 ? ns * static_cast<double>(longest->to - longest->from) / seen : 0};
}

}  // namespace drywell::kernels::microbench
