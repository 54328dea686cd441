#include "sim/timing/umma_cost.h"

#include <algorithm>
#include <cmath>

#include "sim/engine/umma_form.h"

namespace drywell::sim {
namespace {

bool keeps_a(isa::Mod collector) {
  return collector == isa::Mod::collector_a_use || collector == isa::Mod::collector_a_lastuse;
}

struct Parts {
  double a_fetch, b_fetch, array;
};

Parts parts_of(const ArchConfig& arch, const UmmaShape& s) {
  const auto& u = arch.umma;
  const double k = row_bytes(s, u.k_bytes);
  const double rows_a = s.pair ? s.m / 2.0 : s.m, rows_b = s.pair ? s.n / 2.0 : s.n;
  Parts p{};
  const bool kept = s.a_in_collector && u.collector_saves_fetch;
  p.a_fetch = s.a_in_tmem || kept ? 0 : k * rows_a / u.fetch_bytes_per_clk;
  // Sparse: B has twice the K of the stored A.
  p.b_fetch = k * rows_b * (s.sparse ? 2 : 1) / u.fetch_bytes_per_clk;
  if (s.ws) {
    p.array = s.n * u.ws_m64_n256 / 256;
  } else if (s.pair && s.m == 128) {
    p.array = s.n * u.array_per_column_pair_m128;
  } else {
    p.array = s.n * u.array_per_column;
  }
  // Twice the K, in a time that follows from the data sheet's sparse peak.
  if (s.sparse) p.array *= 2 / u.sparse_speedup;
  return p;
}

}  // namespace

UmmaShape umma_shape(const Umma& u) {
  const isa::InstrDescriptor d = isa::InstrDescriptor::decode(mma_kind_of(u.kind), u.idesc);
  UmmaShape s;
  s.m = d.m;
  s.n = d.n;
  s.pair = u.cta_group == 2;
  s.a_in_tmem = u.a_in_tmem;
  s.ws = u.ws;
  s.sparse = u.sparse;
  s.scaled = u.scale_vec != 0;
  s.k96 = isa::is_packed_fp4(d.kind) && d.k96;
  s.a_in_collector = keeps_a(u.collector);
  return s;
}

UmmaCost umma_cost(const ArchConfig& arch, const UmmaShape& s) {
  const auto& u = arch.umma;
  const Parts p = parts_of(arch, s);
  const bool pair128 = s.pair && s.m == 128;
  UmmaCost c;
  c.fetch = p.a_fetch + p.b_fetch;
  // Weight-stationary: about 76 cycles are published for M64 N256 (docs/facts/timing.md §4.1), less than A and B in sequence.
  double fetch_time = s.ws ? std::max(p.a_fetch, p.b_fetch) : c.fetch;
  if (s.pair) fetch_time += pair128 ? u.fetch_pair_m128 : u.fetch_pair_m256;
  const double array = pair128 ? std::max(p.array, u.array_floor_pair_m128) : p.array;
  c.interval = std::max({fetch_time, array, u.interval_floor});
  c.pass = p.array + u.latency_drain;
  if (s.pair) c.pass += u.latency_pair;
  if (pair128) c.pass += u.latency_pair_m128;
  if (p.a_fetch != 0) {
    const double b_half = s.n * row_bytes(s, u.k_bytes) / 2 / u.fetch_bytes_per_clk;
    c.pass += pair128 ? std::min(p.a_fetch, b_half) + u.load_pair_m128 : p.a_fetch;
  }
  if (s.scaled) c.pass += s.pair || s.a_in_tmem ? u.latency_scaled_other : u.latency_scaled;
  return c;
}

double umma_latency(const ArchConfig& arch, const UmmaShape& s) {
  return arch.umma.latency_start + umma_cost(arch, s).pass + arch.umma.latency_commit + arch.mbarrier.wake;
}

double tmem_copy_interval(const ArchConfig& arch, const TmemCopy& c) {
  const auto& t = arch.tmem;
  switch (c.shape) {
    case isa::Mod::_32x128b: return t.cp_32x128b_interval;
    case isa::Mod::_64x128b: return t.cp_64x128b_interval;
    case isa::Mod::_128x128b: return t.cp_128x128b_interval;
    case isa::Mod::_4x256b: return std::max(4.0 * 32 / t.cp_bytes_per_clk, 1.0);
    default: return 128.0 * 32 / t.cp_bytes_per_clk;  // 128x256b
  }
}

double tmem_copy_issue(const ArchConfig& arch, const TmemCopy& c) {
  return c.shape == isa::Mod::_32x128b ? arch.tmem.cp_32x128b_lone
                                       : arch.cost(isa::TimingClass::tmem_cp).interval;
}

double tmem_port_service(const ArchConfig& arch, const TmemLdSt& t) {
  double per = 0;
  switch (t.shape) {
    case isa::Mod::_16x64b: per = arch.tmem.service_16x64b; break;
    case isa::Mod::_16x128b: per = arch.tmem.service_16x128b; break;
    case isa::Mod::_16x256b: per = arch.tmem.service_16x256b; break;
    case isa::Mod::_16x32bx2: per = arch.tmem.service_16x32bx2; break;
    default: per = arch.tmem.service_32x32b; break;
  }
  double columns = t.num;
  // 32x32b moves two columns a cycle, aligned: an odd first column costs one more (docs/facts/timing.md §5).
  if (per < 1) columns += t.taddr & 1;
  const double service = std::ceil(columns * per);
  return t.pack ? service * arch.tmem.pack_slowdown : service;
}

}  // namespace drywell::sim
