// Loads that keep one part of the chip busy for seconds, for watts and clock. Operands have bits that differ from word to word: a
// chip that multiplies zeros draws half as much (docs/lab/calibration.md).
#include <fmt/format.h>

#include <chrono>

#include "conformance/microbench/text.h"
#include "conformance/survey/items.h"
#include "conformance/survey/survey.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"

namespace drywell::kernels::survey {
namespace {

using microbench::KernelText;
using microbench::repeat;

constexpr double kAtATime = 0.02;                            // seconds of one launch, about
constexpr uint64_t kMemory = uint64_t{1} << 30;              // copied: more than any L2
constexpr uint32_t kFirstCount = 64, kMostCount = 1u << 24;  // iterations

struct Load {
  const char* name;
  KernelText text;
  double work = 0;  // of one CTA and iteration
  uint32_t ctas_per_sm = 1;
  uint32_t dynamic_smem = 0;
  uint64_t memory = 4096;
};

Load fma() {
  KernelText k;
  k.threads = 1024;
  k.setup = "cvt.rn.f32.u32 %f2, %r0;\n" + repeat(16, "add.f32 %f{i}, %f2, 0f3F8CCCCD;\n", 10);
  for (unsigned i = 0; i < 4; ++i) k.loop += repeat(16, "fma.rn.f32 %f{i}, %f{i}, 0f3F7FFFFE, %f2;\n", 10);
  k.finish = "mov.b32 %r9, 0;\n" + repeat(16, "mov.b32 %r8, %f{i};\nxor.b32 %r9, %r9, %r8;\n", 10);
  k.keep = "%r9";
  return {"fma", k, 2.0 * 64 * 1024, 2};
}

// Each CTA copies 16 KiB in an iteration from the lower half of the memory to the upper one, and goes on by all CTAs' 16 KiB.
Load copy() {
  KernelText k;
  k.threads = 1024;
  k.setup = fmt::format("mov.u32 %r10, %ctaid.x;\nmad.lo.u32 %r10, %r10, 1024, %r0;\nshl.b32 %r10, %r10, 4;\nmov.u32 %r11, %nctaid.x;\nshl.b32 %r11, %r11, 14;\nadd.u64 %rd12, %rd1, {};\n", kMemory / 2);
  k.loop = fmt::format(
      "and.b32 %r12, %r10, {};\ncvt.u64.u32 %rd10, %r12;\nadd.u64 %rd11, %rd1, %rd10;\nadd.u64 %rd13, %rd12, %rd10;\nld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd11];\n"
      "st.global.v4.u32 [%rd13], {{%r20, %r21, %r22, %r23}};\nadd.u32 %r10, %r10, %r11;\n",
      kMemory / 2 - 1);
  return {"copy", k, 2.0 * 16384, 2, 0, kMemory};
}

Load mma_sync() {
  KernelText k;
  k.threads = 512;
  k.setup = repeat(6, "mad.lo.u32 %r{i}, %r0, 0x9E3779B1, {i};\nmul.lo.u32 %r{i}, %r{i}, 0x85EBCA6B;\nand.b32 %r{i}, %r{i}, 0xBFBFBFBF;\n", 40) + repeat(16, "mov.f32 %f{i}, %f0;\n", 10);
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned d = 10 + 4 * (i % 4);
    k.loop += fmt::format("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{%f{0}, %f{1}, %f{2}, %f{3}}}, {{%r40, %r41, %r42, %r43}}, {{%r44, %r45}}, {{%f{0}, %f{1}, %f{2}, %f{3}}};\n", d, d + 1, d + 2, d + 3);
  }
  k.finish = "mov.b32 %r9, 0;\n" + repeat(16, "mov.b32 %r8, %f{i};\nxor.b32 %r9, %r9, %r8;\n", 10);
  k.keep = "%r9";
  return {"mma.bf16", k, 2.0 * 16 * 8 * 16 * 16 * 16};
}

constexpr uint32_t kTensorArea = 49152;  // A: 128 rows of 128 bytes, B: 256

Load wgmma() {
  KernelText k;
  k.threads = 256;
  k.dynamic_smem = true;
  k.setup = microbench::fill_area(k.threads, kTensorArea) + microbench::operand_descriptors(false) +
            "shr.u32 %r10, %r0, 7;\nmul.lo.u32 %r10, %r10, 512;\ncvt.u64.u32 %rd12, %r10;\nadd.u64 %rd10, %rd10, %rd12;\n" + repeat(128, "mov.f32 %f{i}, %f0;\n", 10);
  std::string d = "{%f10";
  for (unsigned i = 11; i < 138; ++i) d += fmt::format(", %f{}", i);
  k.loop = "wgmma.fence.sync.aligned;\n";
  for (unsigned i = 0; i < 4; ++i)
    k.loop += fmt::format("add.u64 %rd13, %rd10, {0};\nadd.u64 %rd14, %rd11, {0};\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {1}}}, %rd13, %rd14, 1, 1, 1, 0, 0;\n", 2 * i, d);
  k.loop += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n";
  k.finish = "wgmma.wait_group.sync.aligned 0;\nmov.b32 %r9, 0;\n" + repeat(128, "mov.b32 %r8, %f{i};\nxor.b32 %r9, %r9, %r8;\n", 10);
  k.keep = "%r9";
  return {"wgmma.bf16", k, 2.0 * 2 * 64 * 256 * 16 * 4, 1, kTensorArea};
}

Load tcgen05() {
  KernelText k;
  k.threads = 128;
  k.dynamic_smem = true;
  k.setup = microbench::tmem_allocation() + microbench::init_barriers(1, 1) + microbench::fill_area(k.threads, kTensorArea) + microbench::operand_descriptors(true);
  std::string issue;
  for (unsigned i = 0; i < 16; ++i)
    issue += fmt::format("add.u64 %rd13, %rd10, {0};\nadd.u64 %rd14, %rd11, {0};\ntcgen05.mma.cta_group::1.kind::f16 [%r10], %rd13, %rd14, {1:#x}, 1;\n", 2 * (i % 4), 1u << 4 | 1u << 7 | 1u << 10 | 32u << 17 | 8u << 24);
  k.loop = microbench::issued_by_first_thread(issue);
  k.finish = microbench::tmem_release();
  return {"tcgen05.bf16", k, 2.0 * 128 * 256 * 16 * 16, 1, kTensorArea};
}

std::string text_for(const Load& l, isa::Target target) {
  return fmt::format(".version 8.7\n.target {}\n.address_size 64\n", isa::target_name(target)) + microbench::kernel_text(l.text);
}

bool made_for(const Load& l, isa::Target target) {
  try {
    return !isa::validate(isa::parse_ptx_or_throw(text_for(l, target), l.name)).has_errors();
  } catch (const InputError&) {
    return false;
  }
}

std::vector<Load> loads(isa::Target target) {
  std::vector<Load> out;
  for (Load& l : std::vector<Load>{fma(), copy(), mma_sync(), wgmma(), tcgen05()}) {
    if (made_for(l, target)) out.push_back(std::move(l));
  }
  return out;
}

// One load's kernel and memory on a device.
class Running {
 public:
  Running(const Load& l, Accelerator& device) : device_(device), text_(text_for(l, device.arch().target)) {
    launch_ = {{device.sm_count() * l.ctas_per_sm, 1, 1}, {l.text.threads, 1, 1}, {1, 1, 1}, l.dynamic_smem};
    clocks_ = device.allocate(launch_.grid.count() * 32 * 8, "clocks");
    memory_ = device.allocate(l.memory, "memory");
    device.load(isa::parse_ptx_or_throw(text_, l.name), text_);
  }
  ~Running() {
    device_.release(clocks_);
    device_.release(memory_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  double seconds(uint32_t count) {
    const sim::RunResult r = device_.launch("bench", launch_, sim::Args().add(clocks_).add(count).add(memory_), {});
    if (!r.ok()) throw InputError(Code::E4505, "a load: " + r.fault->to_string());
    return r.host_seconds;
  }
  double ctas() const { return static_cast<double>(launch_.grid.count()); }
  /// Iterations of a launch of about kAtATime.
  uint32_t fitting() {
    uint32_t count = kFirstCount;
    while (count < kMostCount && seconds(count) < kAtATime) count *= 2;
    return count;
  }

 private:
  Accelerator& device_;
  std::string text_;
  sim::LaunchConfig launch_;
  GmemAddr clocks_{}, memory_{};
};

double since(std::chrono::steady_clock::time_point begin) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }

// The means of the second half: clock and power need a second to settle.
LoadFigure measure(const Load& l, Accelerator& device, const Meter& meter, double seconds) {
  Running running(l, device);
  const uint32_t count = running.fitting();
  LoadFigure out{.name = l.name, .work = l.work * running.ctas() * count};
  unsigned samples = 0;
  for (const auto begin = std::chrono::steady_clock::now(); samples == 0 || since(begin) < seconds;) {
    const double one = running.seconds(count);
    if (since(begin) < seconds / 2) continue;
    const PowerReading p = meter();
    out.seconds += one;
    out.watts += p.watts;
    out.megahertz += p.megahertz;
    out.capped |= p.capped;
    ++samples;
  }
  for (double* sum : {&out.seconds, &out.watts, &out.megahertz}) *sum /= samples;
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> load_texts(isa::Target target) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Load& l : loads(target)) out.emplace_back(l.name, text_for(l, target));
  return out;
}

void survey_power(Subject& subject, const Wanted& wanted, const Meter& meter, double seconds, std::vector<LoadFigure>& out, const Told& failed) {
  for (const Load& l : loads(subject.device().arch().target)) {
    if (wanted(l.name)) past_failures(subject, l.name, failed, [&] { out.push_back(measure(l, subject.device(), meter, seconds)); });
  }
}

}  // namespace drywell::kernels::survey
