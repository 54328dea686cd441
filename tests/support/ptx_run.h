// Running instructions from PTX text: one thread per input, results compared by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::test {

/// The built-in machine that runs PTX for `target`: the target itself, its chip's "a", or sm_100a.
std::string machine_for(const std::string& target);

/// One value per thread; narrow values right-aligned.
using Column = std::vector<uint64_t>;

/// Parses a module from text; fails the test (and throws) with the diagnostics if it is not legal PTX.
isa::Module parse_or_throw(std::string_view text);

/// Runs `body` once per row of the inputs and returns one column per output. Registers are named by a letter
/// for the width and a number: b 8, h 16, w 32, d 64 bits, p predicate (0 or 1 in the column). `inputs` are
/// loaded before the body and `outputs` stored behind it; outputs that are no inputs start as all ones. Other
/// registers the body uses go into `extra`.
std::vector<Column> run_lanes(const std::string& body, const std::vector<std::string>& outputs,
                              const std::vector<std::string>& inputs, const std::vector<Column>& values,
                              const std::vector<std::string>& extra = {});

/// Deterministic pseudo-random words.
class Words {
 public:
  explicit Words(uint64_t seed) : state_(seed) {}
  uint64_t next();

 private:
  uint64_t state_;
};

/// Values of `bits` width that integer arithmetic trips over, then random ones, `count` in all.
Column integer_values(unsigned bits, size_t count, uint64_t seed);
/// The same for an IEEE format of 1 + exponent + fraction bits: zeros, subnormals, ties, infinities, NaNs,
/// random words, and random values of moderate exponent.
Column float_values(unsigned exponent_bits, unsigned fraction_bits, size_t count, uint64_t seed);

}  // namespace drywell::test
