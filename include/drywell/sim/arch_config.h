// The parameters of an architecture, as data: sizes, rates and latencies, each with the source of its
// figure. The PTX that a target accepts is in drywell/isa/target.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/isa/spec.h"
#include "drywell/isa/target.h"

namespace drywell::sim {

/// Source of a figure, best first.
enum class Provenance : uint8_t {
  documented,  // by NVIDIA
  measured,    // on this chip (sm_100a: B200; sm_90a: H100, H200), published or by this project
  derived,     // computed from measured figures, or measured on a sibling chip (B300 for sm_100a, Hopper for
               // Blackwell)
  assumed,     // no figure is published
};
/// The name that architecture files use.
std::string_view provenance_name(Provenance p);

/// The matrix unit of a chip, besides the mma.sync that all have: sections [tmem] and [umma] for umma, [wgmma] for wgmma, none for
/// warp (sm_120: mma.sync alone).
enum class TensorCore : uint8_t {
  umma,
  wgmma,
  warp
};
/// The name that architecture files use.
std::string_view tensor_core_name(TensorCore t);
/// The TensorCore of that name; returns false, and leaves `out` unchanged, if there is none.
bool parse_tensor_core(std::string_view text, TensorCore& out);

/// Execution resource of an instruction. alu … control exist once per sub-partition, the others once per SM.
enum class Pipe : uint8_t {
  none,
  alu,
  fma,
  half,
  f64,
  xu,
  control,
  mma,
  lsu,
  barrier,
  tma,
  tensor,
  tmem
};
/// The name that architecture files use.
std::string_view pipe_name(Pipe p);
/// One per SM rather than one per sub-partition.
constexpr bool is_shared(Pipe p) { return p >= Pipe::lsu; }

/// Cost of a timing class for one warp instruction.
struct ClassCost {
  /// Cycles from issue until a dependent instruction may issue. Asynchronous classes: until the issuing warp
  /// continues.
  double latency = 0;
  /// Cycles for which the pipe stays occupied. 0 with pipe none: folded by ptxas, no cost.
  double interval = 0;
  Pipe pipe = Pipe::none;  // what the instruction occupies
};

/// One figure with its provenance.
struct ArchEntry {
  std::string key;                              // "smem.banks", "class.fma.latency"
  std::string value;                            // as text
  std::string unit;                             // may be empty
  Provenance provenance = Provenance::assumed;  // how good the figure is
  std::string source;                           // where it is from, or why it is assumed
  std::string doc;                              // what it means
  SourcePos where;                              // position of the value in its file
};

/// Figures of an architecture. load_arch or parse_arch creates it; it is then passed by const reference.
struct ArchConfig {
  using Integer = uint64_t;  // counts and sizes
  using Real = double;       // rates and times
  using Flag = bool;         // yes or no

  std::string name;                           // "sm_100a"
  std::string description;                    // "NVIDIA B200 …"
  isa::Target target = isa::Target::sm_100a;  // whose PTX it runs
  TensorCore tensor = TensorCore::umma;       // its matrix unit

#define ARCH_SECTION(SECTION_, TENSOR_, DOC_) struct {
#define ARCH_VALUE(SECTION_, NAME_, TYPE_, UNIT_, LEAST_, GREATEST_, ...) TYPE_ NAME_{};
#define ARCH_END(SECTION_) \
  }                        \
  SECTION_;
#include "drywell/sim/arch_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END

  std::array<ClassCost, static_cast<size_t>(isa::TimingClass::count_)> classes{};  // by isa::TimingClass
  /// The cost of a class.
  const ClassCost& cost(isa::TimingClass c) const { return classes[static_cast<size_t>(c)]; }

  /// Every figure, in the order of the schema.
  std::vector<ArchEntry> entries;

  /// Cycles of the nominal clock.
  double cycles_from_ns(double ns) const { return ns * chip.clock; }
  /// Seconds at the nominal clock.
  double seconds(double cycles) const { return cycles / (chip.clock * 1e9); }
};

/// A row of the schema.
struct ArchKey {
  std::string key;                 // "smem.banks"
  std::string type;                // "integer", "real", "flag", "pipe"
  std::string unit;                // may be empty
  double least = 0, greatest = 0;  // range of a number
  bool required = true;            // false: it has a fallback
  std::string doc;                 // what it means
};
/// All figures of an architecture with this tensor core, in the order of its file.
std::vector<ArchKey> arch_schema(TensorCore tensor);

/// Names of the architectures built into the library: "sm_100a", "sm_90a".
std::vector<std::string_view> builtin_arch_names();
/// Text of a built-in architecture's file; empty if `name` is not one.
std::string_view builtin_arch_text(std::string_view name);

// Any threads may call these functions at once.

/// Loads a built-in architecture by name, or a file by path (anything with a '/' or ending in ".toml"). A
/// file may contain `base = "sm_100a"` or `base = "other.toml"` (relative to itself) and then only the figures that differ.
/// With `inherited = "assumed"` the base's figures are assumed here: the base is another machine.
/// Throws InputError with every error, including those of the base: E2001 no such architecture, E2002 not
/// TOML, E2003 unknown key, E2004 missing key, E2005 wrong type, E2006 out of range, E2007 provenance or
/// source missing or unknown, E2008 wrong unit, E2009 bad base, E2010 bad name, target or tensor, E2011
/// figures that contradict each other; E4001 if the file cannot be read.
ArchConfig load_arch(const std::string& name_or_path);
/// The same from text; messages use the name `file`, and a relative base is relative to it.
ArchConfig parse_arch(std::string_view toml, const std::string& file);

/// The figures as a table for people, one section after the other, with provenance and source.
std::string describe(const ArchConfig& arch, bool only_assumed);
/// The assumed figures as Markdown table rows "| key | value | why |", for docs/deviations.md.
std::string assumed_figures_markdown(const ArchConfig& arch);

}  // namespace drywell::sim
