// What a kernel does with tensor memory: allocations, and which instruction reads or writes which lanes and columns as what.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "drywell/isa/layout/picture.h"
#include "sim/engine/footprint.h"
#include "sim/events/hub.h"

namespace drywell::sim {

/// What a region holds for the instruction that touches it.
enum class TmemRole : uint8_t { accumulator, a, sfa, sfb, metadata, copied, loaded, stored, shifted };
std::string_view to_string(TmemRole r);

/// One role of one source line on one rectangle, all its executions together.
struct TmemRegion {
  TmemRole role = TmemRole::accumulator;
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  std::string instruction, source;  // "tcgen05.mma…", "kernels/gemm/mma.cpp:88"
  uint64_t count = 0;
  uint64_t first = 0, last = 0;     // of the first issue and the last end: cycles (timed driver) or instructions of the cluster
  uint64_t in_flight = 0;           // not ended when recording stopped
};

struct TmemAllocation {
  uint32_t column = 0, columns = 0;
  uint64_t from = 0, to = 0;  // to == 0: still there
};

/// Observes one CTA. With `until` nothing that happens later counts: the picture is that of cycle `until`.
class TmemRecord : public Listener {
 public:
  explicit TmemRecord(Dim3 cta = {0, 0, 0}, uint64_t until = ~uint64_t{0}) : cta_(cta), until_(until) {}

  /// In order of columns, lanes and roles; neighbouring lanes that one source line touches are one region.
  std::vector<TmemRegion> regions() const;
  const std::vector<TmemAllocation>& allocations() const { return allocations_; }
  /// tcgen05.mma operations in the order of their first issue, each form and address once.
  const std::vector<Umma>& mmas() const { return mmas_; }
  bool seen() const { return seen_; }
  bool whole_run() const { return until_ == ~uint64_t{0}; }

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;
  void cta_started(const Cta& cta) override;

 private:
  bool is_ours(const Cta& c) const { return c.index.x == cta_.x && c.index.y == cta_.y && c.index.z == cta_.z; }
  void note_allocations(const Cta& c);
  void add(const Cluster& c, const AsyncOp& op, TmemRole role, const Span& s);
  void add_mma(const Cluster& c, const AsyncOp& op, const Umma& u);

  /// Source line of a program counter, and its number among those seen.
  struct Place {
    std::string instruction, source;
    size_t number = 0;
  };
  const Place& place_of(const Launch& launch, uint32_t pc);

  using Key = std::tuple<TmemRole, uint32_t, uint32_t, uint32_t, uint32_t, size_t>;
  Dim3 cta_;
  uint64_t until_;
  bool seen_ = false;
  std::map<uint32_t, Place> places_;      // by program counter
  std::map<std::string, size_t> lines_;   // instruction and source line -> number
  std::map<Key, size_t> index_;
  std::vector<TmemRegion> regions_;
  std::vector<TmemAllocation> allocations_;
  std::vector<Umma> mmas_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> known_;
  std::multimap<uint64_t, size_t> open_;  // operation -> its regions
};

/// Lane groups down, columns across, both cut where a region begins or ends; each cell names the roles of its regions.
layout::Grid tmem_picture(const TmemRecord& r, const layout::PictureOptions& options = {});

}  // namespace drywell::sim
