#include "drywell/sim/inspect/tmem_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "drywell/isa/inspect/tmem_blocks.h"
#include "sim/engine/umma_form.h"
#include "sim/events/hub.h"
#include "sim/inspect/tmem_spans.h"

namespace drywell::sim {
namespace {

isa::TmemPlace at(uint32_t address, unsigned byte) { return {int64_t{TmemAddr(address).lane()}, int64_t{TmemAddr(address).column()}, 8 * byte}; }

TmemMma mma_of(const Umma& u, const UmmaForm& f) {
  const isa::TmemUseForm form{isa::TmemOperand::d, f.form, f.m, f.n, f.idesc.a_element()};
  return {form, {at(u.d, 0), at(static_cast<uint32_t>(u.a), 0), at(u.sfa & isa::kScaleAddressMask, f.idesc.sfa_id), at(u.sfb & isa::kScaleAddressMask, f.idesc.sfb_id)}};
}

bool overlaps(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_end) { return a < b_end && b < a + a_count; }

}  // namespace

std::string_view to_string(TmemRole r) {
  static constexpr std::string_view kNames[] = {"D", "A", "SFA", "SFB", "metadata", "cp", "ld", "st", "shift"};
  return kNames[static_cast<size_t>(r)];
}

class TmemRecord::Impl : public Listener {
 public:
  Impl(Dim3 cta, uint64_t until) : cta_(cta), until_(until) {}

  std::vector<TmemRegion> regions() const;
  const std::vector<TmemAllocation>& allocations() const { return allocations_; }
  const std::vector<TmemMma>& mmas() const { return mmas_; }
  bool seen() const { return seen_; }
  bool whole_run() const { return until_ == ~uint64_t{0}; }

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;
  void cta_started(const Cta& cta) override;

 private:
  bool is_ours(const Cta& c) const { return c.index == cta_; }
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
  std::map<uint32_t, Place> places_;     // by program counter
  std::map<std::string, size_t> lines_;  // instruction and source line -> number
  std::map<Key, size_t> index_;
  std::vector<TmemRegion> regions_;
  std::vector<TmemAllocation> allocations_;
  std::vector<TmemMma> mmas_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> known_;
  std::multimap<uint64_t, size_t> open_;  // operation -> its regions
};

TmemRecord::TmemRecord(Dim3 cta, uint64_t until) : impl_(std::make_unique<Impl>(cta, until)) {}
TmemRecord::~TmemRecord() = default;
Listener* TmemRecord::listener() { return impl_.get(); }
std::vector<TmemRegion> TmemRecord::regions() const { return impl_->regions(); }
const std::vector<TmemAllocation>& TmemRecord::allocations() const { return impl_->allocations(); }
const std::vector<TmemMma>& TmemRecord::mmas() const { return impl_->mmas(); }
bool TmemRecord::seen() const { return impl_->seen(); }
bool TmemRecord::whole_run() const { return impl_->whole_run(); }

void TmemRecord::Impl::cta_started(const Cta& cta) { seen_ = seen_ || is_ours(cta); }

void TmemRecord::Impl::instruction(const Warp& w, const DecodedOp& op, LaneMask) {
  if (op.sync != isa::SyncRole::tmem_alloc && op.sync != isa::SyncRole::tmem_dealloc) return;
  // A pair's allocation is completed by either CTA's warp.
  for (const auto& cta : w.cta->cluster->ctas)
    if (cta != nullptr && is_ours(*cta)) note_allocations(*cta);
}

void TmemRecord::Impl::note_allocations(const Cta& c) {
  const uint64_t now = c.cluster->now;
  if (now > until_ || c.tmem == nullptr) return;
  for (TmemAllocation& a : allocations_)
    if (a.to == 0 && c.tmem->allocation_at(a.column, c.serial + 1) == 0) a.to = now;
  for (uint32_t column = 0; column < kTmemColumns; column += kTmemUnit) {
    const uint32_t columns = c.tmem->allocation_at(column, c.serial + 1);
    const auto live = [&](const TmemAllocation& a) { return a.to == 0 && a.column == column; };
    if (columns != 0 && std::none_of(allocations_.begin(), allocations_.end(), live)) allocations_.push_back({column, columns, now, 0});
  }
}

const TmemRecord::Impl::Place& TmemRecord::Impl::place_of(const Launch& launch, uint32_t pc) {
  const auto [it, fresh] = places_.try_emplace(pc);
  if (!fresh) return it->second;
  Place& at = it->second;
  at.instruction = mnemonic_at(launch, pc);
  at.source = source_at(launch, pc);
  at.number = lines_.try_emplace(at.instruction + " " + at.source, lines_.size()).first->second;
  return at;
}

void TmemRecord::Impl::add(const Cluster& c, const AsyncOp& op, TmemRole role, const Span& s) {
  const Place& at = place_of(*c.launch, op.issuer.pc);
  const auto [it, fresh] = index_.try_emplace({role, s.lane, s.lanes, s.column, s.columns, at.number}, regions_.size());
  if (fresh) regions_.push_back({role, s.lane, s.lanes, s.column, s.columns, at.instruction, at.source, 0, c.now, 0, 0});
  TmemRegion& r = regions_[it->second];
  ++r.count;
  ++r.in_flight;
  open_.emplace(op.id, it->second);
}

std::vector<TmemRegion> TmemRecord::Impl::regions() const {
  std::vector<TmemRegion> sorted = regions_, out;
  std::stable_sort(sorted.begin(), sorted.end(), [](const TmemRegion& a, const TmemRegion& b) {
    return std::tie(a.column, a.columns, a.role, a.source, a.lane) < std::tie(b.column, b.columns, b.role, b.source, b.lane);
  });
  for (const TmemRegion& r : sorted) {
    if (out.empty() || std::tie(out.back().column, out.back().columns, out.back().role, out.back().source, out.back().instruction) != std::tie(r.column, r.columns, r.role, r.source, r.instruction) || out.back().lane + out.back().lanes != r.lane) {
      out.push_back(r);
      continue;
    }
    TmemRegion& to = out.back();
    to.lanes += r.lanes;
    to.count += r.count;
    to.in_flight += r.in_flight;
    to.first = std::min(to.first, r.first);
    to.last = std::max(to.last, r.last);
  }
  return out;
}

/// The operands in tensor memory; factors and metadata by the columns the form says they have.
void TmemRecord::Impl::add_mma(const Cluster& c, const AsyncOp& op, const Umma& u) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return;
  const uint32_t rank = op.issuer.cta;
  if (known_.insert({u.idesc, u.d, u.sfa, u.sfb}).second) mmas_.push_back(mma_of(u, f));
  const Rectangle d = cover(rank, [&](const SpanVisitor& v) { for_each_write(c, op, v); });
  if (!d.empty()) add(c, op, TmemRole::accumulator, d.span());
  const auto columns = [&](TmemRole role, uint32_t address, uint32_t count) {
    Span s;
    s.lane = 0;
    s.lanes = kTmemLanes;
    s.column = TmemAddr(address).column();
    s.columns = count;
    add(c, op, role, s);
  };
  if (u.a_in_tmem) columns(TmemRole::a, static_cast<uint32_t>(u.a), isa::a_columns(f.idesc.k96));
  if (f.factors != 0) {
    columns(TmemRole::sfa, u.sfa & isa::kScaleAddressMask, isa::sfa_columns(f.layout, f.idesc.sfa_id + f.factors));
    columns(TmemRole::sfb, u.sfb & isa::kScaleAddressMask, isa::sfb_columns(f.layout, f.n, f.idesc.sfb_id + f.factors));
  }
  if (u.sparse) columns(TmemRole::metadata, u.meta, isa::metadata_columns(f.idesc.kind));
}

