// Tensor copies through TMA (PTX ISA 9.7.9.27): tiles of every rank, swizzle and element size, edges, element strides,
// stores and reductions. The expected image is computed element by element from the definition.
#include <fmt/format.h>

#include <cstring>

#include "conformance/programs/families.h"
#include "drywell/isa/builder.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

using namespace isa;

constexpr uint32_t kThreads = 128;

struct Copy {
  std::string name;
  TensorMapFields map;
  std::array<int32_t, 5> at{};
  const char* reduce = nullptr;  // "add" …: a reduction; the element type is the map's
  bool store = false;
};

uint32_t element_bytes(const TensorMapFields& f) { return element_bits(f.type) / 8; }
// Element stride s takes every s-th element of the box: ceil(box / s) elements (CUDA driver API, cuTensorMapEncodeTiled).
uint32_t extent(const TensorMapFields& f, uint32_t d) { return d == 0 ? f.box[0] : d < f.rank ? (f.box[d] + f.element_stride[d] - 1) / f.element_stride[d]
                                                                                              : 1; }
uint32_t tile_bytes(const TensorMapFields& f) {
  uint32_t n = element_bytes(f);
  for (uint32_t d = 0; d < f.rank; ++d) n *= extent(f, d);
  return n;
}
uint64_t tensor_bytes(const TensorMapFields& f) {
  return f.rank == 1 ? f.dim[0] * element_bytes(f) : f.stride[f.rank - 2] * f.dim[f.rank - 1];
}

// Returns the place of byte `offset` of the dense tile in shared memory: the 16-byte chunk's number is XORed with the number
// of its 128-byte line, modulo the swizzle's period (docs/facts/tma-mbarrier.md §2.5). The tile starts at a multiple of 1024.
uint32_t swizzled(Swizzle s, uint32_t offset) {
  const uint32_t line = offset >> 7;
  switch (s) {
    case Swizzle::b32: return offset ^ (line & 1) << 4;
    case Swizzle::b64: return offset ^ (line & 3) << 4;
    case Swizzle::b128: return offset ^ (line & 7) << 4;
    default: return offset;
  }
}

// Number of elements of a row that the copy may access: stores and reductions clip at 16 bytes (docs/facts/tma-mbarrier.md §2.4 note s, H200).
int64_t writable_row(const Copy& c) {
  const uint64_t chunk = 16 / element_bytes(c.map), n = c.map.dim[0];
  return static_cast<int64_t>(c.store ? (n + chunk - 1) / chunk * chunk : n);
}

// Calls visit(byte offset in the dense tile, byte offset in the tensor or -1 outside) for each element.
template <class F>
void for_elements(const Copy& c, F visit) {
  const TensorMapFields& f = c.map;
  uint32_t i[5]{};
  uint32_t offset = 0;
  for (i[4] = 0; i[4] < extent(f, 4); ++i[4])
    for (i[3] = 0; i[3] < extent(f, 3); ++i[3])
      for (i[2] = 0; i[2] < extent(f, 2); ++i[2])
        for (i[1] = 0; i[1] < extent(f, 1); ++i[1])
          for (i[0] = 0; i[0] < extent(f, 0); ++i[0], offset += element_bytes(f)) {
            bool inside = true;
            int64_t address = 0;
            for (uint32_t d = 0; d < f.rank; ++d) {
              // The innermost traversal stride has no effect (docs/facts/tma-mbarrier.md §2.4, H200).
              const int64_t x = c.at[d] + int64_t{i[d]} * (d == 0 ? 1 : f.element_stride[d]);
              inside = inside && x >= 0 && x < (d == 0 ? writable_row(c) : static_cast<int64_t>(f.dim[d]));
              address += x * (d == 0 ? int64_t{element_bytes(f)} : static_cast<int64_t>(f.stride[d - 1]));
            }
            visit(offset, inside ? address : -1);
          }
}

class CopyKernel {
 public:
  CopyKernel(const Copy& c, Target target) : k_("tma", target), c_(c) {}

  Module build() {
    tensor_ = k_.param(Mod::u64, "tensor");
    linear_ = k_.param(Mod::u64, "linear");
    map_ = k_.param_bytes("map", kTensorMapBytes, 64);
    const uint32_t bytes = (tile_bytes(c_.map) + 15) / 16 * 16;
    tile_symbol_ = k_.shared("tile", bytes, 1024);
    const Symbol bar = k_.shared("bar", 8, 8);
    tid_ = k_.def("mov.u32", SpecialReg::tid_x);
    tile_ = k_.def("mov.u32", tile_symbol_);
    first_ = k_.reg(Mod::pred);
    k_("setp.eq.u32", first_, tid_, 0);
    map_address_ = k_.def("cvta.param.u64", map_);
    if (c_.store) {
      store(bytes);
    } else {
      load(bar, bytes);
    }
    return k_.finish();
  }

