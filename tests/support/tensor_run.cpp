#include "support/tensor_run.h"

#include <gtest/gtest.h>

#include "drywell/isa/pipeline.h"

namespace drywell::test {
namespace {

using namespace drywell::isa;

constexpr unsigned kThreads = 128, kChunk = 32;  // columns moved at a time

// One kernel: image in, steps, tensor memory out. Warp w moves lanes 32w to 32w+31.
class KernelWriter {
 public:
  KernelWriter(const TensorProgram& program, uint32_t smem_bytes) : program_(program), smem_bytes_(smem_bytes), group_(std::to_string(program.cta_group)), k_("tensor", program.target) {}

  Module write() {
    const Symbol smem_in = k_.param(Mod::u64, "smem_in"), tmem_in = k_.param(Mod::u64, "tmem_in"), tmem_out = k_.param(Mod::u64, "tmem_out");
    const Symbol registers_in = k_.param(Mod::u64, "registers_in"), registers_out = k_.param(Mod::u64, "registers_out");
    bar_ = k_.def("mov.u32", k_.shared("bar", 8, 8));
    const Symbol slot = k_.shared("slot", 4, 4);
    image_ = k_.def("mov.u32", k_.dynamic_shared("image", 1024));
    tid_ = k_.def("mov.u32", SpecialReg::tid_x);
    rank_ = k_.def("mov.u32", SpecialReg::cluster_ctarank);
    first_thread_ = k_.reg(Mod::pred);
    k_("setp.eq.u32", first_thread_, tid_, 0);
    load_image(smem_in);
    const Reg first_warp = k_.reg(Mod::pred);
    k_("setp.lt.u32", first_warp, tid_, 32);
    k_.if_(first_warp, [&] { k_("tcgen05.alloc.cta_group::" + group_ + ".sync.aligned.shared::cta.b32", mem(slot), kTmemColumns); });
    k_.when(first_thread_)("mbarrier.init.shared::cta.b64", mem(bar_), 1);
    k_("fence.proxy.async.shared::cta");
    synchronise();
    const Reg tmem = k_.def("ld.shared.b32", mem(slot));
    move_tmem(tmem, tmem_in, true);
    synchronise();
    tmem_ = tmem;
    run_steps();
    if (program_.every_thread) run_threads(registers_in, registers_out);
    move_tmem(tmem, tmem_out, false);
    synchronise();
    k_.if_(first_warp, [&] { k_("tcgen05.dealloc.cta_group::" + group_ + ".sync.aligned.b32", tmem, kTmemColumns); });
    return k_.finish();
  }

 private:
  Reg at_rank(Symbol base, uint32_t bytes) {
    return k_.def("add.s64", k_.load_param(base, Mod::u64), k_.def("mul.wide.u32", rank_, bytes));
  }

  void load_image(Symbol smem_in) {
    const Reg from = at_rank(smem_in, smem_bytes_);
    k_.for_range(k_.def("mul.lo.u32", tid_, 16), smem_bytes_, kThreads * 16, [&](Reg i) {
      const RegArray v = k_.regs(Mod::b32, 4);
      k_("ld.global.v4.b32", v, mem(k_.def("add.s64", from, k_.def("cvt.u64.u32", i))));
      k_("st.shared.v4.b32", mem(k_.def("add.u32", image_, i)), v);
    });
  }

  void move_tmem(Reg tmem, Symbol with, bool in) {
    const Reg lane_bytes = k_.def("mul.wide.u32", tid_, 4);
    const Reg at = k_.def("add.s64", at_rank(with, 4 * kTmemLanes * kTmemColumns), lane_bytes);
    const RegArray v = k_.regs(Mod::b32, kChunk);
    k_.for_range(0, kTmemColumns, kChunk, [&](Reg column) {
      const Reg chunk = k_.def("add.s64", at, k_.def("mul.wide.u32", column, 4 * kTmemLanes)), address = k_.def("add.u32", tmem, column);
      if (in) {
        for (unsigned c = 0; c < kChunk; ++c) k_("ld.global.b32", v[c], mem(chunk, int64_t{4} * kTmemLanes * c));
        k_("tcgen05.st.sync.aligned.32x32b.x32.b32", mem(address), v);
      } else {
        k_("tcgen05.ld.sync.aligned.32x32b.x32.b32", v, mem(address));
        k_("tcgen05.wait::ld.sync.aligned");
        for (unsigned c = 0; c < kChunk; ++c) k_("st.global.b32", mem(chunk, int64_t{4} * kTmemLanes * c), v[c]);
      }
    });
    if (in) k_("tcgen05.wait::st.sync.aligned");
  }

