#include "sim/timing/tma_transfer.h"

#include <algorithm>
#include <cstring>

#include "drywell/isa/tensor_tile.h"
#include "sim/timing/copy_requests.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kTransferSector = 32;

ByteRange sectors_of(uint64_t address, uint64_t bytes) {
  const uint64_t first = address & ~(kTransferSector - 1), last = (address + bytes + kTransferSector - 1) & ~(kTransferSector - 1);
  return {first, static_cast<uint32_t>(last - first)};
}

// The rows of a tensor copy in global memory.
void add_rows(TmaTransfer& t, const TensorCopy& copy) {
  isa::TensorMap map;
  std::memcpy(map.bytes.data(), copy.map.data(), copy.map.size());
  Diagnostics problems;
  const isa::TensorMapFields f = isa::decode(map, problems);
  const auto access = t.way == TmaTransfer::Way::out ? isa::TensorAccess::store : isa::TensorAccess::load;
  if (problems.has_errors() || (f.interleave != isa::Interleave::none && f.mode != isa::TensorMapMode::tile) || f.rank != copy.rank) return;
  const isa::TensorRequest request{copy.mode, access, copy.coord, copy.offset};
  isa::check_request(f, request, problems);
  if (problems.has_errors()) return;
  const isa::TensorRows box = isa::tensor_rows(f, request);
  t.bytes = box.geometry.rows * box.geometry.row_bytes;
  for (const isa::TileRow& row : box.rows) {
    if (row.first == row.last) continue;
    const ByteRange s = sectors_of(f.address + row.global_offset + row.first, row.last - row.first);
    if (!t.ranges.empty() && t.ranges.back().address + t.ranges.back().bytes == s.address) t.ranges.back().bytes += s.bytes;
    else t.ranges.push_back(s);
  }
}

// Overlapping neighbours make one request.
void add_lanes(TmaTransfer& t, const AsyncCopy& copy) {
  t.more = static_cast<float>(more_of_requests(copy));
  for (const AsyncCopy::Lane& l : copy.lanes) {
    const ByteRange s = sectors_of(l.gmem, std::max<uint32_t>(1, l.src_bytes));
    t.bytes += l.bytes;
    const bool joins = !t.ranges.empty() && t.ranges.back().address <= s.address && t.ranges.back().address + t.ranges.back().bytes >= s.address;
    if (!joins) {
      t.ranges.push_back(s);
      continue;
    }
    ByteRange& last = t.ranges.back();
    last.bytes = static_cast<uint32_t>(std::max(last.address + last.bytes, s.address + s.bytes) - last.address);
  }
}

TmaTransfer::Way way_of(const BulkCopy& b) {
  if (b.from_global()) return TmaTransfer::Way::in;
  return b.to_global() ? TmaTransfer::Way::out : TmaTransfer::Way::within_cluster;
}

TmaTransfer of(const TensorCopy& copy) {
  TmaTransfer t;
  if (copy.direction != TensorCopy::Direction::load) t.way = TmaTransfer::Way::out;
  t.reduce = copy.direction == TensorCopy::Direction::reduce;
  add_rows(t, copy);
  return t;
}

TmaTransfer of(const BulkCopy& copy) {
  TmaTransfer t{.way = way_of(copy), .bytes = copy.bytes, .reduce = copy.reduce_op != isa::Mod::none, .ranges = {}};
  if (t.way != TmaTransfer::Way::within_cluster) t.ranges.push_back(sectors_of(t.way == TmaTransfer::Way::in ? copy.src : copy.dst, copy.bytes));
  return t;
}

}  // namespace

TmaTransfer transfer_of(const AsyncOp& op) {
  if (const auto* tensor = std::get_if<TensorCopy>(&op.payload)) return of(*tensor);
  if (const auto* bulk = std::get_if<BulkCopy>(&op.payload)) return of(*bulk);
  TmaTransfer t;
  if (const auto* lanes = std::get_if<AsyncCopy>(&op.payload)) add_lanes(t, *lanes);
  return t;
}

bool is_load(const AsyncOp& op) {
  if (const auto* tensor = std::get_if<TensorCopy>(&op.payload)) return tensor->direction == TensorCopy::Direction::load;
  const auto* bulk = std::get_if<BulkCopy>(&op.payload);
  return bulk == nullptr || bulk->from_global();
}

bool is_multicast(const AsyncOp& op) {
  const auto* tensor = std::get_if<TensorCopy>(&op.payload);
  const auto* bulk = std::get_if<BulkCopy>(&op.payload);
  return (tensor != nullptr && tensor->multicast != 0) || (bulk != nullptr && bulk->multicast != 0);
}

bool is_copy_arrival(const AsyncOp& op) {
  const auto* copy = std::get_if<AsyncCopy>(&op.payload);
  return copy != nullptr && copy->lanes.empty();
}

bool is_cp_async(const AsyncOp& op) { return std::holds_alternative<AsyncCopy>(op.payload); }

bool is_tma(const AsyncOp& op) {
  return std::holds_alternative<TensorCopy>(op.payload) || std::holds_alternative<BulkCopy>(op.payload) ||
         (std::holds_alternative<AsyncCopy>(op.payload) && !is_copy_arrival(op));
}

std::optional<uint64_t> tensor_map_of(const AsyncOp& op) {
  const auto* tensor = std::get_if<TensorCopy>(&op.payload);
  return tensor == nullptr ? std::nullopt : std::optional(tensor->map_address);
}

}  // namespace drywell::sim
