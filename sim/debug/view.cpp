#include "sim/debug/view.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "drywell/core/error.h"
#include "drywell/core/text.h"
#include "sim/exec/exec.h"
#include "sim/exec/special.h"

namespace drywell::sim {
namespace {

const FunctionCode& function_at(const Warp& w, uint32_t frame) {
  const Program& p = *w.cta->cluster->launch->program;
  return p.functions[w.frames[frame].function];
}

RegisterRef make_ref(const FunctionCode& f, uint32_t id) {
  const isa::RegDecl& d = f.function->regs[id];
  return {d.name, d.type == isa::Mod::pred, std::nullopt, f.reg_offset[id], isa::type_bits(d.type), d.type};
}

bool same_name(std::string_view declared, std::string_view given) { return declared == given || (declared.starts_with('%') && declared.substr(1) == given); }

}  // namespace

RegisterRef find_register(const Warp& w, std::string_view name, uint32_t frame) {
  const FunctionCode& f = function_at(w, frame);
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < f.function->regs.size(); ++i) {
    if (same_name(f.function->regs[i].name, name)) return make_ref(f, i);
    names.push_back(f.function->regs[i].name);
  }
  if (const auto special = isa::find_special_reg(name); special.has_value()) return {std::string(name), false, special, 0, 64, isa::Mod::u64};
  throw InputError(Code::E4322, fmt::format("no register '{}' in {}", name, f.function->name), did_you_mean(name, names));
}

std::vector<RegisterRef> registers_of(const Warp& w) {
  const FunctionCode& f = function_at(w, w.frame);
  std::vector<RegisterRef> all;
  for (uint32_t i = 0; i < f.function->regs.size(); ++i) all.push_back(make_ref(f, i));
  return all;
}

std::array<uint64_t, kWarpSize> read_register(const Warp& w, const RegisterRef& r, uint32_t frame) {
  std::array<uint64_t, kWarpSize> out{};
  if (r.special.has_value()) {
    uint64_t lanes[kWarpSize];
    read_special(w, *r.special, lanes);
    std::copy(std::begin(lanes), std::end(lanes), out.begin());
    return out;
  }
  const CallFrame& f = w.frames[frame];
  const uint32_t width = r.bits > 32 ? 8 : 4;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if (r.predicate) out[lane] = w.predicate_file[f.preds + r.offset] >> lane & 1;
    else std::memcpy(&out[lane], w.register_file.data() + f.registers + r.offset + size_t{width} * lane, width);
  }
  return out;
}

bool is_register_pending(const Warp& w, const RegisterRef& r) {
  return !r.predicate && !r.special.has_value() && (w.pending_ld | w.pending_wgmma) != 0 && is_pending(w, r.offset);
}

std::vector<CallPlace> backtrace(const Warp& w) {
  const Program& p = *w.cta->cluster->launch->program;
  std::vector<CallPlace> out;
  uint32_t pc = w.pc;
  for (uint32_t frame = w.frame;; frame = w.frames[frame].parent) {
    const FunctionCode& f = p.functions[w.frames[frame].function];
    out.push_back({pc, f.function->name});
    if (w.frames[frame].depth == 0 || w.active == 0) return out;
    const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
    uint32_t back = 0;
    std::memcpy(&back, w.register_file.data() + w.frames[frame].registers + f.return_pc + 4 * lane, 4);
    pc = back == 0 ? 0 : back - 1;
  }
}

const uint8_t* smem_at(const Cta& cta, uint32_t offset, uint64_t bytes) { return cta.smem.contains(offset, bytes) ? cta.smem.data() + offset : nullptr; }

uint64_t bits_of(const uint8_t* bytes, uint64_t bit, unsigned width) {
  uint64_t v = 0;
  for (unsigned i = 0; i < width; i += 4) {  // no type is smaller than a nibble
    const uint64_t at = bit + i;
    v |= uint64_t{static_cast<uint8_t>(bytes[at / 8] >> (at % 8) & 0xF)} << i;
  }
  return v;
}

std::string name_of(const Warp& w) { return fmt::format("CTA ({},{},{}) warp {}", w.cta->index.x, w.cta->index.y, w.cta->index.z, w.index); }

Dim3 cta_index(const Launch& l, uint64_t cluster, uint32_t rank) {
  const Dim3 clusters{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
  const Dim3 at = clusters.at(cluster), r = l.cluster.at(rank);
  return {at.x * l.cluster.x + r.x, at.y * l.cluster.y + r.y, at.z * l.cluster.z + r.z};
}

std::string name_of(const Session& s, const WarpRef& w) {
  const Dim3 i = cta_index(s.launch(), w.cluster, w.cta);
  return fmt::format("CTA ({},{},{}) warp {}", i.x, i.y, i.z, w.warp);
}

std::optional<WarpRef> ref_of_cta(const Launch& l, Dim3 index) {
  if (index.x >= l.grid.x || index.y >= l.grid.y || index.z >= l.grid.z) return std::nullopt;
  const Dim3 clusters{l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
  const uint64_t cluster = clusters.linear({index.x / l.cluster.x, index.y / l.cluster.y, index.z / l.cluster.z});
  return WarpRef{cluster, static_cast<uint32_t>(l.cluster.linear({index.x % l.cluster.x, index.y % l.cluster.y, index.z % l.cluster.z})), 0};
}

}  // namespace drywell::sim
