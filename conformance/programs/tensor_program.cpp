#include "conformance/programs/tensor_program.h"

#include <algorithm>

#include "conformance/programs/families.h"
#include "drywell/isa/pipeline.h"

namespace drywell::kernels::conformance {
namespace {

using namespace drywell::isa;

constexpr unsigned kChunk = 32;  // columns per move

// One kernel: image in, steps, tensor memory out. Warp w moves lanes 32w to 32w+31.
class KernelWriter {
 public:
  KernelWriter(const TensorProgram& program, uint32_t smem_bytes)
      : program_(program),
        smem_bytes_(smem_bytes),
        group_(std::to_string(program.cta_group)),
        k_("tensor", program.target) {}

  Module write() {
    const Symbol smem_in = k_.param(Mod::u64, "smem_in"), tmem_in = k_.param(Mod::u64, "tmem_in"),
                 tmem_out = k_.param(Mod::u64, "tmem_out");
    const Symbol registers_in = k_.param(Mod::u64, "registers_in"),
                 registers_out = k_.param(Mod::u64, "registers_out");
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
    k_.if_(first_warp, [&] {
      k_(OpText("tcgen05.alloc.cta_group::" + group_ + ".sync.aligned.shared::cta.b32"), mem(slot), kTmemColumns);
    });
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
    k_.if_(first_warp,
           [&] { k_(OpText("tcgen05.dealloc.cta_group::" + group_ + ".sync.aligned.b32"), tmem, kTmemColumns); });
    return k_.finish();
  }

 private:
  Reg at_rank(Symbol base, uint32_t bytes) {
    const Reg offset = k_.def("mul.wide.u32", rank_, bytes);
    return k_.def("add.s64", k_.load_param(base, Mod::u64), offset);
  }

