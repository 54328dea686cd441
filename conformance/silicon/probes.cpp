#include "conformance/silicon/probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::silicon {

std::vector<Probe> probes() {
  std::vector<Probe> out;
  add_tma(out);
  add_mbarrier(out);
  add_bulk(out);
  add_cluster(out);
  add_numerics(out);
  add_scalar(out);
  return out;
}

uint64_t Draw::word() { return random_word(seed_, at_++); }

std::vector<uint8_t> Draw::bytes(size_t n) {
  std::vector<uint8_t> out(n);
  for (uint8_t& b : out) b = static_cast<uint8_t>(word() >> 56);
  return out;
}

namespace {

uint64_t digest_of(const ProbeText& p) {
  Digest d;
  d.add(p.text);
  for (const auto& b : p.buffers) d.add(b);
  for (const auto& m : p.maps) {
    const isa::TensorMapFields& f = m.fields;
    d.add(fmt::format("{} {} {} {} {} {} {}", static_cast<int>(f.mode), static_cast<int>(f.type), f.rank, static_cast<int>(f.interleave),
                      static_cast<int>(f.swizzle), static_cast<int>(f.oob_fill), m.offset));
    d.add(fmt::format("{} {} {} {}", fmt::join(f.dim, ","), fmt::join(f.stride, ","), fmt::join(f.box, ","), fmt::join(f.element_stride, ",")));
    d.add(fmt::format("{} {} {} {}", fmt::join(f.lower_corner, ","), fmt::join(f.upper_corner, ","), f.channels_per_pixel, f.pixels_per_column));
  }
  d.add(fmt::format("{} {} {}", p.launch.grid.x, p.launch.block.x, p.launch.cluster.x));
  return d.value();
}

}  // namespace

Probe probe(std::string family, std::string name, ProbeText p) {
  const uint64_t digest = digest_of(p);
  auto shared = std::make_shared<const ProbeText>(std::move(p));
  const auto make = [shared, name] {
    Program out;
    out.module = isa::parse_ptx_or_throw(".version 8.6\n.target sm_90a\n.address_size 64\n" + shared->text, name);
    if (Diagnostics problems = isa::validate(out.module); problems.has_errors()) throw InputError(std::move(problems));
    out.launch = shared->launch;
    for (const auto& b : shared->buffers) out.buffers.push_back({.initial = b});
    out.maps = shared->maps;
    return out;
  };
  return {std::move(name), std::move(family), make, digest};
}

std::string kernel_head(uint32_t smem_bytes, bool has_map) {
  return fmt::format(
      ".visible .entry probe(.param .u64 b0, .param .u64 b1{})\n.reqntid 128\n{{\n"
      ".reg .pred %first, %others, %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<32>;\n"
      ".shared .align 1024 .b8 area[{}];\n.shared .align 8 .b64 bar;\n"
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, area;\nmov.u32 %r2, bar;\nld.param.u64 %rd0, [b0];\nld.param.u64 %rd1, [b1];\n"
      "setp.eq.u32 %first, %r0, 0;\nsetp.ne.u32 %others, %r0, 0;\n{}",
      has_map ? ", .param .align 64 .b8 map[128]" : "", smem_bytes, has_map ? "mov.b64 %rd2, map;\ncvta.param.u64 %rd2, %rd2;\n" : "");
}

std::string fill_area(uint32_t smem_bytes, bool from_buffer) {
  return fmt::format(
      "shl.b32 %r3, %r0, 2;\nFILL:\nadd.u32 %r4, %r1, %r3;\nmov.b32 %r5, 0xA5A5A5A5;\n{}"
      "st.shared.u32 [%r4], %r5;\nadd.u32 %r3, %r3, 512;\nsetp.lt.u32 %p0, %r3, {};\n@%p0 bra FILL;\n"
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n",
      from_buffer ? "cvt.u64.u32 %rd3, %r3;\nadd.u64 %rd3, %rd0, %rd3;\nld.global.u32 %r5, [%rd3];\n" : "", smem_bytes);
}

std::string by_first(const std::string& lines, std::string_view label) { return fmt::format("@%others bra {0};\n{1}{0}:\n", label, lines); }

std::string init_barrier(uint32_t arrivals) {
  return by_first(fmt::format("mbarrier.init.shared::cta.b64 [%r2], {};\nfence.mbarrier_init.release.cluster;\n", arrivals), "INITIALISED") + "bar.sync 0;\n";
}

std::string wait_parity(uint32_t parity, std::string_view label) {
  return fmt::format("{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], {1};\n@!%p1 bra {0};\nbar.sync 0;\n", label, parity);
}

std::string dump_area(uint32_t smem_bytes) {
  return fmt::format(
      "shl.b32 %r3, %r0, 2;\nDUMP:\nadd.u32 %r4, %r1, %r3;\nld.shared.u32 %r5, [%r4];\ncvt.u64.u32 %rd3, %r3;\nadd.u64 %rd3, %rd1, %rd3;\n"
      "st.global.u32 [%rd3], %r5;\nadd.u32 %r3, %r3, 512;\nsetp.lt.u32 %p0, %r3, {};\n@%p0 bra DUMP;\nret;\n}}\n",
      smem_bytes);
}

}  // namespace drywell::kernels::silicon
