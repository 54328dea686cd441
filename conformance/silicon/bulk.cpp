// Bulk copies and reductions without a tensor map.
#include <fmt/format.h>

#include "conformance/silicon/probes.h"

namespace drywell::kernels::silicon {
namespace {

constexpr uint32_t kArea = 2048;

// Sizes in a register are rounded down to a multiple of 16 (docs/facts/tma-mbarrier.md §2.3): the barrier counts the rounded size.
void add_loads(std::vector<Probe>& out) {
  for (const uint32_t size : {16u, 24u, 48u, 127u, 128u, 1024u, 1040u, 1536u}) {
    Draw d(8000 + size);
    const std::string copy = fmt::format(
        "mov.b32 %r12, {};\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {};\nadd.u32 %r10, %r1, {};\nadd.u64 %rd10, %rd0, {};\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd10], %r12, [%r2];\n",
        size, size / 16 * 16, 16 * d.below(8), 16 * d.below(8));
    const std::string text = kernel_head(kArea, false) + fill_area(kArea, false) + init_barrier(1) + by_first(copy, "ISSUED") + wait_parity(0, "WAIT") + dump_area(kArea);
    out.push_back(probe("bulk", fmt::format("bulk.load.{}", size), {text, {{1}, {128}}, {d.bytes(kArea), std::vector<uint8_t>(kArea)}, {}}));
  }
}

void add_store(std::vector<Probe>& out, const std::string& name, uint64_t seed, const std::string& instruction, uint32_t size) {
  Draw d(seed);
  const std::string copy = fmt::format(
      "add.u32 %r10, %r1, {};\nadd.u64 %rd10, %rd1, {};\n{} [%rd10], [%r10], {};\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
      16 * d.below(8), 16 * d.below(8), instruction, size);
  const std::string text = kernel_head(kArea, false) + fill_area(kArea, true) + by_first(copy, "STORED") + "ret;\n}\n";
  out.push_back(probe("bulk", name, {text, {{1}, {128}}, {d.bytes(kArea), d.bytes(kArea)}, {}}));
}

// Sums of all pairs of special values: the record shows the resulting NaN.
void add_special_sums(std::vector<Probe>& out) {
  constexpr uint64_t kValues[] = {0, 1ull << 63, 0x3FF0000000000000, 0xBFF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
                                  1, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFF4000000000123, 0x7FFABCDE00000321,
                                  0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x000FFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF};
  static_assert(sizeof(kValues) * 16 == kArea);
  std::vector<uint8_t> a, b;
  const auto put = [](std::vector<uint8_t>& to, uint64_t v) { for (unsigned i = 0; i < 8; ++i) to.push_back(static_cast<uint8_t>(v >> (8 * i))); };
  for (const uint64_t x : kValues) {
    for (const uint64_t y : kValues) {
      put(a, x);
      put(b, y);
    }
  }
  const std::string copy = fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%rd1], [%r1], {};\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", kArea);
  const std::string text = kernel_head(kArea, false) + fill_area(kArea, true) + by_first(copy, "STORED") + "ret;\n}\n";
  out.push_back(probe("bulk", "bulk.reduce.specials.add.f64", {text, {{1}, {128}}, {a, b}, {}}));
}

}  // namespace

void add_bulk(std::vector<Probe>& out) {
  add_loads(out);
  for (const uint32_t size : {16u, 48u, 1024u}) add_store(out, fmt::format("bulk.store.{}", size), 8100 + size, "cp.async.bulk.global.shared::cta.bulk_group", size);
  add_special_sums(out);
  uint64_t seed = 8200;
  for (const char* form : {"add.u32", "add.s32", "add.u64", "add.f32", "add.f64", "add.noftz.f16", "add.noftz.bf16", "min.u32", "min.s32", "min.u64", "min.s64",
                           "min.f16", "min.bf16", "max.u32", "max.s32", "max.u64", "max.s64", "max.f16", "max.bf16", "inc.u32", "dec.u32", "and.b32",
                           "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64"}) {
    add_store(out, fmt::format("bulk.reduce.{}", form), seed++, fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}", form), 1024);
  }
}

}  // namespace drywell::kernels::silicon
