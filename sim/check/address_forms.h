// What the addresses of a program are made of, by its text: sums of registers and variables times constants, and where the program redefines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/check/registers.h"

namespace drywell::sim::check {

/// A register of a function, by its offset in the frame, or a variable.
struct AddressRoot {
  bool variable = false;
  uint32_t index = 0;  // variable: the symbol's kind in the upper eight bits
  auto operator<=>(const AddressRoot&) const = default;
};

/// Of one address. Arithmetic wraps, and conversions between 32 and 64 bits change nothing: a right program's addresses have no overflow.
struct AddressForm {
  using Terms = std::vector<std::pair<AddressRoot, uint64_t>>;  // sorted; each root once, no factor is 0
  uint32_t function = 0;
  Terms terms;
  int64_t offset = 0;
  std::map<size_t, std::set<uint32_t>> made_at;  // pcs of the instructions between the roots and the address: which registers among the roots each is made of

  /// The one variable that it is; nothing: another form, or with an offset.
  std::optional<uint32_t> variable() const;
};

class AddressForms {
 public:
  explicit AddressForms(const Program& p);
  /// Of a variable, as a root.
  static uint32_t number(const isa::SymbolRef& s) { return static_cast<uint32_t>(s.kind) << 24 | s.index; }

  /// Of an access. Nothing: it has no address, or an absolute one.
  std::optional<AddressForm> of(size_t pc) const;
  AddressForm of_register(uint32_t function, uint32_t index, int64_t offset) const;
  /// The parameter of its function that the address was loaded from.
  std::optional<uint32_t> parameter(const AddressForm& form) const;
  /// The same register and offset, with no look at how it was made. Nothing: the address has no register.
  std::optional<AddressForm> unfollowed(size_t pc) const;

  /// How far the address of the access `to` may lie behind that of `from`, on the paths on which no register among the latter's roots gets another value and which don't come back to `from`.
  /// The former may have one root more, whose values on such a path are constants (the index in a window of slots). Empty: nothing is known of it.
  std::set<int64_t> distances(const AddressForm& one, size_t from, const AddressForm& other, size_t to);
  /// The form's roots have, at the access `pc`, the values of which its address was made.
  bool holds_at(const AddressForm& form, size_t pc);

 private:
  using Register = std::pair<uint32_t, uint32_t>;  // function, offset in its frame

  struct Chain {
    std::vector<size_t> pcs;  // instructions that lead from a register to the address
    size_t steps = 0;         // those that have been followed for it, on all ways
  };

  void add_register(AddressForm& form, uint32_t reg, uint64_t factor, Chain& chain) const;
  bool add_result(AddressForm& form, size_t pc, uint64_t factor, Chain& chain) const;
  void add_operand(AddressForm& form, const isa::Operand& o, uint64_t factor, Chain& chain) const;
  std::optional<size_t> definition(Register r) const;
  std::vector<size_t> changes(Register r) const;
  std::vector<int64_t> constants(size_t pc) const;
  bool reaches(size_t from, size_t to, const std::set<size_t>& avoided);
  std::set<size_t> last_definitions(Register r, size_t from, size_t to, const std::set<size_t>& avoided);
  template <class F>
  void each_next(size_t pc, F f) const;

  // Registers that are redefined in the same places by the same sums, but for a constant: the generic and the global address of one thing, in a loop.
  struct Twin {
    Register first;
    int64_t distance = 0;  // from the first one
  };
  void find_twins();
  std::vector<AddressForm> sums(Register r) const;
  std::optional<int64_t> distance(Register one, const std::vector<AddressForm>& of_one, Register other, const std::vector<AddressForm>& of_other);
  bool nothing_between(size_t from, size_t to, const AddressForm& form) const;

  const Program& p_;
  PredicateUse predicates_;
  std::map<Register, std::vector<size_t>> definitions_;
  std::set<size_t> targets_;  // of branches
  std::map<Register, Twin> twins_;
  size_t budget_ = 2'000'000;  // instructions that reaches() may visit, in all
};

}  // namespace drywell::sim::check
