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
  KernelWriter(const TensorProgram& program, uint32_t smem_bytes) : program_(program), smem_bytes_(smem_bytes), group_(std::to_string(program.cta_group)) {}

  Module write() {
    const Symbol smem_in = k_.param(Mod::u64, "smem_in"), tmem_in = k_.param(Mod::u64, "tmem_in"), tmem_out = k_.param(Mod::u64, "tmem_out");
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
    run_steps();
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
        program_.steps[s]({k_, image_});
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

  const TensorProgram& program_;
  const uint32_t smem_bytes_;
  const std::string group_;
  KernelBuilder k_{"tensor"};
  Reg bar_, image_, tid_, rank_, first_thread_;
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
  sim::Device device;
  const GmemAddr smem_in = device.allocate(std::max<size_t>(smem_bytes, 16) * ctas), tmem_in = device.allocate(tmem_bytes * ctas), tmem_out = device.allocate(tmem_bytes * ctas);
  for (uint32_t i = 0; i < ctas; ++i) {
    images[i].smem.resize(smem_bytes);
    device.write(GmemAddr(smem_in.value() + i * smem_bytes), images[i].smem.data(), smem_bytes);
    device.write(GmemAddr(tmem_in.value() + i * tmem_bytes), images[i].tmem.data(), tmem_bytes);
  }
  const sim::LoadedModule m = device.load(tensor_kernel(program, static_cast<uint32_t>(smem_bytes)));
  sim::LaunchConfig launch{.grid = {ctas}, .block = {kThreads}, .cluster = {ctas}, .dynamic_smem = static_cast<uint32_t>(smem_bytes)};
  const sim::RunResult r = device.launch(m, "tensor", launch, sim::Args().add(smem_in).add(tmem_in).add(tmem_out), {.driver = driver, .seed = seed});
  for (uint32_t i = 0; i < ctas && r.ok(); ++i) device.read(images[i].tmem.data(), GmemAddr(tmem_out.value() + i * tmem_bytes), tmem_bytes);
  return r;
}

void expect_tensor(const TensorProgram& program, const std::vector<TensorImage>& images, const std::vector<TensorImage>& expected) {
  using sim::DriverKind;
  for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
    std::vector<TensorImage> got = images;
    const sim::RunResult r = run_tensor(program, got, driver);
    ASSERT_TRUE(r.ok()) << sim::driver_name(driver) << ": " << r.fault->to_string();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      for (unsigned column = 0; column < kTmemColumns; ++column) {
        for (unsigned lane = 0; lane < kTmemLanes; ++lane) {
          const uint32_t want = expected[i].cell(lane, column), have = got[i].cell(lane, column);
          if (want == have) continue;
          if (++wrong <= 4) {
            ADD_FAILURE() << sim::driver_name(driver) << ": CTA " << i << " lane " << lane << " column " << column << std::hex << ": " << have << ", expected "
                          << want << ", before " << images[i].cell(lane, column);
          }
        }
      }
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
