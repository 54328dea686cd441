// Bulk copies and reductions without a tensor map (PTX ISA 9.7.9.25.4), st.bulk.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

constexpr uint32_t kCtas = 4;
const std::string kCommit = "@%first cp.async.bulk.commit_group;\n";

Bytes filled_area() { return Bytes(kArea, kAreaFill); }

void add_loads(std::vector<ProgramSpec>& out) {
  for (const char* space : {"cta", "cluster"}) {
    for (const uint32_t size : {16u, 48u, 128u, 1024u, 1536u}) {
      const uint32_t from = size / 3 / 16 * 16, to = 64;
      const Bytes source = random_bytes(kArea, 800 + size);
      Bytes want = filled_area();
      std::copy_n(source.begin() + from, size, want.begin() + to);
      const std::string copy = fmt::format(
          "@%first cp.async.bulk.prefetch.L2.global [%b0+{1}], {3};\n"
          "@%first cp.async.bulk.shared::{0}.global.mbarrier::complete_tx::bytes [%r10+{2}], [%b0+{1}], {3}, [%bar];\n",
          space, from, to, size);
      out.push_back(text_program("bulk", fmt::format("bulk.load.{}.{}", space, size),
                                 {fill_area() + init_bar() + "mov.b32 %r10, %area;\n" + expect_bytes(size) + copy + wait_bar() + dump_area("%b1"),
                                  {input(source), output(want)}}));
    }
  }
}

/// The last granule reaches beyond the source's end: the bytes there may hold anything, and a thread overwrites them.
void add_loads_past_the_end(std::vector<ProgramSpec>& out) {
  struct Ends {
    uint32_t left, right;
  };
  constexpr uint32_t kSize = 64, kTo = 128;
  for (const Ends e : {Ends{0, 5}, Ends{3, 15}, Ends{15, 1}}) {
    const Bytes source = random_bytes(kArea - e.right, 810 + e.right);
    Bytes want = filled_area();
    std::copy(source.end() - (kSize - e.left - e.right), source.end(), want.begin() + kTo + e.left);
    std::string overwrite;
    for (uint32_t i = 0; i < kSize; ++i) {
      if (i < e.left || i >= kSize - e.right) overwrite += fmt::format("@%first st.shared.b8 [%area+{}], %r12;\n", kTo + i);
    }
    const std::string copy = fmt::format(
        "mov.b32 %r11, {};\nmov.b32 %r12, {};\n@%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%area+{}], [%b0+{}], {}, {}, %r11, [%bar];\n", e.right,
        kAreaFill, kTo, kArea - kSize, kSize, e.left);
    out.push_back(text_program("bulk", fmt::format("bulk.load.ignore_oob.{}.{}", e.left, e.right),
                               {.body = fill_area() + init_bar() + expect_bytes(kSize) + copy + wait_bar() + overwrite + "bar.sync 0;\n" + dump_area("%b1"),
                                .buffers = {input(source), output(want)},
                                .version = {9, 2}}));
  }
}

/// CTA 1 sends to the CTAs of the mask.
void add_multicast(std::vector<ProgramSpec>& out) {
  constexpr uint32_t kSize = 512, kTo = 256;
  for (const uint32_t mask : {0x1u, 0x2u, 0x5u, 0xEu, 0xFu}) {
    const Bytes source = random_bytes(kArea, 820 + mask);
    Bytes want(size_t{kCtas} * kArea, kAreaFill);
    for (uint32_t r = 0; r < kCtas; ++r) {
      if ((mask >> r & 1) != 0) std::copy_n(source.begin(), kSize, want.begin() + r * kArea + kTo);
    }
    const std::string body = fill_area() + init_bar() + expect_bytes(kSize) + cluster_sync() +
                             fmt::format(
                                 "setp.eq.and.u32 %p2, %rank, 1, %first;\nmov.b16 %h0, {0};\n"
                                 "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%area+{1}], [%b0], {2}, [%bar], %h0;\n"
                                 "shr.b32 %r10, {0}, %rank;\nand.b32 %r10, %r10, 1;\nsetp.eq.u32 %p3, %r10, 0;\n@%p3 bra PAST;\n",
                                 mask, kTo, kSize) +
                             wait_bar() + "PAST:\n" + cluster_sync() + dump_area("%b1");
    out.push_back(text_program("bulk", fmt::format("bulk.load.multicast.{:x}", mask), {body, {input(source), output(want)}, {}, kCtas, kCtas}));
  }
}

