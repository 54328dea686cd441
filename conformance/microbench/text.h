// Text helpers for the kernels of microbenchmarks.
#pragma once

#include <string>
#include <string_view>

#include "conformance/microbench/microbench.h"

namespace drywell::kernels::microbench {

/// The parts of one kernel. Free registers: %r10…, %rd10…, %f, %h, %fd, %p0…%p5, %q, and %va, %vb, %vc, %vd for values of vectors.
/// Given: %r0 tid, %r1 count, %r2 address of `area`, %r3 address of 16 mbarriers, %r4 a zero that ptxas cannot prove, %rd0 out, %rd1
/// memory, %rd2 the tensor map, %first (thread 0), %f0 a zero that ptxas cannot prove, %warp0 (first warp).
struct KernelText {
  std::string setup;           // before the first clock
  std::string loop;            // the timed code
  std::string finish;          // after the second clock, before the kernel ends
  std::string keep;            // 32-bit register whose value must be computed; may be empty
  unsigned smem_bytes = 1024;  // of `area`
  unsigned threads = 32;       // .reqntid
  bool has_map = false;
  bool nanoseconds = false;   // %globaltimer instead of %clock64
  bool dynamic_smem = false;  // `area` is the launch's dynamic shared memory
};
std::string kernel_text(const KernelText& k);
/// Returns the microbenchmark that runs `k` in one CTA.
Microbench microbench(std::string name, std::string family, bool fitted, Unit unit, double work, const KernelText& k);

/// Returns `pattern` with every `mark` replaced.
std::string substitute(std::string_view pattern, std::string_view mark, std::string_view with);
/// Returns `pattern` once for each n in [0, n), with n in place of "{n}" and first + n * step in place of "{i}". Results go
/// to separate registers, as in a compiler's code: the simulator's scoreboard tracks PTX registers.
std::string repeat(unsigned n, std::string_view pattern, unsigned first = 0, unsigned step = 1);
/// Returns a loop around `body` for the threads that reach it, with the counter register `counter`.
std::string counted_loop(std::string_view label, std::string_view counter, std::string_view body);
/// mbarrier.init of `n` barriers at %r3 with `arrivals` each, by thread 0, then bar.sync.
std::string init_barriers(unsigned n, unsigned arrivals);
/// Waits for `parity` (a register or number) of the barrier at `address` (as in "[%r3+8]").
std::string wait(std::string_view label, std::string_view address, std::string_view parity);

// ---- operands of tensor instructions in `area`: A of 128 rows of 128 bytes, then B of 256, K-major in 128-byte swizzled rows

/// Fills `bytes` of `area` by all threads with words that differ, and orders them before the async proxy's reads.
std::string fill_area(unsigned threads, unsigned bytes);
/// The descriptors of A and B into %rd10 and %rd11 (PTX ISA, matrix descriptor); those of tcgen05 have a version, wgmma's have none.
std::string operand_descriptors(bool of_tcgen05);
/// The first warp allocates all columns of tensor memory: %r10 is their address, %r12 that of the upper half, %r11 a parity of 0.
std::string tmem_allocation();
std::string tmem_release();
/// Thread 0 issues, commits to the barrier at %r3 and waits, with %r11 as parity; the other threads go on.
std::string issued_by_first_thread(const std::string& issue);

}  // namespace drywell::kernels::microbench
