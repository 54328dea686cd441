#include "sim/timing/memory_instructions.h"

#include <algorithm>
#include <bit>

namespace drywell::sim {
namespace {

uint64_t first_address(const LaneAddresses& a) { return a.at[static_cast<size_t>(std::countr_zero(a.mask))]; }

// The state space of a generic address.
Space space_of(const OpInfo& x, const LaneAddresses& a) {
  if (x.space != Space::generic) return x.space;
  switch (first_address(a) >> 32) {
    case window::kSharedHigh: return Space::shared_cluster;
    case window::kLocalHigh: return Space::local;
    case window::kParamHigh: return Space::param;
    default: return Space::global;
  }
}

LaneAddresses lowest_lane(const LaneAddresses& a) {
  LaneAddresses one = a;
  one.mask &= ~one.mask + 1;
  return one;
}

// In multiples of 128 bytes.
double data_of(const LaneAddresses& a) { return std::max(1.0, static_cast<double>(std::popcount(a.mask)) * a.bytes / 128); }

}  // namespace

void MemoryInstructions::execute(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, Time t) {
  if (x.constant) return set(w, x, ceil_time(sm_of(w).constants.read(a, static_cast<double>(t))));
  switch (space_of(x, a)) {
    case Space::shared_cluster:
      if (shared_rank(static_cast<uint32_t>(first_address(a))) != w.warp->cta->rank) remote(w, x, a, t);
      else shared(w, x, a, t);
      break;
    case Space::shared_cta: shared(w, x, a, t); break;
    case Space::local:
    case Space::param: set(w, x, ceil_time(pipes_.begin_lsu(sm_of(w), *w.unit, t, data_of(a))) + x.latency); break;
    default: x.one_lane ? global(w, id, x, lowest_lane(a), t) : global(w, id, x, a, t); break;
  }
}

// An access whose guard holds for no lane passes through the load/store unit all the same (tree and full of
// traces/hw/h200-2026-11-23-mechanisms.csv take the same time).
void MemoryInstructions::without_lanes(WarpIssueState& w, const OpInfo& x, Time t) {
  set(w, x, ceil_time(pipes_.begin_lsu(sm_of(w), *w.unit, t, 1)) + arch_.cost(isa::TimingClass::ld_shared).latency);
}

void MemoryInstructions::remote(WarpIssueState& w, const OpInfo& x, const LaneAddresses& a, Time t) {
  const double rate = x.store ? arch_.dsmem.store_bytes_per_clk : arch_.dsmem.load_bytes_per_clk, data = data_of(a);
  const double start = sm_of(w).dsmem.begin(pipes_.begin_lsu(sm_of(w), *w.unit, t, data), 128 * data / rate);
  set(w, x, ceil_time(start + arch_.cost(isa::TimingClass::dsmem).latency));
}

double MemoryInstructions::shared_latency(const OpInfo& x) const {
  if (x.piece != 0 || x.matrices != 0) return x.latency;
  if (x.atomic) return arch_.cost(isa::TimingClass::atom_shared).latency;
  return x.space == Space::shared_cluster ? static_cast<double>(arch_.dsmem.self_latency) : arch_.cost(isa::TimingClass::ld_shared).latency;
}

// Wavefronts of an atomic operation on shared memory (traces/hw/h200-2026-11-22-scalar-launch-atomics.csv, atomics,shared): lanes at one
// bank follow one another, compare-and-swap takes two each, and an addition of floats is a loop of loads and swaps, which lanes at one word
// go through together until each has had its turn.
double MemoryInstructions::atomic_wavefronts(const OpInfo& x, const LaneAddresses& a) {
  const SmemContention c = smem_contention(a);
  constexpr double kFloatLoop = 23, kFloatTurn = 46, kFloatBank = 19;
  if (x.real) return kFloatLoop + kFloatTurn * (c.word - 1) + kFloatBank * (c.bank - c.word);
  // Lanes that count at one word are added at once (counting-atomics of traces/hw/h200-2026-11-23-mechanisms.csv).
  if (x.counts) return smem_wavefronts(a);
  return x.swaps ? 2.0 * c.bank : c.bank;
}

// ptxas makes several loads or stores of one of wmma, each of a piece of eight lines, which take at least `least` passes (frag.toml of
// tests/corpus/timing/mechanisms: lines at a multiple of 128 bytes take eight times as long as others).
double MemoryInstructions::fragment_passes(const OpInfo& x, const LaneAddresses& a, double least) const {
  constexpr uint32_t kLines = 8;
  LaneAddresses eight = a;
  eight.mask &= (1u << kLines) - 1;
  eight.bytes = x.piece;
  const auto lines = static_cast<uint32_t>(std::popcount(a.mask));
  const uint32_t accesses = (lines + kLines - 1) / kLines * std::max(1u, a.bytes / x.piece);
  return accesses * std::max(least, static_cast<double>(smem_wavefronts(eight)));
}

// Eight lanes address the rows of a matrix, which pass together unless they meet in a bank.
double MemoryInstructions::matrix_passes(const OpInfo& x, const LaneAddresses& a) {
  LaneAddresses rows = a;
  double passes = 0;
  for (uint32_t m = 0; m < x.matrices; ++m) {
    rows.mask = a.mask & 0xFFu << 8 * m;
    passes += std::max(1u, smem_wavefronts(rows));
  }
  return passes;
}

double MemoryInstructions::passes_of(const OpInfo& x, const LaneAddresses& a) const {
  if (x.atomic) return atomic_wavefronts(x, a) * static_cast<double>(x.interval);
  if (x.matrices != 0) return matrix_passes(x, a);
  return x.piece != 0 ? fragment_passes(x, a, 1) : smem_wavefronts(a);
}

// Stores use the write side: continuous tensor reads cost them a little, loads wait for the read side.
void MemoryInstructions::shared(WarpIssueState& w, const OpInfo& x, const LaneAddresses& a, Time t) {
  SmUnits& sm = sm_of(w);
  const double passes = passes_of(x, a);
  double start;
  if (x.store) {
    const bool slowed = sm.smem.tensor_active(static_cast<double>(t));
    start = pipes_.begin_store(sm, *w.unit, t, slowed ? passes / arch_.smem.store_rate_under_mma : passes, context_.arch->smem.lone_store_interval);
  } else {
    start = pipes_.begin_smem(sm, *w.unit, t, passes);
  }
  set(w, x, ceil_time(start + shared_latency(x) + (passes - 1) * arch_.smem.conflict_cycles));
}

// The L1's data lie in banks as shared memory's do: lines apart by a multiple of 128 bytes are read one by one (ldg.lines-* of
// docs/lab/calibration.md). Lines of scattered lanes take some 0.42 cycles each (scattered1-16KiB of
// traces/hw/h200-2026-11-27-arithmetic.csv). Wide accesses move l1.bytes_per_clk at most; lanes that conflict move less than that in each
// of their wavefronts, which therefore take no longer (docs/facts/timing.md §7).
double MemoryInstructions::wavefronts(const OpInfo& x, const LaneAddresses& a, uint32_t lines) const {
  constexpr double kEachLine = 0.42;
  if (x.piece != 0) return fragment_passes(x, a, std::min(8u, lines) * kEachLine) * (x.store ? arch_.l1.store_slowdown : 1);
  const double data = a.bytes > 4 ? static_cast<double>(std::popcount(a.mask)) * a.bytes / arch_.l1.bytes_per_clk : 1;
  return std::max({static_cast<double>(smem_wavefronts(a)), data, lines * kEachLine}) * (x.store ? arch_.l1.store_slowdown : 1);
}

uint32_t MemoryInstructions::sectors_from(uint32_t first_run) const {
  uint32_t sectors = 0;
  const auto& runs = memory_.runs();
  for (size_t i = first_run; i < runs.size(); ++i) sectors += runs[i].bytes / 32;
  return sectors;
}

// A store to 8 sectors or more leaves the SM sector by sector (stores,ctas-1 of traces/hw/h200-2026-11-26-launches.csv; a store to one line
// takes half, stg.lines-1 of drywell bench-hw), and to more than 16 with a cycle for each line (access,st.* of
// traces/hw/h200-2026-11-22-scalar-launch-atomics.csv). An atomic operation of more than 16 goes sector by sector, too.
double MemoryInstructions::leaving(const OpInfo& x, uint32_t first_run, uint32_t lines) const {
  if (!x.store && !x.atomic) return 0;
  constexpr uint32_t kStored = 8, kTogether = 16;
  const uint32_t sectors = sectors_from(first_run);
  if (x.piece != 0) return x.store ? sectors : 0;
  if (sectors > kTogether) return x.store ? sectors + lines : sectors;
  return x.store && sectors >= kStored ? sectors : 0;
}

// Whole sectors that an SM stores are in its L1 from then on: a thread that reads back what it wrote does not wait for the L2 (thomas-* of
// tests/corpus/timing/fresh: two thirds of its loads come from the L2, and 127 rows take 27 us).
void MemoryInstructions::keep_stored(SmUnits& sm, uint32_t first_run) {
  const auto& runs = memory_.runs();
  for (size_t i = first_run; i < runs.size(); ++i) {
    if (runs[i].turns == 0) sm.l1.fill(runs[i].address, runs[i].bytes);
  }
}

// The load's registers are ready when memory answers the request that it waits for.
WaitingLoad MemoryInstructions::begin_load(WarpIssueState& w, uint32_t id, const OpInfo& x) const {
  const WaitingLoad load{id, w.resident, w.warp->cta->serial, w.registers.begin_load()};
  for (const uint32_t s : context_.program->operands(x).writes) w.registers.set_load(s, load.load);
  return load;
}

// Returns the request's token; kNoToken if the access writes no register.
uint32_t MemoryInstructions::await(WarpIssueState& w, uint32_t id, const OpInfo& x, uint32_t first_run) {
  if (x.writes == 0) return MemoryPort::kNoToken;
  OutstandingRequest p;
  p.first = begin_load(w, id, x);
  p.sm = w.sm;
  p.resident = w.resident;
  p.fill_l1 = x.cached;
  const std::span<const ByteRange> runs = x.cached ? std::span<const ByteRange>(memory_.runs()).subspan(first_run) : std::span<const ByteRange>{};
  const uint32_t token = memory_.await(p, runs);
  for (const ByteRange& r : runs) sm_of(w).l1.expect(r.address, r.bytes, token);
  return token;
}

// Returns true if the L1 has the data, or will have them: nothing is requested. Otherwise only what is absent stays in the list of runs.
bool MemoryInstructions::served_by_l1(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, double start, uint32_t first) {
  auto& runs = memory_.runs();
  L1Cache::Found found;
  missing_.clear();
  double distinct = 0;  // lanes that read the same bytes share them
  for (size_t i = first; i < runs.size(); ++i) {
    distinct += runs[i].bytes;
    sm_of(w).l1.look_up(runs[i].address, runs[i].bytes, missing_, found);
  }
  runs.resize(first);
  runs.insert(runs.end(), missing_.begin(), missing_.end());
  if (found.absent != 0) return false;
  if (found.awaited.has_value()) memory_.join(*found.awaited, begin_load(w, id, x));
  else set(w, x, ceil_time(start + arch_.cost(isa::TimingClass::ld_global).latency + std::max(1.0, std::min(data_of(a), distinct / 128)) - 1));
  return true;
}

// An SM's first access of a launch takes longer, and those behind it wait: lanes' first loads from a warm L2 take some 90 cycles more than
// later ones (traces/hw/h200-2026-11-27-launch.txt).
double MemoryInstructions::leaves(SmUnits& sm, double start) const {
  if (sm.memory_open < 0) sm.memory_open = start + arch_.launch.first_access;
  return std::max(start, sm.memory_open);
}

void MemoryInstructions::global(WarpIssueState& w, uint32_t id, const OpInfo& x, const LaneAddresses& a, Time t) {
  SmUnits& sm = sm_of(w);
  auto& runs = memory_.runs();
  const uint32_t first = memory_.first_new_run();
  const uint32_t lines = x.atomic ? gmem_atomic_sectors(a, runs) : x.store ? gmem_stored_sectors(a, runs)
                                                                           : gmem_sectors(a, runs);
  if (x.store && x.cached) keep_stored(sm, first);
  if (x.store) sm.stores.join(runs, first, id);
  constexpr double kJoined = 0.75;  // late_16-132x256x16 of late.toml
  const bool joined = x.store && runs.size() == first;
  const double passes = joined ? kJoined * wavefronts(x, a, lines) : std::max(wavefronts(x, a, lines), leaving(x, first, lines));
  const bool is_load = !x.store && !x.atomic && x.piece == 0;
  const double start = is_load ? pipes_.begin_load(sm, *w.unit, t, passes) : pipes_.begin_lsu(sm, *w.unit, t, passes);
  if (joined) return;
  if (x.cached && x.writes != 0 && served_by_l1(w, id, x, a, start, first)) return;
  const MemoryKind kind = x.store ? MemoryKind::store : !x.atomic ? MemoryKind::load
                                                    : x.real      ? MemoryKind::float_atomic
                                                                  : MemoryKind::atomic;
  memory_.send(kind, leaves(sm, start), first, await(w, id, x, first));
}

}  // namespace drywell::sim
