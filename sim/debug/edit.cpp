#include "sim/debug/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "drywell/core/whole_number.h"
#include "drywell/sim/address_windows.h"
#include "drywell/sim/numeric/convert.h"

namespace drywell::sim {
namespace {

std::optional<uint64_t> floating(const ValueType& t, std::string_view text) {
  const std::optional<double> v = whole_number<double>(text);
  if (!v.has_value()) return std::nullopt;
  if (t.kind == ValueType::Kind::f64) return std::bit_cast<uint64_t>(*v);
  const auto word = std::bit_cast<uint32_t>(static_cast<float>(*v));
  if (t.format == numeric::Format::f32) return word;
  return numeric::convert({.dst = t.format, .src = numeric::Format::f32, .satfinite = t.bits <= 8}, word);
}

uint64_t low_bits(uint64_t v, unsigned bits) { return bits >= 64 ? v : v & ((uint64_t{1} << bits) - 1); }

void write_register(Warp& w, const RegisterRef& r, uint32_t lane, uint64_t value) {
  const CallFrame& f = w.frames[w.frame];
  if (r.predicate) {
    auto& lanes = w.predicate_file[f.preds + r.offset];
    lanes = (lanes & ~(LaneMask{1} << lane)) | static_cast<LaneMask>(value & 1) << lane;
    return;
  }
  const uint32_t width = r.bits > 32 ? 8 : 4;
  std::memcpy(w.register_file.data() + f.registers + r.offset + size_t{width} * lane, &value, width);
}

/// The memory from a generic address on.
std::span<uint8_t> memory_at(Session& s, const WarpRef& w, uint64_t address) {
  if (address >> 32 != window::kSharedHigh) {
    const auto* a = s.launch().gmem->find(address);
    return a == nullptr ? std::span<uint8_t>() : std::span(a->data + (address - a->base), a->size - (address - a->base));
  }
  Cluster* c = s.find_cluster(w.cluster);
  const auto at = static_cast<uint32_t>(address);
  if (c == nullptr || shared_rank(at) >= c->ctas.size()) return {};
  Smem& smem = c->ctas[shared_rank(at)]->smem;
  if (shared_offset(at) >= smem.size()) return {};
  return {smem.data() + shared_offset(at), smem.size() - shared_offset(at)};
}

}  // namespace

std::optional<uint64_t> parse_value(const ValueType& t, std::string_view text) {
  const unsigned bits = t.total_bits();
  if (text.starts_with("0x")) {
    const std::optional<uint64_t> v = whole_number<uint64_t>(text.substr(2), 16);
    return v.has_value() && low_bits(*v, bits) == *v ? v : std::nullopt;
  }
  if (t.elements != 1) return std::nullopt;
  if (t.kind == ValueType::Kind::format || t.kind == ValueType::Kind::f64) return floating(t, text);
  if (const std::optional<uint64_t> v = whole_number<uint64_t>(text); v.has_value() && low_bits(*v, bits) == *v) return v;
  const std::optional<int64_t> v = whole_number<int64_t>(text);
  if (!v.has_value() || *v >= 0 || (bits < 64 && *v < -(int64_t{1} << (bits - 1)))) return std::nullopt;
  return low_bits(static_cast<uint64_t>(*v), bits);
}

void edit_register(Session& s, const WarpRef& w, const RegisterRef& r, std::optional<uint32_t> lane, std::string_view text) {
  if (r.special.has_value()) throw InputError(Code::E4325, fmt::format("{} cannot be changed: it is a special register", r.name));
  const ValueType type = r.predicate ? parse_value_type("u8") : type_of_register(r.declared);
  const std::optional<uint64_t> value = parse_value(type, text);
  if (!value.has_value() || (r.predicate && *value > 1))
    throw InputError(Code::E4325, fmt::format("'{}' is no {}", text, r.predicate ? "predicate: 0 or 1" : type.name), "numbers as the register prints them, or 0x and its bits");
  const bool there = s.edit([w, r, lane, value](Session& at) {
    Warp* const warp = at.find(w);
    if (warp == nullptr) return false;
    for (uint32_t l = lane.value_or(0); l < (lane.has_value() ? *lane + 1 : kWarpSize); ++l) write_register(*warp, r, l, *value);
    return true;
  });
  if (!there) throw InputError(Code::E4326, name_of(s, w) + " is not there: its cluster has not started, or is over");
}

size_t memory_bytes(Session& s, const WarpRef& w, uint64_t address) { return memory_at(s, w, address).size(); }

size_t edit_memory(Session& s, const WarpRef& w, uint64_t address, const std::vector<uint8_t>& bytes) {
  const size_t count = std::min(bytes.size(), memory_at(s, w, address).size());
  s.edit([w, address, bytes](Session& at) {
    const std::span<uint8_t> to = memory_at(at, w, address);
    std::copy_n(bytes.begin(), std::min(bytes.size(), to.size()), to.begin());
    return !to.empty();
  });
  return count;
}

}  // namespace drywell::sim
