// Conformance programs: very small kernels with inputs and the expected value from an independent source. The simulator
// and a real device run the same programs (`drywell conformance`), so that people with the device can check Drywell.
//
// Code that computes expected values must not include from sim/: the expected values are exact integers, a second
// implementation of the PTX ISA's formulas, or the fact sheets' vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/launch/accelerator.h"
#include "drywell/sim/device.h"

namespace drywell::kernels::conformance {

/// Method of comparison of an output.
enum class Compare : uint8_t {
  bits,     // every byte the mask selects
  ulp_f32,  // values of that format: at most `ulps` apart, NaN equal to NaN (forms with an error bound in PTX)
  ulp_f16,
  ulp_bf16,
  ulp_f64,
  any_nan  // float64 values: any NaN equals any other (PTX specifies no code)
};

/// A buffer in global memory; the kernel's parameters are the buffers' addresses, in order.
struct ProgramBuffer {
  std::vector<uint8_t> initial;
  std::vector<uint8_t> expected;  // empty: not compared
  std::vector<uint8_t> mask;      // per byte: 0 = PTX does not specify it; empty = all compared
  Compare compare = Compare::bits;
  uint64_t ulps = 0;
};

/// A tiled or im2col tensor map over a buffer; these parameters follow the buffers', in order. The launch sets the address.
struct ProgramMap {
  isa::TensorMapFields fields;
  size_t buffer = 0;
  uint64_t offset = 0;
};

/// One program, ready for a launch.
struct Program {
  isa::Module module;  // one entry
  sim::LaunchConfig launch;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramMap> maps;
  std::optional<Code> fault;  // the expected fault of the launch; a GPU reports only that it failed. Empty: no fault
                              // is allowed
  const isa::Function& kernel() const;
};

/// Entry of the suite; `make` builds the program for a target and throws InputError if the target does not have the
/// instructions.
struct ProgramSpec {
  std::string name;    // "add.s32", "tma.tile.2d.swizzle128"
  std::string family;  // "integer", "tma"
  std::function<Program(isa::Target)> make;
  /// ptxas makes code of the program that computes something else (docs/deviations.md): a GPU's results say nothing about it.
  bool ptxas_differs = false;
};

/// Returns all programs, in the order of the listing.
std::vector<ProgramSpec> suite();

/// Returns the program for the first of the targets that has its instructions, or nothing (E1210: a row names the
/// feature).
std::optional<Program> make_for(const ProgramSpec& s, std::span<const isa::Target> targets);

/// Returns the rows of the table that the program uses.
std::set<isa::Opcode> rows_of(const ProgramSpec& s);

/// Targets whose rows together are all rows that the suite covers.
inline constexpr isa::Target kSuiteTargets[] = {isa::Target::sm_100a, isa::Target::sm_90a, isa::Target::sm_103a, isa::Target::sm_120a};

/// Result of the comparison of one run.
struct Outcome {
  enum class Status : uint8_t {
    passed,
    failed,
    faulted
  } status = Status::passed;
  uint64_t compared = 0, mismatches = 0;
  std::string detail;          // first mismatch or the fault
  bool launch_failed = false;  // also if a failure was expected: the context of a GPU is lost then
  bool passed() const { return status == Status::passed; }
};

/// Compares the buffers after a run with the expected values.
Outcome compare(const Program& p, const std::vector<std::vector<uint8_t>>& results);

/// Runs a program on a simulated or a real device.
Outcome run(const Program& p, Accelerator& device, const sim::RunOptions& options);

}  // namespace drywell::kernels::conformance
