// Conformance programs: tiny kernels with inputs and the result an independent source expects. The simulator and a real
// device run the same ones (`drywell conformance`), so that anyone with the silicon can check Drywell.
//
// Nothing that makes an expectation may include from sim/: expected values are exact integers, the formulas of the PTX
// ISA written out once more, or the vectors of tests/data/numerics.
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
#include "drywell/sim/device.h"
#include "launch/accelerator.h"

namespace drywell::kernels::conformance {

/// How an output is compared.
enum class Compare : uint8_t {
  bits,     // every byte the mask selects
  ulp_f32,  // values of that format: at most `ulps` apart, NaN equal to NaN (forms PTX only bounds)
  ulp_f16,
  ulp_bf16,
  ulp_f64,
  any_nan   // float64 values: any NaN equals any other (PTX names no code)
};

/// A buffer in global memory; the kernel gets its address as parameter, in order.
struct ProgramBuffer {
  std::vector<uint8_t> initial;
  std::vector<uint8_t> expected;  // empty: not looked at
  std::vector<uint8_t> mask;      // per byte: 0 = PTX leaves it open; empty = all compared
  Compare compare = Compare::bits;
  uint64_t ulps = 0;
};

/// A tiled or im2col tensor map over a buffer; parameters after the buffers', in order. The address is filled in at launch.
struct ProgramMap {
  isa::TensorMapFields fields;
  size_t buffer = 0;
  uint64_t offset = 0;
};

/// One program, ready to launch.
struct Program {
  isa::Module module;  // one entry
  sim::LaunchConfig launch;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramMap> maps;
  std::string fault;   // code of the fault that must end the launch; a GPU only says that it failed. Empty: none may
  const isa::Function& kernel() const;
};

/// What the suite lists; `make` builds the program for a target and throws InputError if the target has not the
/// instructions.
struct ProgramSpec {
  std::string name;    // "add.s32", "tma.tile.2d.swizzle128"
  std::string family;  // "integer", "tma"
  std::function<Program(isa::Target)> make;
};

/// Every program, in the order they are listed.
std::vector<ProgramSpec> suite();

/// The program for the first of the targets that has its instructions, or nothing (E1210: a row names the feature).
std::optional<Program> make_for(const ProgramSpec& s, std::span<const isa::Target> targets);

/// The rows that occur in the program.
std::set<isa::Opcode> rows_of(const ProgramSpec& s);

/// Targets whose rows together are all that the suite covers.
inline constexpr isa::Target kSuiteTargets[] = {isa::Target::sm_100a, isa::Target::sm_90a, isa::Target::sm_103a};

/// What comparing one run yielded.
struct Outcome {
  enum class Status : uint8_t { passed, failed, faulted } status = Status::passed;
  uint64_t compared = 0, mismatches = 0;
  std::string detail;  // first mismatch or the fault
  bool launch_failed = false;  // also where it had to: a GPU's context does not survive that
  bool passed() const { return status == Status::passed; }
};

/// Compares what a run left in the buffers with what was expected.
Outcome compare(const Program& p, const std::vector<std::vector<uint8_t>>& results);

/// Runs a program on a simulated or a real device.
Outcome run(const Program& p, Accelerator& device, const sim::RunOptions& options);

}  // namespace drywell::kernels::conformance
