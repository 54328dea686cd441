// Launches of any PTX: buffers, tensor maps and arguments of each launch, saved buffers, and expected values. A plan
// comes from command-line words or from a small TOML file with the same words (docs/running-ptx.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/types.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/launch/accelerator.h"
#include "drywell/sim/device.h"

namespace drywell::kernels {

/// "f32[64,128]:random,seed=3", "bf16[64]:random,of=-1|0|2", "u8[4096]:zeros", "input.npy", "u8[4096]:file=raw.bin".
struct BufferSpec {
  enum class Init : uint8_t {
    zeros,
    ones,
    iota,
    random,
    poison,
    file
  };
  std::string name;
  std::string type;  // f32 f16 bf16 f64 u8 s8 u16 s16 u32 s32 u64 s64 b8 …
  std::vector<uint64_t> shape;
  Init init = Init::zeros;
  std::optional<uint64_t> seed;               // none: one of its own for each buffer of the plan, so that two operands differ
  std::vector<std::vector<uint8_t>> choices;  // random: elements to choose from; empty: all
  std::string path;
  uint64_t count() const;
  uint64_t bytes() const;
};

/// "x,box=64x8,swizzle=128B,type=bf16": a tensor map over a buffer, tiled or (mode=im2col) im2col; type, dims and
/// strides default to the buffer's, innermost dimension first.
struct MapSpec {
  std::string name, buffer;
  isa::TensorMapFields fields;
  uint64_t offset = 0;  // bytes from the start of the buffer
  bool dims_given = false, type_given = false, strides_given = false;
};

/// "u32:5", "f32:0.5", "@x", "@x+256", "map:a", "hex:00ff", "file:raw.bin", "block:136;0=map:a;128=@x" (a structure: zero
/// outside its arguments), or a buffer spec for an anonymous buffer.
struct ArgField;
struct ArgSpec {
  enum class Kind : uint8_t {
    bytes,
    pointer,
    map,
    block
  } kind = Kind::bytes;
  std::vector<uint8_t> bytes;
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;             // block
  std::vector<ArgField> fields;  // block
  uint64_t byte_count() const;
};
struct ArgField {
  uint64_t at = 0;  // byte offset
  ArgSpec what;
};

struct LaunchSpec {
  std::string name;  // in reports; empty: the entry's
  std::string entry;
  sim::LaunchConfig config{{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 0};  // block 0: the kernel's .reqntid, else one thread
  std::vector<ArgSpec> args;
  std::vector<isa::WarpRole> roles;  // names of the CTA's warps, which PTX does not have
};

/// "ref.npy,abs=1e-3,rel=1e-2"; without tolerances the bits must be equal.
struct ExpectSpec {
  std::string buffer, path;
  double absolute = 0, relative = 0;
  bool exact = true;
};

struct LaunchPlan {
  std::string folder;  // relative paths start in this folder: empty, or ends with '/'
  std::string ptx_path;
  std::vector<BufferSpec> buffers;
  std::vector<std::string> raw_files;  // of arguments
  std::vector<MapSpec> maps;
  std::vector<LaunchSpec> launches;
  std::vector<ExpectSpec> expects;
  std::vector<std::pair<std::string, std::string>> saves;  // buffer, file
  std::string resolve(std::string_view path) const { return path.starts_with('/') ? std::string(path) : folder + std::string(path); }
};

/// Each parses one spec and returns false on failure; errors (E44xx) go to `out`.
bool parse_buffer(std::string_view name, std::string_view text, BufferSpec& spec, Diagnostics& out);
bool parse_map(std::string_view name, std::string_view text, MapSpec& spec, Diagnostics& out);
bool parse_arg(std::string_view text, LaunchPlan& plan, ArgSpec& spec, Diagnostics& out);
bool parse_expect(std::string_view buffer, std::string_view text, ExpectSpec& spec, Diagnostics& out);
/// "128", "128x2", "64,2,1".
bool parse_dim3(std::string_view text, Dim3& out);

/// Reads a launch file. Paths in the file are relative to it. Throws InputError with all errors.
LaunchPlan read_launch_file(const std::string& path);
/// Parses a launch file's text; `path` is its name in messages, and relative paths start in its folder.
LaunchPlan parse_launch_file(std::string_view text, const std::string& path);

struct BufferComparison {
  std::string buffer;
  uint64_t compared = 0, mismatches = 0;
  std::string first;  // "[12]: 1.5, expected 1.25"
};
struct PlanLaunch {
  std::string name, entry;
  sim::LaunchConfig config;  // as launched
};
struct PlanBuffer {
  std::string name, type;
  std::vector<uint64_t> shape;
  std::vector<uint8_t> bytes;  // after the last launch
};
struct PlanResult {
  std::vector<PlanLaunch> launches;  // launches that ran, up to the first fault
  std::vector<sim::RunResult> runs;  // one per launch that ran
  std::vector<BufferComparison> comparisons;
  std::vector<PlanBuffer> buffers;
  Diagnostics warnings;  // of the reader of the PTX text
  bool ok() const;
};

struct PlanOptions {
  sim::RunOptions run;
  /// Called after every launch with its result; listeners of `run` receive one launch at a time.
  std::function<void(const sim::RunResult&)> launched;
};

/// Loads the PTX, creates the buffers, launches in order on one device and compares. `save_buffers` saves the results.
PlanResult run_plan(const LaunchPlan& plan, Accelerator& device, const PlanOptions& options);
/// Writes the buffers that the plan saves.
void save_buffers(const LaunchPlan& plan, const PlanResult& result);

}  // namespace drywell::kernels
