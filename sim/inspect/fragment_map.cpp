#include "drywell/sim/inspect/fragment_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "drywell/core/error.h"
#include "drywell/core/whole_number.h"
#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/isa/mods.h"
#include "drywell/isa/tmem_copy.h"
#include "drywell/isa/tmem_layout.h"
#include "drywell/isa/wgmma_shape.h"
#include "sim/exec/fragment.h"
#include "sim/inspect/short_names.h"

namespace drywell::sim {
namespace {

[[noreturn]] void refuse(std::string_view instruction, std::string message) {
  throw InputError(Code::E4306, fmt::format("{}: {}", instruction, message),
                   "tcgen05.ld.32x32b.x8, tcgen05.cp.128x256b, tcgen05.mma.m128n64, ldmatrix.x4.trans, stmatrix.x2, mma.m16n8k16.f32.bf16.bf16.f32, wgmma.m64n64k16.f32.bf16");
}

/// The parts of an instruction's name between dots.
struct Words {
  std::string_view all;
  std::vector<std::string_view> list;

  explicit Words(std::string_view text) : all(text) {
    while (!text.empty()) {
      const size_t dot = std::min(text.find('.'), text.size());
      list.push_back(text.substr(0, dot));
      text.remove_prefix(std::min(text.size(), dot + 1));
    }
  }
  bool has(std::string_view w) const { return std::find(list.begin(), list.end(), w) != list.end(); }
  /// 4 for ".x4"; `otherwise` without such a word. No instruction has another count than a power of two.
  uint32_t count(uint32_t otherwise) const {
    const auto* word = std::find_if(list.data(), list.data() + list.size(), is_count);
    if (word == list.data() + list.size()) return otherwise;
    for (uint32_t n = 1; n <= 128; n *= 2)
      if (*word == fmt::format("x{}", n)) return n;
    refuse(all, fmt::format("no form has .{}", *word));
  }
  static bool is_count(std::string_view w) {
    return w.size() > 1 && w[0] == 'x' && std::all_of(w.begin() + 1, w.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  /// Words that are types, in order.
  std::vector<isa::Mod> types() const {
    std::vector<isa::Mod> out;
    for (const std::string_view w : list) {
      const isa::Mod m = isa::find_mod(w);
      const bool letters = w.size() > 1 && (w[0] == 'f' || w[0] == 'b' || w[0] == 's' || w[0] == 'u' || w[0] == 'e' || w[0] == 't');
      if (letters && m != isa::Mod::none && isa::type_bits(m) != 0) out.push_back(m);
    }
    return out;
  }
  /// The word that starts with "m" and a digit.
  std::string_view shape() const {
    for (const std::string_view w : list)
      if (w.size() > 2 && w[0] == 'm' && w[1] >= '0' && w[1] <= '9') return w;
    return {};
  }
};

/// Bits of an element of A or B in a register: tf32 takes 32, and e2m1 takes 8 where k is 32 (.kind::f8f6f4), as its relatives of 6 bits always do.
uint32_t register_bits(isa::Mod type, uint32_t k) {
  if (type == isa::Mod::tf32) return 32;
  return type == isa::Mod::e2m1 && k == 32 ? 8 : isa::type_bits(type);
}

void finish(FragmentMap& f) {
  for (const FragmentElement& e : f.elements) {
    f.rows = std::max(f.rows, e.row + 1);
    f.columns = std::max(f.columns, e.column + 1);
    f.registers = std::max(f.registers, e.reg + 1);
    f.per_register = std::max(f.per_register, e.part + 1);
  }
}

/// Adds every element of `registers` registers; place(lane, register, part) -> (row, column).
template <class Place>
FragmentMap fill(std::string title, std::string operand, uint32_t registers, uint32_t parts, Place place) {
  FragmentMap f;
  f.title = std::move(title);
  f.operand = std::move(operand);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t r = 0; r < registers; ++r) {
      for (uint32_t e = 0; e < parts; ++e) {
        const FragmentPlace at = place(lane, r, e);
        f.elements.push_back({lane, r, e, at.row, at.column});
      }
    }
  }
  finish(f);
  return f;
}

// --- tcgen05.ld, st: tensor memory relative to the address ---

FragmentMap tmem_access(const Words& w) {
  static constexpr std::pair<std::string_view, isa::TmemShape> kShapes[] = {{"32x32b", isa::TmemShape::s32x32b},
                                                                            {"16x64b", isa::TmemShape::s16x64b},
                                                                            {"16x128b", isa::TmemShape::s16x128b},
                                                                            {"16x256b", isa::TmemShape::s16x256b},
                                                                            {"16x32bx2", isa::TmemShape::s16x32bx2}};
  isa::TmemAccess a;
  bool known = false;
  for (const auto& [name, shape] : kShapes) {
    if (!w.has(name)) continue;
    a.shape = shape;
    known = true;
  }
  if (!known) refuse(w.all, "no shape: 32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2");
  a.num = static_cast<uint16_t>(w.count(1));
  if (a.num > isa::max_num(a.shape)) refuse(w.all, fmt::format("no .x{} of this shape", a.num));
  a.pack = w.has("pack::16b") || w.has("unpack::16b") || w.has("pack");
  // The halves of 16x32bx2 are shown side by side.
  a.half_split = static_cast<int32_t>(isa::tmem_columns(a.shape, a.num) * (a.pack ? 2 : 1));
  FragmentMap f = fill(fmt::format("{}: lanes and columns of tensor memory from the address on", w.all), "x", isa::tmem_registers(a.shape, a.num), a.pack ? 2 : 1,
                       [&](uint32_t lane, uint32_t r, uint32_t part) {
                         const isa::TmemOffset at = isa::tmem_offset(a, lane, r);
                         return FragmentPlace{at.lane, static_cast<uint32_t>(at.column) + part};
                       });
  f.row_name = "lane";
  return f;
}

// --- ldmatrix, stmatrix: the rows at the lanes' addresses ---

FragmentMap matrix_rows(const Words& w, bool store) {
  const uint32_t matrices = w.count(1);
  const bool bytes = w.has("b8") || w.has("m16n16") || w.has("m8n16") || w.has("m16n8"), trans = w.has("trans");
  const uint32_t wide = w.has("m16n16") ? 2 : 1, element = bytes ? 1 : 2;
  if (matrices > 4 || (w.has("m16n16") && (matrices > 2 || !trans))) refuse(w.all, "no such form");
  const auto place = [&](uint32_t lane, uint32_t r, uint32_t byte) {
    if (!trans) return rows_plain(lane, r, byte);
    if (!bytes) return rows_transposed_b16(lane, r, byte);
    return store ? rows_transposed_store_b8(lane, r, byte) : rows_transposed_load_b8(lane, r, byte);
  };
  FragmentMap f = fill(fmt::format("{}: the 16-byte rows that lanes name, in elements", w.all), "x", matrices * wide, 4 / element,
                       [&](uint32_t lane, uint32_t r, uint32_t part) {
                         const RowByte at = place(lane, r, part * element);
                         return FragmentPlace{at.row, at.byte / element};
                       });
  return f;
}

// --- mma.sync ---

struct Types {
  isa::Mod d, a, b;
};

Types types_of(const Words& w) {
  const std::vector<isa::Mod> t = w.types();
  if (t.size() == 1) return {t[0], t[0], t[0]};
  if (t.size() == 2) return {t[0], t[1], t[1]};
  if (t.size() >= 3) return {t[0], t[1], t[2]};
  refuse(w.all, "no element type: .f32.bf16.bf16.f32 (D, A, B, C) or one for all");
}

std::vector<FragmentMap> quad_fragments(const Words& w, const Types& t) {
  const bool a_row = !w.has("col") || w.has("row"), b_col = w.has("col"), is_f32 = t.d == isa::Mod::f32;
  const auto name = [&](const char* x) { return fmt::format("{} of {}: four products, lanes q*4 and 16 + q*4 of product q", x, w.all); };
  FragmentMap a = fill(name("A"), "a", 2, 2, [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_quad_operand(a_row, lane, 2 * r + e); });
  FragmentMap b = fill(name("B"), "b", 2, 2, [&](uint32_t lane, uint32_t r, uint32_t e) {
    const FragmentPlace at = place_in_quad_operand(b_col, lane, 2 * r + e);
    return FragmentPlace{at.column, at.row};
  });
  FragmentMap d = fill(name("D"), "d", is_f32 ? 8 : 4, is_f32 ? 1 : 2,
                       [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_quad_d(is_f32, lane, is_f32 ? r : 2 * r + e); });
  return {a, b, d};
}

void name_axes(std::vector<FragmentMap>& maps) {
  for (FragmentMap& f : maps) {
    f.row_name = f.operand == "b" ? "k" : "m";
    f.column_name = f.operand == "a" ? "k" : "n";
  }
}

std::vector<FragmentMap> mma_fragments(const Words& w) {
  const isa::Mod shape_mod = isa::find_mod(w.shape());
  const MmaShape s = shape_mod == isa::Mod::none ? MmaShape{} : isa::mma_shape(shape_mod);
  // A shape of another instruction is decoded to a shape with a different text.
  if (w.shape() != fmt::format("m{}n{}k{}", s.m, s.n, s.k)) refuse(w.all, "no shape of mma.sync such as m16n8k16");
  const Types t = types_of(w);
  if (register_bits(t.a, s.k) != register_bits(t.b, s.k)) refuse(w.all, "A and B of different sizes");
  std::vector<FragmentMap> out;
  if (shape_mod == isa::Mod::m8n8k4 && isa::type_bits(t.a) == 16) {
    out = quad_fragments(w, t);
  } else {
    const uint32_t a_bits = register_bits(t.a, s.k), b_bits = register_bits(t.b, s.k), d_parts = isa::type_bits(t.d) == 16 ? 2 : 1;
    const auto registers = [](uint32_t elements, uint32_t bits) { return elements / 32 / per_register(bits); };
    const auto name = [&](const char* x, isa::Mod type) { return fmt::format("{} of {}, {}", x, w.all, isa::mod_text(type)); };
    out.push_back(fill(name("A", t.a), "a", registers(uint32_t{s.m} * s.k, a_bits), per_register(a_bits),
                       [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_a(s, a_bits, lane, r, e); }));
    out.push_back(fill(name("B", t.b), "b", registers(uint32_t{s.n} * s.k, b_bits), per_register(b_bits), [&](uint32_t lane, uint32_t r, uint32_t e) {
      const FragmentPlace at = place_in_b(b_bits, lane, r, e);
      return FragmentPlace{at.column, at.row};
    }));
    out.push_back(fill(name("D", t.d), "d", uint32_t{s.m} * s.n / 32 / d_parts, d_parts,
                       [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_d(lane, r * d_parts + e); }));
  }
  name_axes(out);
  return out;
}

// --- tcgen05.cp and mma: tensor memory, with what comes there ---

FragmentMap in_tensor_memory(std::string title, std::string operand, std::string row, std::string column) {
  FragmentMap f;
  f.title = std::move(title);
  f.operand = std::move(operand);
  f.row_name = "lane";
  f.column_name = "column";
  f.thread_name = std::move(row);
  f.register_name = std::move(column);
  return f;
}

FragmentMap copy_places(const Words& w) {
  struct Shape {
    std::string_view shape, halves;
    isa::CopyShape value;
  };
  static constexpr Shape kShapes[] = {{"128x256b", "", isa::CopyShape::s128x256b}, {"4x256b", "", isa::CopyShape::s4x256b}, {"128x128b", "", isa::CopyShape::s128x128b}, {"64x128b", "warpx2::02_13", isa::CopyShape::s64x128b_02_13}, {"64x128b", "warpx2::01_23", isa::CopyShape::s64x128b_01_23}, {"32x128b", "", isa::CopyShape::s32x128b_warpx4}};
  const auto* s = std::find_if(std::begin(kShapes), std::end(kShapes), [&](const Shape& x) { return w.has(x.shape) && (x.halves.empty() || w.has(x.halves)); });
  if (s == std::end(kShapes)) refuse(w.all, "no shape: 128x256b, 4x256b, 128x128b, 64x128b.warpx2::02_13, 64x128b.warpx2::01_23 or 32x128b.warpx4");
  FragmentMap f = in_tensor_memory(fmt::format("{}: row and 32-bit word of shared memory at each lane and column from the address on", w.all), "x", "row", "word");
  f.threads = isa::copy_rows(s->value);
  for (uint32_t row = 0; row < f.threads; ++row) {
    const isa::CopyLanes to = isa::copy_lanes(s->value, row);
    for (unsigned i = 0; i < to.count; ++i)
      for (uint32_t word = 0; word < isa::copy_columns(s->value); ++word) f.elements.push_back({row, word, 0, to.lane[i], word});
  }
  finish(f);
  return f;
}

/// "m128n64": M and N.
std::pair<unsigned, unsigned> extent_of(const Words& w, unsigned ctas) {
  const std::string_view text = w.shape();
  if (text.empty()) return {128 * ctas, 64};
  const size_t n_at = std::min(text.find('n'), text.size());
  const auto m = whole_number<unsigned>(text.substr(1, n_at - 1)), n = whole_number<unsigned>(text.substr(std::min(n_at + 1, text.size())));
  if (!text.starts_with('m') || !m.has_value() || !n.has_value()) refuse(w.all, "no extents such as m128n64");
  return {*m, *n};
}

std::vector<FragmentMap> product_places(const Words& w) {
  isa::TmemUseForm use;
  use.form.cta_group = w.has("cta_group::2") ? 2 : 1;
  use.form.ws = w.has("ws");
  use.form.sparse = w.has("sp");
  std::tie(use.m, use.n) = extent_of(w, use.form.cta_group);
  const std::string title = fmt::format("D of {}, M = {}, N = {}: layout {}", w.all, use.m, use.n, "ABCDEFG"[static_cast<size_t>(isa::layout_of(use))]);
  std::vector<FragmentMap> out;
  for (uint8_t cta = 0; cta < use.form.cta_group; ++cta) {
    out.push_back(in_tensor_memory(use.form.cta_group == 1 ? title : fmt::format("{}, {} CTA", title, cta == 0 ? "even" : "odd"), "d", "m", "n"));
    for (const isa::TmemBlock& b : isa::tmem_blocks(use)) {
      if (b.cta != cta) continue;
      for (uint32_t lane = b.lane; lane < uint32_t{b.lane} + b.lanes; ++lane)
        for (uint32_t column = b.column; column < uint32_t{b.column} + b.columns; ++column)
          for (const isa::TmemElement& e : isa::elements_at(b, lane, column)) out.back().elements.push_back({e.row, e.index, 0, lane, column});
    }
    out.back().threads = use.m;
    finish(out.back());
  }
  return out;
}

// --- wgmma: 128 threads; warp w has rows 16 w to 16 w + 15 ---

FragmentMap of_warpgroup(FragmentMap f) {
  const std::vector<FragmentElement> one = std::move(f.elements);
  f.elements.clear();
  f.threads = 128;
  for (uint32_t warp = 0; warp < 4; ++warp) {
    for (FragmentElement e : one) {
      e.thread += 32 * warp;
      e.row += 16 * warp;
      f.elements.push_back(e);
    }
  }
  finish(f);
  return f;
}

std::vector<FragmentMap> wgmma_fragments(const Words& w) {
  const isa::Mod shape_mod = isa::find_mod(w.shape());
  if (!w.shape().starts_with("m64n") || shape_mod == isa::Mod::none) refuse(w.all, "no shape of wgmma such as m64n64k16");
  const isa::WgmmaShape s = isa::wgmma_shape(shape_mod);
  const Types t = types_of(w);
  const uint32_t bits = register_bits(t.a, 0), parts = isa::type_bits(t.d) == 16 ? 2 : 1, per = per_register(bits);
  // A in four registers of 32 bits, with the layout of A of mma.sync's m16 in 32-bit words (sim/engine/wgmma.cpp).
  FragmentMap a = fill(fmt::format("A of {} in registers, {}", w.all, isa::mod_text(t.a)), "a", 4, per, [&](uint32_t lane, uint32_t r, uint32_t e) {
    const FragmentPlace at = place_in_a({16, 8, 8}, 32, lane, r, 0);
    return FragmentPlace{at.row, at.column * per + e};
  });
  FragmentMap d = fill(fmt::format("D of {}, {}", w.all, isa::mod_text(t.d)), "d", 16 * s.n / 32 / parts, parts, [&](uint32_t lane, uint32_t r, uint32_t e) {
    const uint32_t i = r * parts + e;
    const FragmentPlace at = place_in_d(lane, i % 4);
    return FragmentPlace{at.row, i / 4 * 8 + at.column};
  });
  std::vector<FragmentMap> out = {of_warpgroup(std::move(a)), of_warpgroup(std::move(d))};
  name_axes(out);
  return out;
}

std::string part_name(const FragmentMap& f, const FragmentElement& e) {
  // Threads and registers as PTX's manual writes them; rows and elements in small letters.
  const bool held = f.thread_name == "thread";
  const std::string who = held ? "T" : f.thread_name.substr(0, 1), where = held ? "R" : f.register_name.substr(0, 1);
  return f.per_register == 1 ? fmt::format("{}{} {}{}", who, e.thread, where, e.reg) : fmt::format("{}{} {}{}.{}", who, e.thread, where, e.reg, e.part);
}

layout::Grid empty_grid(const FragmentMap& f, uint32_t rows, uint32_t columns, const layout::PictureOptions& options) {
  layout::Grid g;
  g.title = f.title;
  g.rows = std::min<size_t>(rows, options.max_rows);
  g.columns = std::min<size_t>(columns, options.max_columns);
  if (g.rows < rows || g.columns < columns) g.note = fmt::format("the first {} x {} of {} x {} cells", g.rows, g.columns, rows, columns);
  g.key_name = f.threads > 32 ? f.thread_name + " modulo 32 =" : f.thread_name;
  g.key_count = 32;
  g.cells.resize(g.rows * g.columns);
  return g;
}

}  // namespace

std::vector<FragmentMap> fragments_of(std::string_view instruction) {
  const Words w(instruction);
  using isa::InstrSpec;
  const auto is = [&](auto condition) { return some_row(instruction, condition); };
  // Of the loads and stores of tensor memory, which share their first word with others, the second word is in the name.
  if (is([&](const InstrSpec& row) { return (row.completion == isa::Completion::wait_ld || row.completion == isa::Completion::wait_st) && w.has(Words(row.mnemonic).list[1]); }))
    return {tmem_access(w)};
  if (is([](const InstrSpec& row) { return row.memory == isa::MemoryRole::matrix_load; })) return {matrix_rows(w, false)};
  if (is([](const InstrSpec& row) { return row.memory == isa::MemoryRole::matrix_store; })) return {matrix_rows(w, true)};
  if (is([](const InstrSpec& row) { return row.completion == isa::Completion::wgmma_group; })) return wgmma_fragments(w);
  // PTX leaves the layout of wmma's fragments open.
  const bool opaque = is([](const InstrSpec& row) { return row.memory == isa::MemoryRole::fragment_load; });
  if (!opaque && is([](const InstrSpec& row) { return row.timing == isa::TimingClass::mma_sync; })) return mma_fragments(w);
  const auto of_class = [&](isa::TimingClass c) { return is([&](const InstrSpec& row) { return row.timing == c && w.has(Words(row.mnemonic).list[1]); }); };
  if (of_class(isa::TimingClass::tmem_cp)) return {copy_places(w)};
  if (of_class(isa::TimingClass::umma)) return product_places(w);
  refuse(instruction, "no instruction with fragments");
}

layout::Grid matrix_picture(const FragmentMap& f, const layout::PictureOptions& options) {
  layout::Grid g = empty_grid(f, f.rows, f.columns, options);
  g.row_name = f.row_name;
  g.column_name = f.column_name;
  for (size_t r = 0; r < g.rows; ++r) g.row_labels.push_back(fmt::format("{}{}", f.row_name[0], r));
  for (size_t c = 0; c < g.columns; ++c) g.column_labels.push_back(fmt::format("{}{}", f.column_name[0], c));
  for (const FragmentElement& e : f.elements) {
    if (e.row >= g.rows || e.column >= g.columns) continue;
    layout::Cell& cell = g.at(e.row, e.column);
    cell.text += (cell.text.empty() ? "" : "; ") + part_name(f, e);
    cell.tip = fmt::format("{} {}, {} {}: {}", f.row_name, e.row, f.column_name, e.column, cell.text);
    cell.key = static_cast<int>(e.thread % 32);
  }
  return g;
}

layout::Grid register_picture(const FragmentMap& f, const layout::PictureOptions& options) {
  layout::Grid g = empty_grid(f, f.threads, f.registers, options);
  g.row_name = "thread";
  g.column_name = "register";
  for (size_t t = 0; t < g.rows; ++t) g.row_labels.push_back(fmt::format("T{}", t));
  for (size_t r = 0; r < g.columns; ++r) g.column_labels.push_back(fmt::format("R{}", r));
  for (const FragmentElement& e : f.elements) {
    if (e.thread >= g.rows || e.reg >= g.columns) continue;
    layout::Cell& cell = g.at(e.thread, e.reg);
    cell.text += fmt::format("{}({},{})", cell.text.empty() ? "" : " ", e.row, e.column);
    cell.tip = fmt::format("thread {} register {}: {}", e.thread, e.reg, cell.text);
    cell.key = static_cast<int>(e.thread % 32);
  }
  return g;
}

}  // namespace drywell::sim
