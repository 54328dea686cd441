#include "conformance/programs/async_text.h"

#include <fmt/format.h>

#include <memory>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

std::string kernel_text(const AsyncText& t, isa::Target target) {
  std::string params, loads;
  for (size_t i = 0; i < t.buffers.size(); ++i) {
    params += fmt::format("{}.param .u64 buf{}", i == 0 ? "" : ", ", i);
    loads += fmt::format("ld.param.u64 %b{0}, [buf{0}];\n", i);
  }
  if (!t.maps.empty()) {
    params += ", .param .align 64 .b8 map[128]";
    loads += "mov.b64 %map, map;\ncvta.param.u64 %map, %map;\n";
  }
  return fmt::format(
      ".version {}.{}\n.target {}\n.address_size 64\n{}.visible .entry text({})\n.reqntid {}\n{}{{\n"
      ".reg .pred %first, %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %thread, %area, %bar, %rank, %i, %word, %r<32>;\n.reg .b64 %map, %at, %b<4>, %d<32>;\n.reg .b128 %q<2>;\n"
      ".shared .align 1024 .b8 area[{}];\n.shared .align 16 .b8 bar[64];\n"
      "mov.u32 %thread, %tid.x;\nmov.u32 %area, area;\nmov.u32 %bar, bar;\nmov.u32 %rank, %cluster_ctarank;\nsetp.eq.u32 %first, %thread, 0;\n{}{}ret;\n}}\n",
      t.version.major, t.version.minor, isa::target_name(target), t.module_scope, params, kTextThreads, t.directives, kArea, loads, t.body);
}

}  // namespace

ProgramSpec text_program(std::string family, std::string name, AsyncText text) {
  auto shared = std::make_shared<const AsyncText>(std::move(text));
  const auto make = [shared, name](isa::Target target) {
    Program out;
    out.module = isa::parse_ptx_or_throw(kernel_text(*shared, target), name);
    if (Diagnostics problems = isa::validate(out.module); problems.has_errors()) throw InputError(std::move(problems));
    out.launch = {.grid = {shared->ctas}, .block = {kTextThreads}, .cluster = {shared->cluster}};
    out.buffers = shared->buffers;
    out.maps = shared->maps;
    out.fault = shared->fault;
    return out;
  };
  return {std::move(name), std::move(family), make};
}

Bytes random_bytes(size_t n, uint64_t seed) {
  Bytes v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(random_word(seed, i) >> 24);
  return v;
}

std::string fill_area(const std::string& source) {
  return fmt::format(
      "shl.b32 %i, %thread, 2;\nmov.b32 %word, 0xA5A5A5A5;\nFILL:\n{}add.u32 %r0, %area, %i;\nst.shared.b32 [%r0], %word;\n"
      "add.u32 %i, %i, 512;\nsetp.lt.u32 %p0, %i, {};\n@%p0 bra FILL;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n",
      source.empty() ? "" : fmt::format("cvt.u64.u32 %at, %i;\nadd.u64 %at, {}, %at;\nld.global.b32 %word, [%at];\n", source), kArea);
}

std::string init_bar(uint32_t arrivals) {
  return fmt::format("@%first mbarrier.init.shared::cta.b64 [%bar], {};\n@%first fence.mbarrier_init.release.cluster;\nbar.sync 0;\n", arrivals);
}

std::string expect_bytes(uint32_t bytes) { return fmt::format("@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {};\n", bytes); }

std::string wait_bar(uint32_t parity, const std::string& label) {
  return fmt::format("{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], {1};\n@!%p1 bra {0};\nbar.sync 0;\n", label, parity);
}

std::string dump_area(const std::string& to) {
  return fmt::format(
      "mad.wide.u32 %d0, %rank, {1}, {0};\nshl.b32 %i, %thread, 2;\nDUMP:\nadd.u32 %r0, %area, %i;\nld.shared.b32 %word, [%r0];\ncvt.u64.u32 %at, %i;\n"
      "add.u64 %at, %d0, %at;\nst.global.b32 [%at], %word;\nadd.u32 %i, %i, 512;\nsetp.lt.u32 %p0, %i, {1};\n@%p0 bra DUMP;\n",
      to, kArea);
}

std::string store_words(const std::string& to, const std::string& reg) {
  return fmt::format("mad.lo.u32 %i, %rank, {}, %thread;\nmad.wide.u32 %at, %i, 4, {};\nst.global.b32 [%at], {};\n", kTextThreads, to, reg);
}

std::string cluster_sync() { return "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"; }

std::string map_next(const std::string& d, const std::string& a) {
  return fmt::format("add.u32 %i, %rank, 1;\nand.b32 %i, %i, 3;\nmapa.shared::cluster.u32 {}, {}, %i;\n", d, a);
}

}  // namespace drywell::kernels::conformance
