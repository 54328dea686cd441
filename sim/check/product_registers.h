// Registers of a warp that wgmma reads or writes (accumulators, A in registers): other instructions that accessed them since the last
// wgmma.fence, and products that may still use them (PTX ISA 9.7.15.7.1, 9.7.15.7.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/access.h"
#include "sim/state/program.h"

namespace drywell::sim::check {

/// A move of one register, by its offset in the frame of the function; from == to: of another value.
struct RegisterCopy {
  uint32_t from, to;
};
std::optional<RegisterCopy> copy_of(const Program& p, size_t pc);

/// By pc: whether the instruction is not a product and accesses a register that some product takes, or a copy of one.
std::vector<uint8_t> uses_of_products(const Program& p);

/// The name of the register at `offset` in the frame of a function.
std::string register_name(const Program& p, uint32_t function, uint32_t offset);

class ProductRegisters {
 public:
  /// An instruction other than a product, which accessed a register.
  struct Touch {
    uint32_t pc = 0;
    LaneMask lanes = 0;
    uint64_t when = 0;    // Cluster::now
    uint32_t fences = 0;  // wgmma.fence before it, plus one; 0: there is no such instruction
  };
  /// The last product that took a register.
  struct Product {
    AccessId id = 0;      // 0: none
    uint32_t shape = 0;   // of its accumulator; 0: the register is A's
    uint32_t fences = 0;  // as in Touch
  };

  void fence() { ++fences_; }
  bool fenced() const { return fences_ != 0; }
  /// `slot`: offset in the register file.
  void touch(uint32_t slot, Touch t, bool write) {
    t.fences = fences_ + 1;
    (write ? of(slot).written : of(slot).read) = t;
  }
  /// A move is no access: compilers put moves behind the fence (two-address forms), and ptxas gives both registers one place. The copy
  /// is as new as its value. `from` and `to` may be equal: the value is no register's.
  void copy(uint32_t from, uint32_t to) {
    State s;
    if (from != to) s.written = of(from).written;
    if (from != to && of(from).product.shape != 0) s.product = of(from).product;
    of(to) = s;
  }
  void take(uint32_t slot, Product p) {
    p.fences = fences_ + 1;
    of(slot).product = p;
  }
  /// The last access since the latest wgmma.fence; nullptr: none.
  const Touch* unfenced(uint32_t slot) {
    for (const Touch* t : {&of(slot).written, &of(slot).read}) {
      if (t->fences == fences_ + 1) return t;
    }
    return nullptr;
  }
  /// A product since the latest wgmma.fence has the register as part of an accumulator of another shape (`shape` 0: as any).
  bool other_shape(uint32_t slot, uint32_t shape) {
    const Product& p = of(slot).product;
    return p.fences == fences_ + 1 && p.shape != 0 && p.shape != shape;
  }
  const Product& product_of(uint32_t slot) { return of(slot).product; }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes
  struct State {
    Touch written, read;
    Product product;
  };
  State& of(uint32_t slot) {
    if (slot / kSlot >= states_.size()) states_.resize(slot / kSlot + 1);
    return states_[slot / kSlot];
  }

  std::vector<State> states_;
  uint32_t fences_ = 0;
};

}  // namespace drywell::sim::check
