#include "sim/engine/footprint.h"

#include <algorithm>

#include "drywell/isa/smem_descriptor.h"
#include "sim/engine/signals.h"
#include "sim/engine/span_sink.h"
#include "sim/engine/tensor_plan.h"

namespace drywell::sim {
namespace {

Span shared(uint32_t address, uint64_t bytes) { return {Memory::shared, shared_rank(address), shared_offset(address), bytes}; }
Span global(uint64_t address, uint64_t bytes) { return {Memory::global, 0, address, bytes}; }

template <class F>
void for_ctas(uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<uint32_t>(std::countr_zero(mask)));
}

// ---- tensor copies

// A store's bytes that lie outside of the tensor go nowhere: whatever they are, nothing depends on them.
void stored_side(const TensorCopy& t, const TensorPlan& p, uint32_t cta, const SpanVisitor& visit) {
  SharedSpans spans(cta, visit);
  for (const isa::TileRow& row : p.box.rows) {
    for_runs(p, shared_offset(t.smem), row, [&](uint32_t byte, uint32_t at, uint32_t n) {
      const uint32_t first = std::max(byte, row.first), last = std::min(byte + n, row.last);
      if (first < last) spans.add(at + (first - byte), last - first);
    });
  }
}

bool inside(const TensorPlan& p) {
  return std::all_of(p.box.rows.begin(), p.box.rows.end(), [&](const isa::TileRow& row) { return row.first == 0 && row.last == p.geometry().row_bytes; });
}

void shared_side(const TensorCopy& t, const TensorPlan& p, uint32_t cta, const SpanVisitor& visit) {
  if (t.direction != TensorCopy::Direction::load && !inside(p)) return stored_side(t, p, cta, visit);
  SharedSpans spans(cta, visit);
  // A swizzle permutes the bytes within its span.
  const uint32_t bytes = p.geometry().row_bytes, span = p.map.swizzle == isa::Swizzle::none ? 16 : isa::swizzle_span(p.map.swizzle);
  for (const isa::TileRow& row : p.box.rows) {
    const uint32_t at = shared_offset(t.smem) + row.smem_offset;
    if (bytes % span == 0 && at % span == 0) {
      spans.add(at, bytes);
      continue;
    }
    for_runs(p, shared_offset(t.smem), row, [&](uint32_t, uint32_t run, uint32_t n) { spans.add(run, n); });
  }
}

void global_side(const TensorPlan& p, const SpanVisitor& visit) {
  const bool padded = isa::is_padded(p.map.type);
  for (const isa::TileRow& row : p.box.rows) {
    if (row.first == row.last) continue;
    visit(global(p.map.address + row.global_offset + row.first, padded ? p.geometry().global_row_bytes : row.last - row.first));
  }
}

void reads_of(const TensorCopy& t, const TensorPlan& p, const SpanVisitor& visit) {
  if (t.direction == TensorCopy::Direction::load) return global_side(p, visit);
  shared_side(t, p, shared_rank(t.smem), visit);
  if (t.direction == TensorCopy::Direction::reduce) global_side(p, visit);
}

void writes_of(const TensorCopy& t, const TensorPlan& p, const SpanVisitor& visit) {
  if (t.direction != TensorCopy::Direction::load) return global_side(p, visit);
  for_ctas(LoadTarget{t.smem, t.mbar, t.multicast, t.cta_group}.ctas(), [&](uint32_t cta) { shared_side(t, p, cta, visit); });
}

// ---- plain bulk copies

/// One side is shared memory, whose offsets have 24 bits: a copy of more bytes is a fault when it is performed, and until then as
/// good as one of so many.
uint64_t possible(uint32_t bytes) { return std::min<uint64_t>(bytes, 1 << 24); }

// Visits the bytes that the byte mask selects in each group of 16.
void masked(const Span& all, uint16_t mask, const SpanVisitor& visit) {
  if (mask == 0xFFFF) return visit(all);
  for (uint64_t i = 0; i < all.bytes; ++i) {
    if ((mask >> (i % 16) & 1) == 0) continue;
    Span one = all;
    one.begin += i;
    one.bytes = 1;
    visit(one);
  }
}

void reads_of(const BulkCopy& b, const SpanVisitor& visit) {
  if (b.from_shared()) return masked(shared(static_cast<uint32_t>(b.src), possible(b.bytes)), b.byte_mask, visit);
  if (b.from_global() && b.bytes_read() != 0) visit(global(b.first_read(), possible(b.bytes_read())));
}

void writes_of(const BulkCopy& b, const SpanVisitor& visit) {
  if (b.to_global()) return masked(global(b.dst, possible(b.bytes)), b.byte_mask, visit);
  const auto dst = static_cast<uint32_t>(b.dst);
  for_ctas(LoadTarget{dst, b.mbar, b.multicast, 0}.ctas(),
           [&](uint32_t cta) { masked(shared(cluster_address(cta, shared_offset(dst)), possible(b.bytes)), b.byte_mask, visit); });
}

// ---- wgmma: the rows of A its warp multiplies, and all of B

void operand(uint64_t word, isa::Mod type, bool transposed, uint32_t mn, uint32_t first, uint32_t rows, uint32_t depth,
             SharedSpans& spans) {
  const auto d = isa::SmemDescriptor::decode(word, isa::SmemDescriptorFormat::wgmma);
  const uint32_t bits = isa::type_bits(type);
  const isa::SmemElement element =
      bits == 16 ? isa::SmemElement::half : bits == 32 ? isa::SmemElement::word
                                                       : isa::SmemElement::byte;
  const uint32_t bytes = isa::storage_bits(element) / 8, per_chunk = 16 / bytes;
  const isa::OperandTile tile{transposed ? isa::Major::mn : isa::Major::k, element, mn, depth / bytes};
  std::vector<uint32_t> chunks(tile.chunks());
  isa::operand_row_chunks(d, tile, chunks);
  for (uint32_t i = 0; i < chunks.size(); ++i) {
    const uint32_t line = i / tile.chunks_per_line(), from = transposed ? i % tile.chunks_per_line() * per_chunk : line;
    if (from >= first && from < first + rows) spans.add(chunks[i], 16);
  }
}

void reads_of(const AsyncOp& op, const Wgmma& m, const SpanVisitor& visit) {
  constexpr uint32_t kRows = 16, kDepthBytes = 32;
  SharedSpans spans(op.issuer.cta, visit);
  if (!m.a_in_registers) operand(m.a, m.a_type, m.trans_a, 64, kRows * (op.issuer.warp % 4), kRows, kDepthBytes, spans);
  operand(m.b, m.b_type, m.trans_b, m.n, 0, m.n, m.sparse ? 2 * kDepthBytes : kDepthBytes, spans);
}

struct Reads {
  const Cluster& c;
  const AsyncOp& op;
  const SpanVisitor& visit;
  Memories asked;
  const TensorPlan* plan;
  void operator()(const TensorCopy& t) const {
    if (plan != nullptr) reads_of(t, *plan, visit);
  }
  void operator()(const BulkCopy& b) const { reads_of(b, visit); }
  void operator()(const Umma& u) const { reads_of(op, u, visit, asked); }
  void operator()(const TmemCopy& p) const {
    if ((asked & only(Memory::shared)) != 0) reads_of(op, p, visit);
  }
  void operator()(const TmemShift& p) const { cells_of(op, p, visit); }
  void operator()(const TmemLdSt& t) const {
    if (t.load) cells_of(c, op, t, visit);
  }
  void operator()(const AsyncCopy& a) const {
    for (const AsyncCopy::Lane& l : a.lanes)
      if (l.src_bytes != 0) visit(global(l.gmem, l.src_bytes));
  }
  void operator()(const Wgmma& m) const { reads_of(op, m, visit); }
  void operator()(const Commit&) const {}
  void operator()(const RemoteArrive&) const {}
  void operator()(const RemoteStore&) const {}
  void operator()(const TryCancel&) const {}
};

struct Writes {
  const Cluster& c;
  const AsyncOp& op;
  const SpanVisitor& visit;
  const TensorPlan* plan;
  void operator()(const TensorCopy& t) const {
    if (plan != nullptr) writes_of(t, *plan, visit);
  }
  void operator()(const BulkCopy& b) const { writes_of(b, visit); }
  void operator()(const Umma& u) const { writes_of(op, u, visit); }
  void operator()(const TmemCopy& p) const { writes_of(op, p, visit); }
  void operator()(const TmemShift& p) const { cells_of(op, p, visit); }
  void operator()(const TmemLdSt& t) const {
    if (!t.load) cells_of(c, op, t, visit);
  }
  void operator()(const AsyncCopy& a) const {
    for (const AsyncCopy::Lane& l : a.lanes) visit(shared(l.smem, l.bytes));
  }
  void operator()(const RemoteStore& r) const {
    visit(r.global ? global(r.dst, r.bytes()) : shared(static_cast<uint32_t>(r.dst), r.bytes()));
  }
  void operator()(const TryCancel& t) const {
    const uint32_t all = t.multicast ? (1u << c.ctas.size()) - 1 : 1u << op.issuer.cta;
    for_ctas(all, [&](uint32_t cta) { visit(shared(cluster_address(cta, shared_offset(t.response)), 16)); });
  }
  void operator()(const Wgmma&) const {}
  void operator()(const Commit&) const {}
  void operator()(const RemoteArrive&) const {}
};

}  // namespace

