// Conformance programs: tiny kernels with inputs and the result an independent source expects. The simulator and a real
// device run the same ones (`drywell conformance`), so that anyone with the silicon can check Drywell.
//
// Nothing that makes an expectation may include from sim/: expected values are exact integers, the formulas of the PTX
// ISA written out once more, or the fact sheets' vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/sim/device.h"
#include "kernels/accelerator.h"

namespace drywell::kernels::conformance {

/// How an output is compared.
enum class Compare : uint8_t {
  bits,     // every byte the mask selects
  ulp_f32,  // float32 values: at most `ulps` apart, NaN equal to NaN (forms PTX only bounds)
  any_nan   // float64 values: any NaN equals any other (PTX names no code)
};

/// A buffer in global memory; the kernel gets its address as parameter, in order.
struct ProgramBuffer {
  std::vector<uint8_t> initial;
  std::vector<uint8_t> expected;  // empty: not looked at
  std::vector<uint8_t> mask;      // per byte: 0 = PTX leaves it open; empty = all compared
  Compare compare = Compare::bits;
  uint32_t ulps = 0;
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
  const isa::Function& kernel() const { return module.functions.front(); }
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

/// What comparing one run yielded.
struct Outcome {
  enum class Status : uint8_t { passed, failed, faulted } status = Status::passed;
  uint64_t compared = 0, mismatches = 0;
  std::string detail;  // first mismatch or the fault
  bool passed() const { return status == Status::passed; }
};

/// Compares what a run left in the buffers with what was expected.
Outcome compare(const Program& p, const std::vector<std::vector<uint8_t>>& results);

/// Runs a program on a simulated or a real device.
Outcome run(const Program& p, Accelerator& device, const sim::RunOptions& options);

}  // namespace drywell::kernels::conformance
