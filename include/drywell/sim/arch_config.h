// What an architecture is made of, as data: sizes, rates and latencies, each with where the figure comes
// from. Legality (which PTX a target has) is apart: drywell/isa/target.h.
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

/// Where a figure comes from, best first.
enum class Provenance : uint8_t {
  documented,  // by NVIDIA
  measured,    // on this chip (sm_100a: B200; sm_90a: H100, H200), published or by this project
  derived,     // computed from measured figures, or measured on a sibling chip (B300 for sm_100a, Hopper for
               // Blackwell)
  assumed,     // nobody has published it
};
std::string_view provenance_name(Provenance p);

/// The matrix unit a chip has; the sections [tmem] and [umma], or [wgmma], exist accordingly.
enum class TensorCore : uint8_t { umma, wgmma };

/// What an instruction occupies. alu … control exist once per sub-partition, the others once per SM.
enum class Pipe : uint8_t { none, alu, fma, half, f64, xu, control, mma, lsu, barrier, tma, tensor, tmem };
std::string_view pipe_name(Pipe p);
/// One per SM rather than one per sub-partition.
constexpr bool is_shared(Pipe p) { return p >= Pipe::lsu; }

/// Cost of a timing class for one warp instruction.
struct ClassCost {
  /// Cycles from issue until a dependent instruction may issue. Asynchronous classes: until the issuing warp
  /// goes on.
  double latency = 0;
  /// Cycles the pipe stays occupied. 0 with pipe none: folded by ptxas, costs nothing.
  double interval = 0;
  Pipe pipe = Pipe::none;
};

/// One figure with its papers.
struct ArchEntry {
  std::string key;    // "smem.banks", "class.fma.latency"
  std::string value;  // as text
  std::string unit;   // may be empty
  Provenance provenance = Provenance::assumed;
  std::string source;
  std::string doc;
  SourcePos where;  // of the value, in the file that gave it
};

/// Figures of an architecture. Made by load_arch or parse_arch, then passed by const reference.
struct ArchConfig {
  using Integer = uint64_t;
  using Real = double;
  using Flag = bool;

  std::string name;         // "sm_100a"
  std::string description;  // "NVIDIA B200 …"
  isa::Target target = isa::Target::sm_100a;
  TensorCore tensor = TensorCore::umma;

#define ARCH_SECTION(SECTION_, TENSOR_, DOC_) struct {
#define ARCH_VALUE(SECTION_, NAME_, TYPE_, UNIT_, LEAST_, GREATEST_, ...) TYPE_ NAME_{};
#define ARCH_END(SECTION_) \
  }                        \
  SECTION_;
#include "drywell/sim/arch_keys.inc"
#undef ARCH_SECTION
#undef ARCH_VALUE
#undef ARCH_END

  std::array<ClassCost, static_cast<size_t>(isa::TimingClass::count_)> classes{};
  const ClassCost& cost(isa::TimingClass c) const { return classes[static_cast<size_t>(c)]; }

  /// Every figure, in the order of the schema.
  std::vector<ArchEntry> entries;

  double cycles_from_ns(double ns) const { return ns * chip.clock; }
  double seconds(double cycles) const { return cycles / (chip.clock * 1e9); }
};

/// A row of the schema.
struct ArchKey {
  std::string key;
  std::string type;  // "integer", "real", "flag", "pipe"
  std::string unit;
  double least = 0, greatest = 0;
  bool required = true;
  std::string doc;
};
std::vector<ArchKey> arch_schema(TensorCore tensor);

/// Names of the architectures built into the library: "sm_100a", "sm_90a".
std::vector<std::string_view> builtin_arch_names();
/// Their files' text; empty if there is no such one.
std::string_view builtin_arch_text(std::string_view name);

// Any threads may call these functions at once.

/// Loads a built-in architecture by name, or a file by path (anything with a '/' or ending in ".toml"). A
/// file may say `base = "sm_100a"` or `base = "other.toml"` (relative to itself) and give only what differs.
/// Throws InputError with everything found wrong, in the base too: E2001 no such architecture, E2002 not
/// TOML, E2003 unknown key, E2004 missing key, E2005 wrong type, E2006 out of range, E2007 provenance or
/// source missing or unknown, E2008 wrong unit, E2009 bad base, E2010 bad name, target or tensor, E2011
/// figures that contradict each other; E4001 if the file cannot be read.
ArchConfig load_arch(const std::string& name_or_path);
/// The same from text; `file` stands for it in messages and anchors a relative base.
ArchConfig parse_arch(std::string_view toml, const std::string& file);

/// The figures as a table people can read, a section at a time, with provenance and source.
std::string describe(const ArchConfig& arch, bool only_assumed);
/// The assumed figures as Markdown table rows "| key | value | why |", for docs/deviations.md.
std::string assumed_figures_markdown(const ArchConfig& arch);

}  // namespace drywell::sim
