// Names of a PTX text: nested scopes in which inner declarations hide outer ones, and the choice of names
// that stay unique once the scopes of a function are flattened.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Hash map from names to numbers; names are views that must outlive the map. Clearing is cheap.
class NameMap {
 public:
  static constexpr uint32_t kAbsent = ~uint32_t{0};
  NameMap() : slots_(64) {}
  /// The number of `name`, or kAbsent.
  uint32_t find(std::string_view name) const;
  /// Returns a reference to the number of `name`; a new name's number is kAbsent. The reference is valid
  /// until the next call.
  uint32_t& at(std::string_view name);
  void clear();

 private:
  struct Slot {
    std::string_view name;
    uint64_t hash = 0;
    uint32_t value = kAbsent;
    uint32_t epoch = 0;
  };
  size_t probe(std::string_view name, uint64_t hash) const;
  void grow();

  std::vector<Slot> slots_;
  size_t used_ = 0;
  uint32_t epoch_ = 1;
};

enum class NameKind : uint8_t {
  reg,
  reg_range,
  vector_reg,
  variable,
  param,
  local,
  function,
  branch_targets,
  call_targets,
  prototype,
  label
};

/// The object that a name denotes.
struct Binding {
  std::string_view name;
  NameKind kind{};
  uint32_t depth = 0;
  uint32_t index = 0;                    // first register, or index into the list of `kind`
  uint32_t count = 0;                    // registers of a range or a vector
  uint32_t previous = NameMap::kAbsent;  // hidden binding of the same name
  uint32_t symbol = 0;                   // Function::symbols index, valid while symbol_function is the current function
  uint32_t symbol_function = 0;
};

class Names {
 public:
  uint32_t depth() const { return static_cast<uint32_t>(starts_.size()); }
  void open() { starts_.push_back(static_cast<uint32_t>(bindings_.size())); }
  void close();
  /// Clears the printed names of the previous function.
  void begin_function();

  /// Adds a name to the innermost scope; returns nullptr if that scope already has it. A range is declared by
  /// its prefix.
  Binding* declare(std::string_view name, NameKind kind, uint32_t index, uint32_t count = 0);
  /// Returns the innermost binding, ranges aside; nullptr if there is none.
  Binding* find(std::string_view name);
  /// Returns the binding of that name in the current scope; nullptr if there is none.
  Binding* find_here(std::string_view name);
  /// Returns the register `name` of a declared range, or kNoReg; `depth` is the scope of the range.
  RegId find_in_ranges(std::string_view name, uint32_t& depth) const;
  /// Returns the range whose prefix is `name` without its last digits, for hints; nullptr if there is none.
  const Binding* near_range(std::string_view name) const;

  /// Returns a name for printing that nothing in this function or at module scope has: `name` itself if it is
  /// free.
  std::string_view unique(std::string_view name);
  /// Returns a prefix for printing such that prefix0 … prefix(count-1) are free.
  std::string_view unique_prefix(std::string_view prefix, uint32_t count);

  /// Marks `name` as used in this function.
  void reserve(std::string_view name) { mark(name); }
  /// Returns a view of `text` that is valid until the next function begins.
  std::string_view keep(std::string text);

 private:
  bool is_used(std::string_view name) const;
  bool range_is_used(std::string_view prefix, uint32_t count) const;
  void mark(std::string_view name);

  std::vector<Binding> bindings_;
  std::vector<uint32_t> starts_;
  NameMap names_, ranges_;  // → innermost binding
  NameMap used_, suffix_;   // printed names; next suffix to try
  NameMap used_ranges_;     // printed range prefix → count
  NameMap stems_;           // printed names and prefixes that may collide with a range, without last digits
  std::deque<std::string> kept_;
};

}  // namespace drywell::isa