void TmemRecord::Impl::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  const uint64_t now = c.now;
  if (m == AsyncMoment::signal) {
    const auto [first, last] = open_.equal_range(op.id);
    for (auto it = first; it != last && now <= until_; ++it) {
      --regions_[it->second].in_flight;
      regions_[it->second].last = now;
    }
    open_.erase(first, last);
    return;
  }
  if (m != AsyncMoment::issue || now > until_ || op.issuer.cta >= c.ctas.size() || !is_ours(*c.ctas[op.issuer.cta])) return;
  const uint32_t rank = op.issuer.cta;
  const auto whole = [&](TmemRole role, bool writes) {
    const Rectangle r = cover(rank, [&](const SpanVisitor& v) { writes ? for_each_write(c, op, v) : for_each_read(c, op, v); });
    if (!r.empty()) add(c, op, role, r.span());
  };
  if (const auto* u = std::get_if<Umma>(&op.payload)) add_mma(c, op, *u);
  if (std::holds_alternative<TmemCopy>(op.payload)) whole(TmemRole::copied, true);
  if (std::holds_alternative<TmemShift>(op.payload)) whole(TmemRole::shifted, true);
  if (const auto* t = std::get_if<TmemLdSt>(&op.payload)) whole(t->load ? TmemRole::loaded : TmemRole::stored, !t->load);
}