 private:
  std::string dims() const { return fmt::format("{}d", c_.map.rank); }
  Arg box() {
    Arg a = tensor(map_address_, {});
    Arg& coordinates = a.parts.at(1);
    for (uint32_t d = 0; d < c_.map.rank; ++d) coordinates.parts.push_back(k_.def("mov.u32", c_.at[d]));
    return a;
  }
  // Threads move the tile between shared memory and the linear buffer, 4 bytes at a time each.
  void move(uint32_t bytes, bool to_shared) {
    const Reg global = k_.load_param(linear_, Mod::u64);
    k_.for_range(tid_, bytes / 4, kThreads, [&](Reg i) {
      const Reg at = k_.def("mad.wide.u32", i, 4, global), shared = k_.def("mad.lo.u32", i, 4, tile_);
      if (to_shared) {
        k_("st.shared.b32", mem(shared), k_.def("ld.global.b32", mem(at)));
      } else {
        k_("st.global.b32", mem(at), k_.def("ld.shared.b32", mem(shared)));
      }
    });
  }
  void load(Symbol bar, uint32_t bytes) {
    // Bytes that the copy does not write keep this pattern.
    k_.for_range(tid_, bytes / 4, kThreads, [&](Reg i) { k_("st.shared.b32", mem(k_.def("mad.lo.u32", i, 4, tile_)), 0x5A5A5A5A); });
    k_.if_(first_, [&] {
      k_("mbarrier.init.shared::cta.b64", mem(bar), 1);
      k_("fence.mbarrier_init.release.cluster");
    });
    k_("fence.proxy.async.shared::cta");
    k_("bar.sync", 0);
    k_.if_(first_, [&] {
      k_("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar), tile_bytes(c_.map));
      k_.emit(OpText(fmt::format("cp.async.bulk.tensor.{}.shared::cluster.global.tile.mbarrier::complete_tx::bytes", dims())), {mem(tile_), box(), mem(bar)});
    });
    k_.do_while([&] {
      const Reg done = k_.reg(Mod::pred), again = k_.reg(Mod::pred);
      k_("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
      k_("not.pred", again, done);
      return again;
    });
    move(bytes, false);
  }
  void store(uint32_t bytes) {
    move(bytes, true);
    k_("fence.proxy.async.shared::cta");
    k_("bar.sync", 0);
    k_.if_(first_, [&] {
      const std::string op = c_.reduce == nullptr ? fmt::format("cp.async.bulk.tensor.{}.global.shared::cta.tile.bulk_group", dims())
                                                  : fmt::format("cp.reduce.async.bulk.tensor.{}.global.shared::cta.{}.tile.bulk_group", dims(), c_.reduce);
      k_.emit(OpText(op), {box(), mem(tile_)});
      k_("cp.async.bulk.commit_group");
      k_("cp.async.bulk.wait_group", 0);
    });
  }

  KernelBuilder k_;
  const Copy& c_;
  Symbol tensor_, linear_, map_, tile_symbol_;
  Reg tid_, tile_, first_, map_address_;
};

// Integer reductions; values have the width of the element (PTX ISA 9.7.9.27.2).
uint64_t reduced(const std::string& op, TensorType t, uint64_t a, uint64_t b) {
  const bool is_signed = t == TensorType::s32 || t == TensorType::s64;
  const auto wide = [&](uint64_t v) { return t == TensorType::s32 ? static_cast<int64_t>(static_cast<int32_t>(v)) : static_cast<int64_t>(v); };
  if (op == "add") return a + b;
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "inc") return a >= b ? 0 : a + 1;
  if (op == "dec") return a == 0 || a > b ? b : a - 1;
  const bool less = is_signed ? wide(a) < wide(b) : a < b;
  return (op == "min") == less ? a : b;
}

std::vector<uint8_t> random_bytes(uint64_t n, uint64_t seed) {
  std::vector<uint8_t> v(n);
  for (uint64_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(random_word(seed, i) >> 24);
  return v;
}

Program make(const Copy& c, Target target) {
  Program p;
  p.module = CopyKernel(c, target).build();
  p.launch = {.grid = {1}, .block = {kThreads}};
  const uint32_t e = element_bytes(c.map), tile = (tile_bytes(c.map) + 15) / 16 * 16;
  ProgramBuffer tensor, linear;
  tensor.initial = random_bytes(tensor_bytes(c.map), 11);
  linear.initial = random_bytes(tile, 12);
  if (c.store) {
    tensor.expected = tensor.initial;
    for_elements(c, [&](uint32_t offset, int64_t at) {
      if (at < 0) return;  // nothing is written outside the tensor
      const uint8_t* from = linear.initial.data() + swizzled(c.map.swizzle, offset);
      uint64_t b = 0, a = 0;
      std::memcpy(&b, from, e);
      std::memcpy(&a, tensor.initial.data() + at, e);
      const uint64_t v = c.reduce == nullptr ? b : reduced(c.reduce, c.map.type, a, b);
      std::memcpy(tensor.expected.data() + at, &v, e);
    });
  } else {
    linear.expected.assign(tile, 0x5A);
    for_elements(c, [&](uint32_t offset, int64_t at) {
      uint8_t* to = linear.expected.data() + swizzled(c.map.swizzle, offset);
      if (at < 0) {
        std::memset(to, 0, e);
      } else {
        std::memcpy(to, tensor.initial.data() + at, e);
      }
    });
  }
  p.buffers = {std::move(tensor), std::move(linear)};
  p.maps = {{c.map, 0, 0}};
  return p;
}

TensorMapFields map2d(TensorType t, Swizzle s, uint32_t inner, uint32_t rows, uint64_t dim0, uint64_t dim1) {
  TensorMapFields f;
  f.type = t;
  f.rank = 2;
  f.dim = {dim0, dim1, 1, 1, 1};
  f.stride = {(dim0 * element_bits(t) / 8 + 15) / 16 * 16};
  f.box = {inner, rows, 1, 1, 1};
  f.swizzle = s;
  return f;
}

void swizzles(std::vector<Copy>& out) {
  struct Mode {
    const char* name;
    Swizzle swizzle;
    uint32_t bytes;
  };
  struct Size {
    const char* name;
    TensorType type;
  };
  for (const Mode m : {Mode{"none", Swizzle::none, 64}, Mode{"32", Swizzle::b32, 32}, Mode{"64", Swizzle::b64, 64}, Mode{"128", Swizzle::b128, 128}}) {
    for (const Size s : {Size{"u8", TensorType::u8}, Size{"u16", TensorType::u16}, Size{"f32", TensorType::f32}, Size{"u64", TensorType::u64}}) {
      const uint32_t inner = m.bytes / (element_bits(s.type) / 8);
      const int32_t chunk = static_cast<int32_t>(16 / (element_bits(s.type) / 8)), tile = static_cast<int32_t>(inner);
      const TensorMapFields f = map2d(s.type, m.swizzle, inner, 24, 3 * inner + 2, 50);
      const std::string form = fmt::format("2d.{}.swizzle-{}", s.name, m.name);
      for (const bool store : {false, true}) {
        const char* what = store ? "store" : "load";
        out.push_back({fmt::format("tma.{}.{}", what, form), f, {tile, 5}, nullptr, store});
        out.push_back({fmt::format("tma.{}.{}/past-the-end", what, form), f, {3 * tile, 40}, nullptr, store});
      }
      // Starts are multiples of 16 bytes, and only loads may start before the tensor (docs/facts/tma-mbarrier.md §2.3).
      out.push_back({fmt::format("tma.load.{}/before-the-start", form), f, {-chunk, -7}});
    }
  }
}

TensorMapFields map_of_rank(uint32_t rank) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = rank;
  constexpr uint64_t kDim[] = {20, 7, 5, 4, 3};
  constexpr uint32_t kBox[] = {8, 4, 3, 2, 2};
  uint64_t bytes = 4;
  for (uint32_t d = 0; d < rank; ++d) {
    f.dim[d] = kDim[d];
    f.box[d] = kBox[d];
    bytes *= kDim[d];
    if (d + 1 < rank) {
      bytes = (bytes + 15) / 16 * 16 + (d == 0 ? 16 : 0);  // a pitch wider than the row
      f.stride[d] = bytes;
    }
  }
  return f;
}

void ranks(std::vector<Copy>& out) {
  for (uint32_t rank = 1; rank <= 5; ++rank) {
    for (const bool store : {false, true}) {
      const char* what = store ? "store" : "load";
      out.push_back({fmt::format("tma.{}.{}d", what, rank), map_of_rank(rank), {4, 1, 1, 1, 0}, nullptr, store});
      out.push_back({fmt::format("tma.{}.{}d/edge", what, rank), map_of_rank(rank), {16, 5, store ? 3 : -1, 3, 2}, nullptr, store});
    }
  }
  TensorMapFields f = map2d(TensorType::u16, Swizzle::none, 32, 9, 100, 40);
  f.element_stride = {1, 3, 1, 1, 1};
  out.push_back({"tma.load.2d/element-strides", f, {16, 4}});
}

void reductions(std::vector<Copy>& out) {
  for (const char* op : {"add", "min", "max", "and", "or", "xor", "inc", "dec"}) {
    for (const auto& [name, type] : {std::pair{"u32", TensorType::u32}, std::pair{"s32", TensorType::s32}, std::pair{"u64", TensorType::u64}}) {
      const std::string o = op;
      if ((o == "inc" || o == "dec") && type != TensorType::u32) continue;
      if (type == TensorType::s32 && o != "add" && o != "min" && o != "max") continue;
      out.push_back({fmt::format("tma.reduce.{}.{}", op, name), map2d(type, Swizzle::none, 16, 12, 36, 30), {24, 20}, op, true});
    }
  }
}

}  // namespace

void add_tma(std::vector<ProgramSpec>& out) {
  std::vector<Copy> copies;
  swizzles(copies);
  ranks(copies);
  reductions(copies);
  for (Copy& c : copies) {
    std::string name = c.name;
    out.push_back({std::move(name), "tma", [c = std::move(c)](Target t) { return make(c, t); }});
  }
}

}  // namespace drywell::kernels::conformance
