// Scopes of the CTA's memories: shared memory by variable and line, tensor memory by allocation, column and lane, and copies in flight.
#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "sim/debug/dap/adapter.h"
#include "sim/debug/describe.h"
#include "sim/exec/shared_layout.h"

namespace drywell::sim::dap {
namespace {

constexpr uint32_t kLineBytes = 32;  // of shared memory, in a line of the editor's list

Json variable(std::string name, std::string value, uint64_t reference = 0) { return {{"name", std::move(name)}, {"value", std::move(value)}, {"variablesReference", reference}}; }

/// The two numbers of a handle's name: "first count".
std::pair<uint32_t, uint32_t> numbers(const std::string& name) {
  uint32_t first = 0, count = 0;
  const char* end = name.data() + name.size();
  const auto at = std::from_chars(name.data(), end, first);
  std::from_chars(std::min(at.ptr + 1, end), end, count);
  return {first, count};
}

std::string shared_reference(const Cta& cta, uint32_t offset) { return fmt::format("{:#x}", window::generic(window::kSharedHigh, cluster_address(cta.rank, offset))); }

std::string words_of(const uint8_t* p, uint32_t bytes) {
  std::string out;
  for (uint32_t i = 0; i < bytes; i += 4) {
    uint32_t word = 0;
    std::memcpy(&word, p + i, std::min<uint32_t>(4, bytes - i));
    out += fmt::format("{}{:08x}", i == 0 ? "" : " ", word);
  }
  return out;
}

std::string cell_text(uint32_t cell) { return fmt::format("{:#010x} ({:.7g})", cell, std::bit_cast<float>(cell)); }

/// A copy of the TMA unit.
bool is_copy(const AsyncOp& op) { return std::holds_alternative<TensorCopy>(op.payload) || std::holds_alternative<BulkCopy>(op.payload); }

}  // namespace

Json DapAdapter::shared_blocks(const WarpRef& ref, const Cta& cta) {
  const Program& p = session().program();
  const auto all = static_cast<uint32_t>(session().launch().smem_bytes);
  Json out = Json::array();
  const auto add = [&](const std::string& name, uint32_t offset, uint32_t bytes) {
    if (bytes == 0) return;
    Json v = variable(name, fmt::format("{} bytes at {:#x}", bytes, offset), new_handle({Handle::Kind::shared_block, ref, fmt::format("{} {}", offset, bytes)}));
    v["indexedVariables"] = (bytes + kLineBytes - 1) / kLineBytes;
    v["memoryReference"] = shared_reference(cta, offset);
    out.push_back(std::move(v));
  };
  uint32_t dynamic = kSmemReserved;
  bool named = false;
  for (const SharedVariable& v : lay_out_shared(*p.module, p.functions).variables) {
    const auto bytes = v.dynamic ? all - v.offset : static_cast<uint32_t>(v.variable->bytes());
    add(v.variable->name, v.offset, bytes);
    named = named || v.dynamic;
    dynamic = std::max(dynamic, v.offset + bytes);
  }
  if (!named && dynamic < all) add("dynamic", dynamic, all - dynamic);
  return out;
}

Json DapAdapter::shared_lines(const Handle& h, const Cta& cta) {
  const auto [first, bytes] = numbers(h.name);
  Json out = Json::array();
  for (uint32_t at = 0; at < bytes; at += kLineBytes) {
    const uint32_t size = std::min(kLineBytes, bytes - at);
    const uint8_t* p = smem_at(cta, first + at, size);
    if (p == nullptr) break;
    Json v = variable(fmt::format("{:#x}", first + at), words_of(p, size));
    v["memoryReference"] = shared_reference(cta, first + at);
    out.push_back(std::move(v));
  }
  return out;
}

Json DapAdapter::tensor_blocks(const WarpRef& ref, const Cta& cta) {
  Json out = Json::array();
  if (cta.tmem == nullptr) return out;
  const auto held = [&](uint32_t c) { return c < kTmemColumns && !cta.tmem->find_free_at(c, kTmemUnit); };
  for (uint32_t c = 0; c < kTmemColumns;) {
    const uint32_t first = c;
    while (held(c)) c += kTmemUnit;
    if (c == first) {
      c += kTmemUnit;
      continue;
    }
    Json v = variable(fmt::format("columns {}-{}", first, c - 1), fmt::format("allocated; lanes {}-{} are this warp's", 32 * (ref.warp % 4), 32 * (ref.warp % 4) + 31), new_handle({Handle::Kind::tensor_block, ref, fmt::format("{} {}", first, c - first)}));
    v["indexedVariables"] = c - first;
    out.push_back(std::move(v));
  }
  return out;
}

Json DapAdapter::tensor_columns(const Handle& h, const Cta& cta) {
  const auto [first, count] = numbers(h.name);
  Json out = Json::array();
  for (uint32_t c = first; c < first + count; ++c) {
    const uint32_t lane = 32 * (h.warp.warp % 4);
    out.push_back(variable(fmt::format("column {}", c), fmt::format("{}, {}, …", cell_text(cta.tmem->at(lane, c)), cell_text(cta.tmem->at(lane + 1, c))), new_handle({Handle::Kind::tensor_column, h.warp, fmt::format("{} 1", c)})));
  }
  return out;
}

Json DapAdapter::tensor_lanes(const Handle& h, const Cta& cta) {
  const auto [column, one] = numbers(h.name);
  Json out = Json::array();
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint32_t lane = 32 * (h.warp.warp % 4) + i;
    out.push_back(variable(fmt::format("lane {}", lane), cell_text(cta.tmem->at(lane, column))));
  }
  return out;
}

Json DapAdapter::operations(const WarpRef& ref, const Cluster& c, bool copies) {
  Json out = Json::array();
  for (const AsyncOp& op : c.pending) {
    if (copies && !is_copy(op)) continue;
    out.push_back(variable(fmt::format("#{}", op.id), fmt::format("{} ({})", describe_op(session(), op.payload, {ref.cluster, op.issuer.cta, op.issuer.warp}), describe_stage(c, op))));
  }
  return out;
}

std::optional<Json> DapAdapter::memory_variables(const Handle& h, const Warp& w) {
  switch (h.kind) {
    case Handle::Kind::shared: return shared_blocks(h.warp, *w.cta);
    case Handle::Kind::shared_block: return shared_lines(h, *w.cta);
    case Handle::Kind::tensor: return tensor_blocks(h.warp, *w.cta);
    case Handle::Kind::tensor_block: return tensor_columns(h, *w.cta);
    case Handle::Kind::tensor_column: return tensor_lanes(h, *w.cta);
    case Handle::Kind::copies: return operations(h.warp, *w.cta->cluster, true);
    case Handle::Kind::async: return operations(h.warp, *w.cta->cluster, false);
    case Handle::Kind::frame:
    case Handle::Kind::registers:
    case Handle::Kind::predicates:
    case Handle::Kind::special:
    case Handle::Kind::mbarriers:
    case Handle::Kind::lanes: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace drywell::sim::dap