AsyncText store(const std::string& instruction, const std::string& last, uint32_t size, const Bytes& source, const Bytes& before, Bytes want, const char* read = "") {
  return {fill_area("%b0") + fmt::format("@%first {} [%b1+{}], [%area], {}{};\n", instruction, 16, size, last) + kCommit +
              fmt::format("@%first cp.async.bulk.wait_group{} 0;\n", read),
          {input(source), {.initial = before, .expected = std::move(want)}}};
}

void add_stores(std::vector<ProgramSpec>& out) {
  const std::string op = "cp.async.bulk.global.shared::cta.bulk_group";
  for (const char* read : {"", ".read"}) {
    for (const uint32_t size : {16u, 48u, 1024u}) {
      const Bytes source = random_bytes(kArea, 840 + size), before = random_bytes(kArea, 850 + size);
      Bytes want = before;
      std::copy_n(source.begin(), size, want.begin() + 16);
      out.push_back(text_program("bulk", fmt::format("bulk.store{}.{}", read, size), store(op, "", size, source, before, want, read)));
    }
  }
  // Bit i of the mask: byte i of every 16 is written.
  for (const uint32_t mask : {0x0001u, 0x8001u, 0x0FF0u, 0x5A5Au}) {
    const Bytes source = random_bytes(kArea, 860 + mask), before = random_bytes(kArea, 870 + mask);
    Bytes want = before;
    for (uint32_t i = 0; i < 512; ++i) {
      if ((mask >> i % 16 & 1) != 0) want[16 + i] = source[i];
    }
    AsyncText t = store(op + ".cp_mask", ", %h0", 512, source, before, want);
    t.body.insert(0, fmt::format("mov.b16 %h0, 0x{:x};\n", mask));
    out.push_back(text_program("bulk", fmt::format("bulk.store.cp_mask.{:04x}", mask), std::move(t)));
  }
}

// ---- reductions

using Combine = std::function<void(const Bytes& source, Bytes& memory, size_t i)>;  // element i

template <class T>
Combine combine(T (*f)(T memory, T value)) {
  return [f](const Bytes& s, Bytes& m, size_t i) { put_value<T>(m, i, f(value_at<T>(m, i), value_at<T>(s, i))); };
}

struct Reduction {
  std::string form;
  uint32_t width;
  Combine combine;
  bool to_shared;  // also in another CTA's memory
};

template <class T>
void arithmetic(std::vector<Reduction>& out, const char* type, bool has_add, bool to_shared) {
  if (has_add) out.push_back({fmt::format("add.{}", type), sizeof(T), combine<T>([](T a, T b) { return static_cast<T>(uint64_t(a) + uint64_t(b)); }), to_shared});
  const bool narrow = to_shared && sizeof(T) == 4;
  out.push_back({fmt::format("min.{}", type), sizeof(T), combine<T>([](T a, T b) { return std::min(a, b); }), narrow});
  out.push_back({fmt::format("max.{}", type), sizeof(T), combine<T>([](T a, T b) { return std::max(a, b); }), narrow});
}
template <class T>
void bitwise(std::vector<Reduction>& out, const char* type, bool to_shared) {
  out.push_back({fmt::format("and.{}", type), sizeof(T), combine<T>([](T a, T b) { return a & b; }), to_shared});
  out.push_back({fmt::format("or.{}", type), sizeof(T), combine<T>([](T a, T b) { return a | b; }), to_shared});
  out.push_back({fmt::format("xor.{}", type), sizeof(T), combine<T>([](T a, T b) { return a ^ b; }), to_shared});
}