Footprint::Footprint(const Cluster& c, const AsyncOp& op) : c_(c), op_(op) {
  const auto* copy = std::get_if<TensorCopy>(&op.payload);
  if (copy == nullptr) return;
  plan_ = std::make_unique<TensorPlan>();
  if (plan_copy(*copy, *plan_).has_value()) plan_ = nullptr;
}
Footprint::~Footprint() = default;
void Footprint::reads(const SpanVisitor& visit, Memories asked) const { std::visit(Reads{c_, op_, visit, asked, plan_.get()}, op_.payload); }
void Footprint::writes(const SpanVisitor& visit) const { std::visit(Writes{c_, op_, visit, plan_.get()}, op_.payload); }

void for_each_read(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit, Memories asked) { Footprint(c, op).reads(visit, asked); }
void for_each_write(const Cluster& c, const AsyncOp& op, const SpanVisitor& visit) { Footprint(c, op).writes(visit); }

bool is_reduction(const AsyncOp& op) {
  if (const auto* t = std::get_if<TensorCopy>(&op.payload)) return t->direction == TensorCopy::Direction::reduce;
  if (const auto* b = std::get_if<BulkCopy>(&op.payload)) return b->reduce_op != isa::Mod::none;
  if (const auto* r = std::get_if<RemoteStore>(&op.payload)) return r->reduce_op != isa::Mod::none;
  return false;
}

}  // namespace drywell::sim
