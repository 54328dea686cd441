#include "sim/timing/memory_system.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/timing/memory_port.h"
#include "sim/timing/scattered.h"

namespace drywell::sim {

MemorySystem::MemorySystem(const ArchConfig& arch, const Gmem& gmem, uint32_t sms, StateMemory* memory)
    : arch_(arch),
      sms_(sms),
      base_(window::kGlobalBase),
      distance_(arch, sms),
      lines_(memory),
      copies_(memory),
      units_(static_cast<size_t>(arch.l2.atomic_units)),
      recent_(static_cast<size_t>(arch.chip.gpcs)),
      channels_(arch.hbm.channels),
      hbm_latency_(arch.cycles_from_ns(arch.hbm.latency)),
      hbm_tail_(arch.cycles_from_ns(arch.hbm.tail)) {
  // The host's own memory, which it shares with the device, may lie above the device's.
  const uint64_t limit = base_ + gmem.capacity();
  uint64_t end = base_;
  for (const Gmem::Allocation* a : gmem.allocations())
    if (a->base < limit) end = std::max(end, a->base + a->size);
  lines_.resize((end - base_ + 127) / 128);
  copies_.resize(distance_.halves() > 1 ? lines_.size() : 0);
  const auto usable = static_cast<uint64_t>(static_cast<double>(arch.l2.bytes) * arch.l2.usable_share / 128);
  const uint64_t places = std::min<uint64_t>(lines_.size(), usable / distance_.halves()) + 1;
  halves_.reserve(distance_.halves());
  for (uint32_t h = 0; h < distance_.halves(); ++h) halves_.emplace_back(places, memory);
}

// Before the launch: no time passes, and lines that are displaced cost nothing.
void MemorySystem::insert(uint64_t address, uint64_t bytes, uint32_t written) {
  for (uint64_t at = address / 32 * 32; at < address + bytes; at += 32) {
    const uint64_t index = (at - base_) / 128;
    if (at < base_ || index >= lines_.size()) continue;
    uint32_t& line = at_home(static_cast<uint32_t>(index));
    const uint32_t sector = 1u << (at % 128 / 32);
    line |= sector | (written * sector) << 4;
  }
}

void MemorySystem::insert_copy(uint64_t address, uint32_t sectors) {
  const uint64_t index = (address - base_) / 128;
  if (address < base_ || index >= copies_.size() || sectors == 0) return;
  uint8_t& copy = (sectors & kPlaced) != 0 ? copy_of(static_cast<uint32_t>(index)) : copies_[index];
  copy |= static_cast<uint8_t>(sectors);
}

// Half of the places are for the copies of lines.
void MemorySystem::insert_newest(const Gmem& gmem) {
  uint64_t room = (halves_[0].size() - 1) * 128;
  const std::vector<const Gmem::Allocation*> all = gmem.allocations();
  for (auto a = all.rbegin(); a != all.rend() && room >= 128; ++a) {
    const uint64_t bytes = std::min((*a)->size, room);
    insert((*a)->base, bytes, 0);
    for (uint64_t at = (*a)->base / 128 * 128; at < (*a)->base + bytes; at += 128) insert_copy(at, kPlaced | 0xF);
    room -= std::min(room, (bytes + 127) / 128 * 128);
  }
}

void MemorySystem::start(Caches caches, const Gmem& gmem, const L2Contents* before) {
  if (caches == Caches::warm) insert_newest(gmem);
  if (caches == Caches::carry && before != nullptr) {
    for (const L2Contents::Line& l : before->lines()) {
      for (uint32_t s = 0; s < 4; ++s) {
        if ((l.sectors >> s & 1) != 0) insert(l.address + 32 * s, 32, l.sectors >> (4 + s) & 1);
      }
      insert_copy(l.address, l.copied);
    }
    for (const ByteRange& w : before->host_writes()) insert(w.address, w.bytes, 1);
  }
  displaced_.clear();
  foreign_dirty_ = 0;
}

void MemorySystem::leave(L2Contents& after) const {
  std::vector<L2Contents::Line> lines;
  for (uint32_t h = 0; h < halves_.size(); ++h) {
    for (const uint32_t index : halves_[h].lines()) {
      const uint64_t address = base_ + uint64_t{index} * 128;
      if (distance_.home_of(index) == h)
        lines.push_back({address, static_cast<uint8_t>(lines_[index] & 0xFF), without_place(index)});
      else
        lines.push_back({address, 0, copies_[index]});
    }
  }
  after.leave(std::move(lines));
}

double MemorySystem::hbm_cycles_per_byte(MemoryKind k) const {
  const double peak = arch_.hbm.peak * 1e3 / arch_.chip.clock;  // bytes per cycle
  const double share = k == MemoryKind::tma_load ? arch_.hbm.tma_efficiency : k == MemoryKind::store ? arch_.hbm.write_efficiency
                                                                                                     : arch_.hbm.load_efficiency;
  return 1 / (peak * share);
}

// Each piece queues at its own channel: bursts wait for the channel with the longest queue. Reads and writes that share the bus slow
// each other, most when both are equally many: a copy then reaches copy_efficiency. Returns when the last piece has arrived.
double MemorySystem::transfer(MemoryKind k, const std::vector<Piece>& pieces, double from) {
  const double pure = 2 / (1 / arch_.hbm.load_efficiency + 1 / arch_.hbm.write_efficiency);
  const double slowdown = 1 + std::max(0.0, pure / arch_.hbm.copy_efficiency - 1) * mixed();
  const double cycles = hbm_cycles_per_byte(k) * slowdown;
  uint64_t bytes = 0;
  double there = 0;
  for (const Piece& p : pieces) {
    const uint64_t hash = scattered(p.index);
    const double time = static_cast<double>(p.bytes) * cycles * static_cast<double>(channels_.size());
    there = std::max(there, channels_[hash % channels_.size()].begin(from, time) + time + latency_of(hash));
    bytes += p.bytes;
  }
  hbm_.begin(from, static_cast<double>(bytes) * cycles);
  constexpr double kRecent = 1 << 20;  // bytes
  const double weight = std::min(1.0, static_cast<double>(bytes) / kRecent);
  write_share_ += weight * ((k == MemoryKind::store ? 1.0 : 0.0) - write_share_);
  return there;
}

// A fixed part and one that varies from piece to piece, exponentially: an access waits for its slowest piece. The varying part is
// computed from a hash of the piece, so that a launch's time is reproducible.
double MemorySystem::latency_of(uint64_t hash) const {
  const double uniform = (static_cast<double>(hash >> 32) + 0.5) / 4294967296.0;
  return hbm_latency_ - hbm_tail_ - hbm_tail_ * (1 + (arch_.hbm.tail_mixed - 1) * mixed()) * std::log(uniform);
}

// 512 bytes share a unit, so that few words use few units; the 32 pieces of 16 KiB are in 32 units (l2-atomics of
// traces/hw/h200-2026-11-23-mechanisms.csv: 64 KiB use some 47, 256 KiB some 64).
size_t MemorySystem::unit_of(uint64_t address) const {
  constexpr uint64_t kPiece = 512, kTogether = 32;
  const uint64_t piece = address / kPiece;
  return (scattered(piece / kTogether) + piece % kTogether * units_.size() / kTogether) % units_.size();
}

// Parts of sectors are read, changed and written by the unit that the line belongs to, which needs a sector's time for the line beside: an SM's
// store of 32 sectors takes 80, 95 and 122 cycles in 8, 16 and 32 lines (one-* of stores.toml, traces/hw/h200-2026-11-27-arithmetic.csv).
// `before`: an address of the run before. Returns when the run is done.
double MemorySystem::parts_at_units(const ByteRange& r, uint64_t before, double from) {
  constexpr double kLine = 0.95;
  const double parts = static_cast<double>(r.turns) / (r.bytes / 32.0);
  double done = from;
  for (uint64_t at = r.address; at < r.address + r.bytes;) {
    const uint64_t end = std::min((at / 128 + 1) * 128, r.address + r.bytes);
    const double line = at / 128 == before / 128 ? 0 : kLine;
    const double time = parts * (static_cast<double>(end - at) / 32 + line) * arch_.l2.partial_store_cycles;
    done = std::max(done, units_[unit_of(at)].queue.begin(from, time) + time);
    at = end;
  }
  units_end_ = std::max(units_end_, done);
  return done;
}

// Old values that go back take half a cycle more for each sector: atom.add, .cas and .exch at hashed words take 1.17 to 1.33 times as long as
// red.add (hashed-4096-words, hashed-1M-words of traces/hw/h200-2026-11-22-scalar-launch-atomics.csv).
constexpr double kAnswer = 0.5;

// Atomic operations are executed by the unit that the address belongs to, one sector after another; lanes at one word take turns. An
// addition of floats waits for the one before it at the same word. Returns when the run is done.
double MemorySystem::at_units(const MemoryRequest& q, const ByteRange& r, double from) {
  Unit& unit = units_[unit_of(r.address)];
  const bool again = unit.last == r.address;
  unit.last = r.address;
  const double floats = r.turns > 1 || again ? r.turns * arch_.l2.atomic_float_cycles : 0;
  const double answer = q.token == MemoryPort::kNoToken ? 0 : kAnswer;
  const double time = std::max(r.turns * arch_.l2.atomic_cycles, q.kind == MemoryKind::float_atomic ? floats : 0) + answer;
  const double done = unit.queue.begin(from, time) + time;
  units_end_ = std::max(units_end_, done);
  return done;
}

// A load of one sector of a line uses the line's unit, too: loads and atomic operations at hashed words take the sum of both times (load_add and
// add_used of swaps.toml, traces/hw/h200-2026-11-28-apart.csv). Loads alone are as fast as l2.requests_per_clk says.
double MemorySystem::lone_sector(const ByteRange& r, double from) {
  constexpr double kLoad = 0.8;
  return units_[unit_of(r.address)].queue.begin(from, kLoad) + kLoad;
}

void MemorySystem::add_piece(std::vector<Piece>& to, uint64_t line, uint32_t sectors) const {
  const uint64_t index = (base_ + line * 128) / arch_.hbm.interleave;
  if (to.empty() || to.back().index != index) to.push_back({index, 0});
  to.back().bytes += 32u * static_cast<uint32_t>(std::popcount(sectors));
}

double MemorySystem::l2_cycles_per_byte(MemoryKind k) const {
  const double per_sm = k == MemoryKind::tma_load ? arch_.l2.tma_bytes_per_clk : k == MemoryKind::store ? arch_.l2.store_bytes_per_clk
                                                                                                        : arch_.l2.load_bytes_per_clk;
  return 1 / (per_sm * static_cast<double>(sms_));
}

// Stores run ahead of the L2 by the capacity of the queues before it, and of device memory by half of the L2.
Time MemorySystem::stores_wait_until() const {
  constexpr double kQueued = 4;  // times the L2's latency
  const double dirty = static_cast<double>(arch_.l2.bytes) / 2 * hbm_cycles_per_byte(MemoryKind::store);
  const double behind = std::max(std::max(l2_writes_.free_at(), l2_both_.free_at()) - kQueued * static_cast<double>(arch_.l2.latency), hbm_.free_at() - dirty);
  return behind > 0 ? static_cast<Time>(behind) : 0;
}

// Makes room for a line in a half of the L2: a line of this launch leaves, or one that was in the L2 before the launch.
void MemorySystem::make_room(uint32_t half, uint32_t index) {
  if (const std::optional<uint32_t> leaves = halves_[half].take(index); leaves.has_value()) {
    if (distance_.home_of(*leaves) != half) {
      copies_[*leaves] = 0;
      return;
    }
    if (const uint32_t written = (lines_[*leaves] >> 4) & 0xFu; written != 0) add_piece(displaced_, *leaves, written);
    lines_[*leaves] = 0;
    if (without_place(*leaves) != 0) copies_[*leaves] = 0;
    return;
  }
  foreign_dirty_ += 128 * arch_.l2.displaced_dirty;
  if (foreign_dirty_ >= 128) {
    foreign_dirty_ -= 128;
    displaced_.push_back({~foreign_lines_++, 128});  // its address is unknown
  }
}

// The entry of a line where it is at home; it has a place from now on.
uint32_t& MemorySystem::at_home(uint32_t index) {
  if (lines_[index] == 0) make_room(distance_.home_of(index), index);
  return lines_[index];
}

// The sectors of a copy that has no place.
uint8_t MemorySystem::without_place(uint32_t index) const { return copies_.empty() || (copies_[index] & kPlaced) != 0 ? 0 : copies_[index]; }

// The entry of its copy, which has a place from now on.
uint8_t& MemorySystem::copy_of(uint32_t index) {
  if ((copies_[index] & kPlaced) == 0) make_room(1 - distance_.home_of(index), index);
  copies_[index] |= kPlaced;
  return copies_[index];
}

// Returns the cycles that the line is farther than the mean. A load from the other half leaves a copy in the SM's own, and so does a store: what
// an SM has written is near for its half (scan_in_place of strips.toml, traces/hw/h200-2026-11-28-tables.csv), and for the other half only if
// the line is at home there (scan_others). A store from the line's home and an atomic operation end the copy. A store is answered where it
// leaves the SM's half: a launch of 132 CTAs that store a word takes 0.24 us more than an empty one, of which the first parameter takes 0.1 (launch,ctas-132 of traces/hw/h200-2026-11-26-launches.csv).
double MemorySystem::reach(uint32_t index, uint32_t want, MemoryKind kind, uint32_t half) {
  if (copies_.empty()) return 0;
  const bool home = distance_.home_of(index) == half;
  if (kind == MemoryKind::tma_load) return home ? 0 : through_copy(index, want);
  const double line = distance_.of_line(index, half);
  if (kind == MemoryKind::load) return line + (home ? 0 : through_copy(index, want));
  if (kind == MemoryKind::store) {
    if (home)
      copies_[index] &= ~want;
    else
      copy_of(index) |= static_cast<uint8_t>(want | kStored);
    return 0;
  }
  copies_[index] &= ~want;
  return line + (home ? -0.5 : 0.5) * distance_.across();  // the mean latency of atomics is over lines of both halves
}

// A store to sectors of which a load has left a copy ends that copy, too: to change a table in place takes longer than to copy it (inplace4-*
// of traces/hw/h200-2026-11-27-launch-mechanisms.csv). Returns the bytes whose time it takes more.
double MemorySystem::ends_copy(uint32_t index, uint32_t want) const {
  constexpr double kMore = 0.5;
  return copies_.empty() || (copies_[index] & kStored) != 0 ? 0 : kMore * 32 * std::popcount(copies_[index] & want);
}

// A load of a line at home in the other half. What is in neither half comes from device memory without a detour. Of five copies
// four have a place of their own: of a table that is read once after another, 40 MiB stay in the L2 (read4-* of
// traces/hw/h200-2026-11-27-launch-mechanisms.csv).
double MemorySystem::through_copy(uint32_t index, uint32_t want) {
  constexpr double kWithPlace = 0.8;
  uint8_t& copy = scattered_share(index) < kWithPlace ? copy_of(index) : copies_[index];
  const bool copied = (want & ~copy) == 0, there = (want & ~lines_[index]) == 0;
  copy = static_cast<uint8_t>((copy | want) & ~kStored);
  return copied || !there ? 0 : distance_.across();
}

// Returns the bytes whose time some sectors of a line take in a load, beside those of the line that the request has already: one sector of
// a line takes the time of more (l2.read.pitch-* of docs/lab/calibration.md).
double MemorySystem::bill_sectors(uint64_t line, uint32_t sectors, Lookup& out) const {
  const double least = arch_.l2.load_bytes_per_clk / arch_.l2.requests_per_clk;
  const uint32_t before = out.line == line ? out.sectors : 0;
  out.line = line;
  out.sectors = before + sectors;
  return std::max(least, 32.0 * out.sectors) - (before == 0 ? 0 : std::max(least, 32.0 * before));
}

void MemorySystem::look_up(const ByteRange& r, MemoryKind kind, const Asker& who, Time now, Lookup& out) {
  const bool store = kind == MemoryKind::store;
  out.bytes += r.bytes;
  const uint64_t end = r.address + r.bytes;
  for (uint64_t at = r.address; at < end;) {
    const uint64_t line_end = std::min(end, (at / 128 + 1) * 128);
    const uint64_t index = (at - base_) / 128;
    const auto first = static_cast<uint32_t>(at % 128 / 32),
               last = static_cast<uint32_t>((line_end - 1) % 128 / 32);
    const uint32_t want = ((2u << last) - 1) & ~((1u << first) - 1);
    const uint64_t line_bytes = line_end - at;
    at = line_end;
    if (index >= lines_.size()) continue;
    if (store) out.billed += ends_copy(static_cast<uint32_t>(index), want);
    const double far = reach(static_cast<uint32_t>(index), want, kind, who.half);
    out.distance = std::max(out.distance.value_or(far), far);
    uint32_t& line = at_home(static_cast<uint32_t>(index));
    const uint32_t absent = want & ~line;
    const auto sectors = static_cast<uint32_t>(std::popcount(want));
    const double bytes = kind == MemoryKind::load ? bill_sectors(index, sectors, out) : static_cast<double>(line_bytes);
    out.billed += bytes;
    if (store) {
      line |= want | (want << 4);
      continue;
    }
    if (absent == 0) {
      out.arriving = std::max<Time>(out.arriving, cycle_of(line));
      out.shared += bytes * std::popcount(recent_.join(who.gpc, static_cast<uint32_t>(index), want, now, now + in_flight_)) / sectors;
      continue;
    }
    recent_.join(who.gpc, static_cast<uint32_t>(index), want, now, now + in_flight_ + static_cast<Time>(hbm_latency_));
    add_piece(missing_, index, absent);
    line |= want;
  }
}

// Lines from device memory enter the L2 as stores do: copies from a cold L2 take the time of both (streams of
// traces/hw/h200-2026-11-23-mechanisms.csv). Returns when the last one is there.
double MemorySystem::fill(uint64_t bytes, double from) {
  constexpr double kOfAStore = 0.85;  // so that kernel.quantize-fp8.full of the microbenchmarks and the copies of `streams` agree
  const double time = kOfAStore * static_cast<double>(bytes) * l2_cycles_per_byte(MemoryKind::store);
  return l2_writes_.begin(l2_both_.begin(from, arch_.l2.duplex_share * time), time) + time;
}

// Entries hold half a second at 2 GHz: before they overflow, they are counted from a later cycle. Older entries count as of that cycle,
// which is long past either way.
void MemorySystem::move_epoch(Time now) {
  if (now / kArrivalUnit - epoch_ <= kLastStamp / 2) return;
  const auto later = static_cast<uint32_t>(std::min<Time>(now / kArrivalUnit - epoch_ - kLastStamp / 4, kLastStamp));
  for (uint32_t& line : lines_) {
    const uint32_t stamp = line >> kArrivalShift;
    line = (line & 0xFF) | (stamp > later ? stamp - later : 0) << kArrivalShift;
  }
  epoch_ = now / kArrivalUnit - kLastStamp / 4;
}

// Requests meet at the slices of the L2, the more the busier it is: at 0.16, 0.31 and 0.6 of its rate loads take 3, 7 and 25 cycles more in the
// mean (lat4_1 of traces/hw/h200-2026-11-27-launch-mechanisms.csv). A full L2 has its own queue.
double MemorySystem::slice_wait(double start, double time) {
  constexpr double kRecent = 300, kFull = 0.75;  // cycles; share of the rate
  read_share_ = read_share_ * std::exp(std::min(0.0, (read_share_at_ - start) / kRecent)) + time / kRecent;
  read_share_at_ = std::max(read_share_at_, start);
  const double share = std::min(kFull, read_share_);
  return arch_.l2.slice_wait * share / (1 - share) * scattered_share(++reads_);
}

// The sectors of a load come back one after another (lat1_one, lat1_1 and lat4_1 of traces/hw/h200-2026-11-27-launch-mechanisms.csv). Returns the
// cycles until the last of so many bytes is there.
double MemorySystem::answer(uint64_t bytes) {
  constexpr double kSector = 32, kEach = 0.5;
  return kEach * (static_cast<double>(bytes) / kSector - 1);
}

// The rows of a box are far apart, and so are their lines' entries.
void MemorySystem::prefetch(const MemoryRequest& r, const ByteRange* runs) const {
  for (uint32_t i = 0; i < r.count; ++i) {
    const uint64_t line = (runs[r.first + i].address - base_) / 128;
    if (line < lines_.size()) __builtin_prefetch(&lines_[line], 1);
  }
}

double MemorySystem::soonest() const {
  const double atomic = arch_.cost(isa::TimingClass::atom_global).latency - distance_.across() / 2;
  return std::min({static_cast<double>(arch_.l2.latency), static_cast<double>(arch_.tma.l2_latency), atomic}) + distance_.nearest();
}

constexpr uint32_t kScattered = 8;  // runs of a load whose lanes are far apart

void MemorySystem::serve(MemoryRequest& r, const ByteRange* runs, uint32_t gpc, uint32_t sm) {
  const bool store = r.kind == MemoryKind::store;
  Lookup found;
  missing_.clear();
  displaced_.clear();
  const auto now = static_cast<Time>(r.time);
  move_epoch(now);
  in_flight_ = static_cast<Time>(static_cast<double>(arch_.l2.latency) + std::max(0.0, l2_reads_.free_at() - r.time));
  for (uint32_t i = 0; i < r.count; ++i) look_up(runs[r.first + i], r.kind, {gpc, distance_.half_of_sm(sm)}, now, found);
  l2_bytes_ += found.bytes;
  found.billed += static_cast<double>(r.more);
  const double together = 1 / (arch_.l2.shared_bytes_per_clk * static_cast<double>(sms_));
  const double l2_time = (found.billed - found.shared) * l2_cycles_per_byte(r.kind) + found.shared * together;
  // Requests and data go to the L2 on one path, answers return on another (l2.copy of docs/lab/calibration.md).
  const double start = (store ? l2_writes_ : l2_reads_).begin(l2_both_.begin(r.time, arch_.l2.duplex_share * l2_time), l2_time);
  const bool atomic = r.kind == MemoryKind::atomic || r.kind == MemoryKind::float_atomic;
  const double far = found.distance.has_value() ? distance_.of_sm(sm) + *found.distance : 0;
  const double mean = atomic
                          ? arch_.cost(isa::TimingClass::atom_global).latency
                      : r.kind == MemoryKind::tma_load ? static_cast<double>(arch_.tma.l2_latency)
                                                       : static_cast<double>(arch_.l2.latency);
  const double latency = mean + far;
  double done = start + l2_time + latency + (r.kind == MemoryKind::load ? slice_wait(start, l2_time) + answer(found.bytes) : 0);
  for (uint32_t i = 0; i < r.count; ++i) {
    const ByteRange& x = runs[r.first + i];
    if (r.kind == MemoryKind::load && x.bytes <= 32 && r.count >= kScattered) done = std::max(done, latency + lone_sector(x, start));
    if (x.turns == 0) continue;
    done = std::max(done, latency + (store ? parts_at_units(x, i == 0 ? ~uint64_t{0} : runs[r.first + i - 1].address, start) : at_units(r, x, start)));
  }
  if (!displaced_.empty()) {
    transfer(MemoryKind::store, displaced_, start);
    for (const Piece& p : displaced_) hbm_written_ += p.bytes;
  }
  if (!missing_.empty()) {
    uint64_t absent = 0;
    for (const Piece& p : missing_) absent += p.bytes;
    hbm_read_ += absent;
    done = std::max({done, transfer(r.kind, missing_, start), fill(absent, start) + latency});
    const uint32_t arrival = stamp(static_cast<Time>(done));
    for (uint32_t i = 0; i < r.count; ++i) {
      const ByteRange& x = runs[r.first + i];
      for (uint64_t at = x.address / 128 * 128; at < x.address + x.bytes; at += 128) {
        const uint64_t index = (at - base_) / 128;
        if (index < lines_.size() && lines_[index] != 0) lines_[index] = (lines_[index] & 0xFF) | arrival;  // if 0, it has left again
      }
    }
  }
  if (store)
    stores_end_ = std::max(stores_end_, done);
  else
    done = std::max(done, static_cast<double>(found.arriving));
  r.done = ceil_time(done);
}

}  // namespace drywell::sim