namespace {

/// Tensor memory cut into rectangles where a region or an allocation begins or ends.
struct Pieces {
  struct Piece {
    std::string roles, tip;  // "D+ld"; roles is empty where nothing is allocated
    int key = -1;
  };
  std::vector<uint32_t> lanes, columns;  // the cuts
  std::vector<Piece> pieces;             // line after line
  std::vector<std::string> keys;         // the roles of each key
  size_t rows() const { return lanes.size() - 1; }
  size_t across() const { return columns.size() - 1; }
  const Piece& at(size_t row, size_t column) const { return pieces[row * across() + column]; }
};

Pieces::Piece piece_of(const TmemRecord& record, const std::vector<TmemRegion>& regions, uint32_t lane, uint32_t lane_end, uint32_t column, uint32_t column_end) {
  Pieces::Piece out;
  std::set<std::string_view> roles;
  for (const TmemRegion& r : regions) {
    if (!overlaps(r.lane, r.lanes, lane, lane_end) || !overlaps(r.column, r.columns, column, column_end)) continue;
    roles.insert(to_string(r.role));
    out.tip += fmt::format("{}{} {} at {}, {} times", out.tip.empty() ? "" : "; ", to_string(r.role), r.instruction, r.source, r.count);
  }
  const bool allocated = std::any_of(record.allocations().begin(), record.allocations().end(), [&](const TmemAllocation& a) {
    return (a.to == 0 || record.whole_run()) && overlaps(a.column, a.columns, column, column_end);
  });
  out.roles = roles.empty() && allocated ? "unused" : fmt::format("{}", fmt::join(roles, "+"));
  return out;
}

Pieces pieces_of(const TmemRecord& record) {
  const std::vector<TmemRegion> regions = record.regions();
  std::set<uint32_t> lanes = {0, kTmemLanes}, columns = {0, kTmemColumns};
  for (const TmemRegion& r : regions) {
    lanes.insert({r.lane, r.lane + r.lanes});
    columns.insert({r.column, r.column + r.columns});
  }
  for (const TmemAllocation& a : record.allocations()) columns.insert({a.column, a.column + a.columns});
  Pieces out{{lanes.begin(), lanes.end()}, {columns.begin(), columns.end()}, {}, {}};
  for (size_t row = 0; row < out.rows(); ++row) {
    for (size_t column = 0; column < out.across(); ++column) {
      Pieces::Piece p = piece_of(record, regions, out.lanes[row], out.lanes[row + 1], out.columns[column], out.columns[column + 1]);
      const auto key = std::find(out.keys.begin(), out.keys.end(), p.roles);
      if (!p.roles.empty()) p.key = static_cast<int>(key - out.keys.begin());
      if (!p.roles.empty() && key == out.keys.end()) out.keys.push_back(p.roles);
      out.pieces.push_back(std::move(p));
    }
  }
  return out;
}

}  // namespace

layout::Grid tmem_picture(const TmemRecord& record, const layout::PictureOptions& options) {
  const Pieces all = pieces_of(record);
  layout::Grid g;
  g.title = "tensor memory: roles by lanes and columns";
  g.key_name = "role";
  g.key_labels = all.keys;
  g.key_count = static_cast<int>(all.keys.size());
  g.rows = std::min(all.rows(), options.max_rows);
  g.columns = std::min(all.across(), options.max_columns);
  if (g.rows < all.rows() || g.columns < all.across()) g.note = "cut: --max-rows, --max-columns";
  for (size_t r = 0; r < g.rows; ++r) g.row_labels.push_back(fmt::format("{}-{}", all.lanes[r], all.lanes[r + 1] - 1));
  for (size_t c = 0; c < g.columns; ++c) g.column_labels.push_back(fmt::format("{}-{}", all.columns[c], all.columns[c + 1] - 1));
  for (size_t r = 0; r < g.rows; ++r)
    for (size_t c = 0; c < g.columns; ++c) g.cells.push_back({all.at(r, c).roles, all.at(r, c).key, all.at(r, c).tip});
  return g;
}

isa::ScalePicture tmem_scale_picture(const TmemRecord& record) {
  constexpr uint32_t kUnused = 0xC9D1DC;
  const Pieces all = pieces_of(record);
  isa::ScalePicture p;
  p.x_name = "column of 32 bits";
  p.y_name = "lane";
  p.x_step = 32;
  for (const std::string& k : all.keys) p.keys.push_back({k == "unused" ? "allocated, not used" : k, k == "unused" ? kUnused : isa::scale_colour(p.keys.size())});
  p.panels.push_back({"", kTmemColumns, kTmemLanes, isa::partition_guides(), {}});
  for (size_t r = 0; r < all.rows(); ++r) {
    for (size_t c = 0; c < all.across(); ++c) {
      const Pieces::Piece& piece = all.at(r, c);
      if (piece.key < 0) continue;
      const double x = all.columns[c], y = all.lanes[r];
      p.panels[0].areas.push_back({x, y, all.columns[c + 1] - x, all.lanes[r + 1] - y, static_cast<size_t>(piece.key), {piece.roles}, fmt::format("columns {}-{}, lanes {}-{}: {}", all.columns[c], all.columns[c + 1] - 1, all.lanes[r], all.lanes[r + 1] - 1, piece.tip), false});
    }
  }
  return p;
}

}  // namespace drywell::sim