  void synchronise() {
    k_("tcgen05.fence::before_thread_sync");
    k_("bar.sync", 0);
    if (program_.cta_group == 2) {
      k_("barrier.cluster.arrive.aligned");
      k_("barrier.cluster.wait.aligned");
    }
    k_("tcgen05.fence::after_thread_sync");
  }

  void run_steps() {
    const Reg here = k_.reg(Mod::pred), issues = k_.reg(Mod::pred);
    k_("setp.eq.u32", here, rank_, program_.issuer);
    k_("and.pred", issues, here, first_thread_);
    const std::string commit = "tcgen05.commit.cta_group::" + group_ + ".mbarrier::arrive::one.shared::cluster";
    const Reg both = k_.def("mov.b16", 3);
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      k_.if_(issues, [&] {
        program_.steps[s]({k_, image_, tmem_});
        if (program_.cta_group == 2) {
          k_(commit + ".multicast::cluster.b64", mem(bar_), both);
        } else {
          k_(commit + ".b64", mem(bar_));
        }
      });
      k_("bar.sync", 0);
      mbarrier_wait(k_, bar_, static_cast<int>(s % 2));
      synchronise();
    }
  }

  void run_threads(Symbol registers_in, Symbol registers_out) {
    const Reg thread_bytes = k_.def("mul.wide.u32", tid_, 4);
    const RegArray in = k_.regs(Mod::b32, program_.in), out = k_.regs(Mod::b32, program_.out);
    const Reg from = k_.def("add.s64", at_rank(registers_in, 4 * kThreads * program_.in), thread_bytes);
    for (unsigned r = 0; r < program_.in; ++r) k_("ld.global.b32", in[r], mem(from, int64_t{4} * kThreads * r));
    program_.every_thread({k_, image_, tmem_}, in, out);
    const Reg to = k_.def("add.s64", at_rank(registers_out, 4 * kThreads * program_.out), thread_bytes);
    for (unsigned r = 0; r < program_.out; ++r) k_("st.global.b32", mem(to, int64_t{4} * kThreads * r), out[r]);
    synchronise();
  }

  const TensorProgram& program_;
  const uint32_t smem_bytes_;
  const std::string group_;
  KernelBuilder k_;
  Reg bar_, image_, tmem_, tid_, rank_, first_thread_;
};

}  // namespace

Reg TensorOperands::descriptor(uint64_t relative) const {
  // The start-address field has 18 bits of the address; those above name the CTA.
  const isa::Reg offset = k.def("shr.u32", k.def("and.b32", image, 0x3FFFF), 4);
  return k.def("add.s64", k.def("mov.b64", relative), k.def("cvt.u64.u32", offset));
}

Reg TensorOperands::predicate(bool value) const {
  const Reg p = k.reg(Mod::pred);
  k("setp.eq.u32", p, word(value ? 1 : 0), 1);
  return p;
}

Module tensor_kernel(const TensorProgram& program, uint32_t smem_bytes) { return KernelWriter(program, smem_bytes).write(); }