  void load_image(Symbol smem_in) {
    const Reg from = at_rank(smem_in, smem_bytes_);
    k_.for_range(k_.def("mul.lo.u32", tid_, 16), smem_bytes_, kTensorThreads * 16, [&](Reg i) {
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
      const Reg chunk = k_.def("add.s64", at, k_.def("mul.wide.u32", column, 4 * kTmemLanes)),
                address = k_.def("add.u32", tmem, column);
      if (in) {
        for (unsigned c = 0; c < kChunk; ++c)
          k_("ld.global.b32", v[c], mem(chunk, int64_t{4} * kTmemLanes * c));
        k_("tcgen05.st.sync.aligned.32x32b.x32.b32", mem(address), v);
      } else {
        k_("tcgen05.ld.sync.aligned.32x32b.x32.b32", v, mem(address));
        k_("tcgen05.wait::ld.sync.aligned");
        for (unsigned c = 0; c < kChunk; ++c)
          k_("st.global.b32", mem(chunk, int64_t{4} * kTmemLanes * c), v[c]);
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
    const std::string commit =
        "tcgen05.commit.cta_group::" + group_ + ".mbarrier::arrive::one.shared::cluster";
    const Reg both = k_.def("mov.b16", 3);
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      k_.if_(issues, [&] {
        program_.steps[s]({k_, image_, tmem_});
        if (program_.cta_group == 2) {
          k_(OpText(commit + ".multicast::cluster.b64"), mem(bar_), both);
        } else {
          k_(OpText(commit + ".b64"), mem(bar_));
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
    const Reg from = k_.def("add.s64", at_rank(registers_in, 4 * kTensorThreads * program_.in), thread_bytes);
    for (unsigned r = 0; r < program_.in; ++r)
      k_("ld.global.b32", in[r], mem(from, int64_t{4} * kTensorThreads * r));
    program_.every_thread({k_, image_, tmem_}, in, out);
    const Reg to = k_.def("add.s64", at_rank(registers_out, 4 * kTensorThreads * program_.out), thread_bytes);
    for (unsigned r = 0; r < program_.out; ++r)
      k_("st.global.b32", mem(to, int64_t{4} * kTensorThreads * r), out[r]);
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
  // The start-address field has 18 bits of the address; the higher bits select the CTA.
  const isa::Reg offset = k.def("shr.u32", k.def("and.b32", image, 0x3FFFF), 4);
  const isa::Reg wide_offset = k.def("cvt.u64.u32", offset);
  const bool absolute = (relative >> 52 & 1) != 0;  // the leading-dimension field is an address, too
  if (absolute) k("mad.lo.u64", wide_offset, wide_offset, (uint64_t{1} << 16) + 1, 0);
  return k.def("add.s64", k.def("mov.b64", relative), wide_offset);
}

Reg TensorOperands::predicate(bool value) const {
  const Reg p = k.reg(Mod::pred);
  k("setp.eq.u32", p, word(value ? 1 : 0), 1);
  return p;
}

Module tensor_kernel(const TensorProgram& program, uint32_t smem_bytes) {
  return KernelWriter(program, smem_bytes).write();
}

uint32_t RandomWords::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<uint32_t>(z >> 16);
}

void TensorImage::fill_tmem(RandomWords& words) {
  for (uint32_t& v : tmem) v = words.next();
}

void put_bits(uint32_t& word, unsigned low, unsigned width, uint32_t value) {
  const uint32_t mask = (width == 32 ? ~0u : (1u << width) - 1) << low;
  word = (word & ~mask) | (value << low & mask);
}

namespace {

template <class T>
void append(std::vector<uint8_t>& to, const std::vector<T>& from) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(from.data());
  to.insert(to.end(), bytes, bytes + from.size() * sizeof(T));
}

}  // namespace

Program to_program(const TensorCheck& check) {
  const size_t smem_bytes = (check.images[0].smem.size() + 15) / 16 * 16;
  Program p;
  p.module = tensor_kernel(check.program, static_cast<uint32_t>(smem_bytes));
  const auto ctas = static_cast<uint32_t>(check.images.size());
  p.launch = {.grid = {ctas},
              .block = {kTensorThreads},
              .cluster = {ctas},
              .dynamic_smem = static_cast<uint32_t>(smem_bytes)};
  enum {
    kSmem,
    kTmemIn,
    kTmemOut,
    kRegistersIn,
    kRegistersOut,
    kCount
  };
  p.buffers.resize(kCount);
  for (uint32_t i = 0; i < ctas; ++i) {
    TensorImage image = check.images[i];
    image.smem.resize(smem_bytes);
    append(p.buffers[kSmem].initial, image.smem);
    append(p.buffers[kTmemIn].initial, image.tmem);
    append(p.buffers[kRegistersIn].initial, image.registers_in);
    append(p.buffers[kTmemOut].expected, check.expected[i].tmem);
    append(p.buffers[kRegistersOut].expected, check.expected[i].registers_out);
    if (!check.open.empty()) append(p.buffers[kTmemOut].mask, check.open[i]);
  }
  for (uint8_t& m : p.buffers[kTmemOut].mask) m = static_cast<uint8_t>(~m);
  for (ProgramBuffer& b : p.buffers)
    b.initial.resize(std::max<size_t>({b.initial.size(), b.expected.size(), 16}), 0xFF);
  return p;
}

std::vector<TensorSpec> tensor_specs() {
  std::vector<TensorSpec> all;
  add_mma_forms(all);
  add_move_forms(all);
  return all;
}

void add_tensor(std::vector<ProgramSpec>& out) {
  for (const TensorSpec& s : tensor_specs()) {
    out.push_back({s.name, "tensor", [s](isa::Target target) {
                     // The bit of K = 96 is in a descriptor: no row of the instruction table says which machines have it.
                     if (s.target == isa::Target::sm_103a && !isa::has_feature(target, isa::Feature::sm103_only))
                       throw InputError(Code::E1210, s.name + " is for sm_103a");
                     TensorCheck check = s.make();
                     check.program.target = target;
                     return to_program(check);
                   }});
  }
}

}  // namespace drywell::kernels::conformance
