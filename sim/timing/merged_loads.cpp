#include "sim/timing/merged_loads.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/timing/block_motion.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;

constexpr uint32_t kWidest = 16;  // bytes

/// A load that may be merged with others of its piece.
struct Candidate {
  uint32_t at = 0, bytes = 0;
  int64_t offset = 0;
  uint32_t written = 0;  // version of its first register after the load
};

/// The loads of one block that nothing separates.
class Merger {
 public:
  explicit Merger(const isa::Function& f) : f_(f), registers_(registers_of(f)), places_(f, registers_), merged_(f.body.size()), versions_(f.regs.size()) {}

  std::vector<MergedLoad> run() {
    const std::vector<uint32_t> starts = block_starts(f_);
    for (size_t b = 0; b + 1 < starts.size(); ++b) {
      for (uint32_t i = starts[b]; i < starts[b + 1]; ++i) step(i);
      pieces_.clear();
    }
    return std::move(merged_);
  }

 private:
  // Base, its version, and the aligned piece of the widest access.
  using Key = std::tuple<Operand::Base, uint32_t, uint32_t, int64_t>;

  void step(uint32_t i) {
    const Instruction& instr = f_.body[i];
    const Motion motion = motion_of(f_, instr);
    if (motion == Motion::wall) pieces_.clear();
    if (motion == Motion::store) end_what_meets(places_.of(instr));
    const Place place = places_.of(instr);
    const bool load = motion == Motion::load && isa::spec(instr.op).memory == isa::MemoryRole::load && place.is_shared() &&
                      instr.guard == isa::kNoReg && place.bytes >= 4 && place.bytes <= kWidest;
    const uint32_t base_version = place.base == Operand::Base::reg ? versions_[place.index] : 0;
    for (const isa::RegId r : registers_[i].writes) ++versions_[r];
    if (load) add(i, place, base_version);
  }

  void end_what_meets(const Place& store) {
    std::erase_if(pieces_, [&](const auto& entry) {
      const auto& [base, index, version, piece] = entry.first;
      const bool same = base == store.base && index == store.index && (base != Operand::Base::reg || versions_[index] == version);
      const Place read{isa::Mod::shared, base, index, piece * kWidest, kWidest, std::nullopt, false};
      return Places::may_meet(read, store, same);
    });
  }

  void add(uint32_t i, const Place& place, uint32_t base_version) {
    const int64_t piece = place.offset >= 0 ? place.offset / kWidest : (place.offset - kWidest + 1) / kWidest;
    std::vector<Candidate>& loads = pieces_[{place.base, place.index, base_version, piece}];
    if (repeats(i, place, loads)) return;
    loads.push_back({i, place.bytes, place.offset, versions_[registers_[i].writes.front()]});
    Place base = place;
    base.offset = 0;
    const uint32_t aligned = places_.alignment(base);
    if (aligned < 2 * place.bytes) return;
    for (uint32_t bytes = std::min(aligned, kWidest); bytes >= 8; bytes /= 2) {
      if (merge(loads, place.offset - positive_remainder(place.offset, bytes), bytes)) return;
    }
  }

  // What the block has loaded already is not loaded again (gemm_dp4a of tests/corpus/timing/fields: 34 loads of 512).
  bool repeats(uint32_t i, const Place& place, const std::vector<Candidate>& loads) {
    const auto same = std::find_if(loads.begin(), loads.end(), [&](const Candidate& c) { return c.offset == place.offset && c.bytes == place.bytes && holds(c); });
    if (same == loads.end()) return false;
    merged_[i] = {same->at, static_cast<uint16_t>(place.bytes)};
    return true;
  }
  // The register that was loaded first still has the value.
  bool holds(const Candidate& c) const { return versions_[registers_[c.at].writes.front()] == c.written; }

  static int64_t positive_remainder(int64_t a, int64_t b) { return (a % b + b) % b; }

  // Merges the loads of `bytes` from `first` on if they are all there. A pair that is merged already may become part of a whole piece.
  bool merge(const std::vector<Candidate>& loads, int64_t first, uint32_t bytes) {
    std::vector<const Candidate*> parts;
    for (int64_t at = first; at < first + bytes;) {
      const auto part = std::find_if(loads.begin(), loads.end(), [&](const Candidate& c) { return c.offset == at && merged_[c.at].bytes < bytes; });
      if (part == loads.end()) return false;
      parts.push_back(&*part);
      at += part->bytes;
    }
    const auto leader = std::min_element(parts.begin(), parts.end(), [](const Candidate* a, const Candidate* b) { return a->at < b->at; });
    if (!holds(**leader)) return false;
    for (const Candidate* c : parts) merged_[c->at] = {(*leader)->at, static_cast<uint16_t>(bytes)};
    return true;
  }

  const isa::Function& f_;
  std::vector<Registers> registers_;
  Places places_;
  std::vector<MergedLoad> merged_;
  std::vector<uint32_t> versions_;
  std::map<Key, std::vector<Candidate>> pieces_;
};

}  // namespace

std::vector<MergedLoad> merged_shared_loads(const isa::Function& f) { return Merger(f).run(); }

}  // namespace drywell::sim