sim::RunResult run_tensor(const TensorProgram& program, std::vector<TensorImage>& images, sim::DriverKind driver, uint64_t seed) {
  const auto ctas = static_cast<uint32_t>(images.size());
  const size_t smem_bytes = (images[0].smem.size() + 15) / 16 * 16, tmem_bytes = 4 * images[0].tmem.size();
  const size_t in_bytes = size_t{4} * kThreads * program.in, out_bytes = size_t{4} * kThreads * program.out;
  sim::Device device;
  const auto allocate = [&](size_t bytes) { return device.allocate(std::max<size_t>(bytes * ctas, 16)); };
  const auto of = [](GmemAddr base, size_t bytes, uint32_t i) { return GmemAddr(base.value() + i * bytes); };
  const GmemAddr smem_in = allocate(smem_bytes), tmem_in = allocate(tmem_bytes), tmem_out = allocate(tmem_bytes), in = allocate(in_bytes), out = allocate(out_bytes);
  for (uint32_t i = 0; i < ctas; ++i) {
    TensorImage& image = images[i];
    image.smem.resize(smem_bytes);
    image.registers_in.resize(size_t{kThreads} * program.in);
    image.registers_out.resize(size_t{kThreads} * program.out);
    if (smem_bytes != 0) device.write(of(smem_in, smem_bytes, i), image.smem.data(), smem_bytes);
    if (in_bytes != 0) device.write(of(in, in_bytes, i), image.registers_in.data(), in_bytes);
    device.write(of(tmem_in, tmem_bytes, i), image.tmem.data(), tmem_bytes);
  }
  const sim::LoadedModule m = device.load(tensor_kernel(program, static_cast<uint32_t>(smem_bytes)));
  const sim::LaunchConfig launch{.grid = {ctas}, .block = {kThreads}, .cluster = {ctas}, .dynamic_smem = static_cast<uint32_t>(smem_bytes)};
  const sim::RunResult r = device.launch(m, "tensor", launch, sim::Args().add(smem_in).add(tmem_in).add(tmem_out).add(in).add(out), {.driver = driver, .seed = seed});
  for (uint32_t i = 0; i < ctas && r.ok(); ++i) {
    device.read(images[i].tmem.data(), of(tmem_out, tmem_bytes, i), tmem_bytes);
    if (out_bytes != 0) device.read(images[i].registers_out.data(), of(out, out_bytes, i), out_bytes);
  }
  return r;
}

namespace {

// Tells the first few differences; returns how many there are.
size_t differences(const TensorImage& before, const TensorImage& expected, const TensorImage& got, const std::string& where) {
  size_t wrong = 0;
  for (unsigned column = 0; column < kTmemColumns; ++column) {
    for (unsigned lane = 0; lane < kTmemLanes; ++lane) {
      const uint32_t want = expected.cell(lane, column), have = got.cell(lane, column);
      if (want == have || ++wrong > 4) continue;
      ADD_FAILURE() << where << " lane " << lane << " column " << column << std::hex << ": " << have << ", expected " << want << ", before " << before.cell(lane, column);
    }
  }
  for (size_t i = 0; i < expected.registers_out.size(); ++i) {
    const uint32_t want = expected.registers_out[i], have = got.registers_out[i];
    if (want == have || ++wrong > 4) continue;
    ADD_FAILURE() << where << " register " << i / kThreads << " of thread " << i % kThreads << std::hex << ": " << have << ", expected " << want;
  }
  return wrong;
}

}  // namespace

void expect_tensor(const TensorProgram& program, const std::vector<TensorImage>& images, const std::vector<TensorImage>& expected) {
  using sim::DriverKind;
  for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
    std::vector<TensorImage> got = images;
    const sim::RunResult r = run_tensor(program, got, driver);
    ASSERT_TRUE(r.ok()) << sim::driver_name(driver) << ": " << r.fault->to_string();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      wrong += differences(images[i], expected[i], got[i], std::string(sim::driver_name(driver)) + ": CTA " + std::to_string(i));
    }
    ASSERT_EQ(wrong, 0u) << sim::driver_name(driver);
  }
}

void expect_tensor_fault(const TensorProgram& program, const std::vector<TensorImage>& images, const std::string& code) {
  std::vector<TensorImage> got = images;
  const sim::RunResult r = run_tensor(program, got, sim::DriverKind::eager);
  ASSERT_FALSE(r.ok()) << "no fault, " << code << " expected";
  EXPECT_EQ(r.fault->code, code) << r.fault->to_string();
}

}  // namespace drywell::test