std::vector<Reduction> reductions() {
  std::vector<Reduction> r;
  arithmetic<uint32_t>(r, "u32", true, true);
  arithmetic<int32_t>(r, "s32", true, true);
  arithmetic<uint64_t>(r, "u64", true, true);
  arithmetic<int64_t>(r, "s64", false, false);
  bitwise<uint32_t>(r, "b32", true);
  bitwise<uint64_t>(r, "b64", false);
  r.push_back({"inc.u32", 4, combine<uint32_t>([](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }), true});
  r.push_back({"dec.u32", 4, combine<uint32_t>([](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }), true});
  return r;
}

void add_reductions(std::vector<ProgramSpec>& out) {
  constexpr uint32_t kSize = 1024;
  uint64_t seed = 900;
  for (const Reduction& r : reductions()) {
    const Bytes source = random_bytes(kArea, ++seed), before = random_bytes(kArea - 16, ++seed);
    Bytes memory = before, lead(16, 0x77);
    for (size_t i = 0; i < kSize / r.width; ++i) r.combine(source, memory, i);
    Bytes initial = lead, want = lead;
    initial.insert(initial.end(), before.begin(), before.end());
    want.insert(want.end(), memory.begin(), memory.end());
    out.push_back(text_program("bulk", fmt::format("bulk.reduce.{}", r.form),
                               store(fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}", r.form), "", kSize, source, initial, want)));
  }
}

// ---- to the next CTA of the cluster

/// The first 512 bytes of each CTA's area go to the second KiB of the next CTA's area.
AsyncText ring(const std::string& instruction, const Bytes& source, const Bytes& want) {
  constexpr uint32_t kSize = 512;
  return {fmt::format("mul.wide.u32 %d10, %rank, {};\nadd.u64 %d10, %b0, %d10;\n", kArea) + fill_area("%d10") + init_bar() + expect_bytes(kSize) + cluster_sync() +
              map_next("%r10", "%area") + map_next("%r11", "%bar") +
              fmt::format("@%first {} [%r10+1024], [%area], {}, [%r11];\n", instruction, kSize) + wait_bar() + cluster_sync() + dump_area("%b1"),
          {input(source), output(want)},
          {},
          kCtas,
          kCtas};
}

void add_remote(std::vector<ProgramSpec>& out) {
  const auto add = [&](const std::string& name, const std::string& instruction, uint64_t seed, uint32_t width, const Combine& f) {
    const Bytes source = random_bytes(size_t{kCtas} * kArea, seed);
    Bytes want = source;
    for (uint32_t r = 0; r < kCtas; ++r) {
      const Bytes left(source.begin() + (r + 3) % 4 * kArea, source.begin() + (r + 3) % 4 * kArea + 512);
      Bytes mine(source.begin() + r * kArea + 1024, source.begin() + r * kArea + 1536);
      for (size_t i = 0; i < 512 / width; ++i) f(left, mine, i);
      std::copy(mine.begin(), mine.end(), want.begin() + r * kArea + 1024);
    }
    out.push_back(text_program("bulk", name, ring(instruction, source, want)));
  };
  add("bulk.remote", "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", 990, 1, combine<uint8_t>([](uint8_t, uint8_t v) { return v; }));
  uint64_t seed = 1000;
  for (const Reduction& r : reductions()) {
    if (!r.to_shared) continue;
    add("bulk.remote.reduce." + r.form, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + r.form, ++seed, r.width, r.combine);
  }
}

void add_st_bulk(std::vector<ProgramSpec>& out) {
  for (const auto& [name, size] : {std::pair{"st.bulk.weak.shared::cta", 8u}, std::pair{"st.bulk.shared::cta", 264u}, std::pair{"st.bulk.weak.shared::cta", 1024u}}) {
    Bytes want = filled_area();
    std::fill_n(want.begin() + 8, size, uint8_t{0});
    out.push_back(text_program("bulk", fmt::format("{}.{}", name, size),
                               {fill_area() + fmt::format("@%first {} [%area+8], {}, 0;\nbar.sync 0;\n", name, size) + dump_area("%b0"), {output(want)}}));
  }
}

}  // namespace

void add_bulk(std::vector<ProgramSpec>& out) {
  add_loads(out);
  add_loads_past_the_end(out);
  add_multicast(out);
  add_stores(out);
  add_reductions(out);
  add_remote(out);
  add_st_bulk(out);
}

}  // namespace drywell::kernels::conformance
