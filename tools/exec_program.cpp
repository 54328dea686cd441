#include "tools/exec_program.h"

#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cudart/redirect.h"
#include "drywell/core/files.h"
#include "drywell/sim/arch_config.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"
#include "tools/common/program_folder.h"
#include "tools/elf_program.h"

namespace drywell::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuntime = "libcudart.so.13";

/// Returns the directory of the stand-in libraries: in the build tree, or of the installation (this program is in
/// libexec/drywell).
fs::path stand_ins() {
  const fs::path self = program_folder();
  for (const fs::path& candidate : {self / "../lib/drywell", self / "../../" DRYWELL_LIBDIR "/drywell", self / "../../lib/drywell"}) {
    if (fs::exists(candidate / kRuntime)) return fs::canonical(candidate);
  }
  throw InputError(Code::E4611,
                   fmt::format("{}: no {} in ../lib/drywell or ../../lib/drywell of it", self.string(), kRuntime),
                   "install Drywell whole, or build the target drywell_cudart");
}

/// Returns the file that execvp would run.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream in(path != nullptr ? path : "");
  for (std::string directory; std::getline(in, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
  }
  return name;
}

/// The command for a file that is no program, by the end of its name, or "".
std::string command_for(const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> kCommands[] = {{".ptx", "drywell run launches a PTX file"}, {".toml", "drywell run launches a launch file"}, {".py", "drywell python runs a Python script"}, {".cu", "drywell nvcc compiles it"}};
  for (const auto& [ending, command] : kCommands)
    if (path.ends_with(ending)) return std::string(command);
  return {};
}

/// Reports causes of later, unclear failures now. Throws InputError E461x.
void check_program(const std::string& path, const fs::path& library) {
  if (::access(path.c_str(), X_OK) != 0)
    throw InputError(Code::E4610, fmt::format("{}: cannot be run: {}", path, std::strerror(errno)), command_for(path));
  const auto program = read_elf(path);
  if (!program.has_value()) return;  // a script: the programs that it starts are not checked
  const auto has = [](const std::vector<std::string>& list, const char* name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (program->has_device_code && !has(program->undefined, "__cudaRegisterFatBinary") &&
      !program->needs("libcudart.so") && !program->has_runtime) {
    throw InputError(
        Code::E4612,
        fmt::format("{}: the CUDA runtime is linked into it statically, and without its symbol table (strip) Drywell's cannot take its place", path),
        "keep the symbols, or link with -cudart shared (drywell nvcc does), or set CUDA_RUNTIME_LIBRARY to Shared in CMake");
  }
  if (!cudart::kCanRedirect && program->has_runtime && !program->needs("libcudart.so"))
    throw InputError(Code::E4612, cudart::runtime_stays(path), "link with -cudart shared (drywell nvcc does), or set CUDA_RUNTIME_LIBRARY to Shared in CMake");
  const auto stand_in = read_elf((library / kRuntime).string());
  if (!stand_in.has_value() || !(program->needs("libcudart.so") || program->needs("libcuda.so"))) return;
  std::string missing;
  for (const std::string& name : program->undefined) {
    const bool cuda =
        name.starts_with("cuda") || name.starts_with("__cuda") ||
        (name.starts_with("cu") && name.size() > 2 && std::isupper(static_cast<unsigned char>(name[2])) != 0);
    // Libraries above the runtime (cuBLAS, cuDNN, …) have names with the same prefix.
    const bool other = std::any_of(program->needed.begin(), program->needed.end(), [](const std::string& n) {
      return n.starts_with("libcu") && !n.starts_with("libcudart.") && !n.starts_with("libcuda.");
    });
    if (cuda && !other && !has(stand_in->defined, name.c_str()))
      missing += (missing.empty() ? "" : ", ") + name;
  }
  if (!missing.empty())
    throw InputError(Code::E4613,
                     fmt::format("{}: needs CUDA functions the stand-in does not have: {}", path, missing));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

/// Puts `first` before the entries of a list of paths, unless it is there.
void put_first(const char* name, const std::string& first) {
  const std::string before = variable(name);
  if (before == first || before.starts_with(first + ":")) return;
  set(name, before.empty() ? first : first + ":" + before);
}

constexpr const char* kStandIns[] = {"libcudart.so.13", "libcudart.so.12", "libcuda.so.1"};

constexpr const char* kStandInFile = "libdrywell_cudart.so";

bool is_stand_in(const std::string& entry) {
  return fs::path(entry).filename() == kStandInFile || std::find(std::begin(kStandIns), std::end(kStandIns), entry) != std::end(kStandIns);
}

/// The runtime of a sanitizer (libasan.so.8, libclang_rt.asan-x86_64.so): the first library of its process, or it ends that.
bool is_sanitizer(const std::string& entry) {
  const std::string name = fs::path(entry).filename().string();
  return name.starts_with("libclang_rt.") || (name.starts_with("lib") && name.substr(0, name.find(".so")).ends_with("san"));
}

std::vector<std::string> preloaded() {
  std::string list = variable("LD_PRELOAD");
  std::replace(list.begin(), list.end(), ' ', ':');  // both separate (ld.so(8))
  std::istringstream in(list);
  std::vector<std::string> all;
  for (std::string entry; std::getline(in, entry, ':');)
    if (!entry.empty() && !is_stand_in(entry)) all.push_back(entry);
  return all;
}

/// Loads the stand-ins before everything but the runtime of a sanitizer that the program or its user asks for: by their names, and by the path of
/// the file, which a child of the program has, too, that gets an LD_LIBRARY_PATH of its own.
void preload_stand_ins(const std::vector<std::string>& needed, const fs::path& library) {
  std::vector<std::string> all = preloaded();
  const auto missing = [&](const std::string& n) { return is_sanitizer(n) && std::find(all.begin(), all.end(), n) == all.end(); };
  if (const auto runtime = std::find_if(needed.begin(), needed.end(), missing); runtime != needed.end()) all.insert(all.begin(), *runtime);
  const auto rest = std::stable_partition(all.begin(), all.end(), is_sanitizer);
  const auto names = all.insert(rest, std::begin(kStandIns), std::end(kStandIns));
  const std::string file = (library / kStandInFile).string();
  if (file.find_first_of(": ") == std::string::npos) all.insert(names, file);  // both would end the path
  set("LD_PRELOAD", fmt::format("{}", fmt::join(all, ":")));
}

/// Sets a folder for what a compiler keeps: files made for the simulator must not lie among those made for a
/// GPU. `leaf`: the name in a folder that the user chose.
void own_cache(const char* name, const std::string& folder, const std::string& leaf = "drywell") {
  const std::string before = variable(name), user = variable("XDG_CACHE_HOME"), home = variable("HOME");
  const fs::path base =
      !before.empty() ? fs::path(before) / leaf
                      : (user.empty() ? fs::path(home) / ".cache" : fs::path(user)) / "drywell" / folder;
  if (fs::path(before).filename() != leaf) set(name, base.string());
}

/// Kernels that Python frameworks compile at run time: they call the stand-in of ptxas, which keeps the PTX.
void set_compilers(const fs::path& library, bool timed) {
  const std::string ptxas = (library / "drywell-ptxas").string();
  for (const char* name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) set(name, ptxas);
  own_cache("TRITON_CACHE_DIR", "triton");
  own_cache("CUPY_CACHE_DIR", "cupy");
  own_cache("NUMBA_CACHE_DIR", "numba");
  // torch.compile and TileLang keep the times of their choices, too: only those of the timed driver are times.
  const std::string clock = timed ? "timed" : "untimed";
  own_cache("TORCHINDUCTOR_CACHE_DIR", "inductor-" + clock, "drywell-" + clock);
  own_cache("TILELANG_CACHE_DIR", "tilelang-" + clock, "drywell-" + clock);
}

/// True for a program that loads CUDA's libraries while it runs, if at all (an interpreter or a script), or that has the runtime
/// linked into it.
bool loads_cuda_late(const std::optional<ElfProgram>& elf) {
  return !elf.has_value() || elf->has_runtime ||
         !(elf->needs("libcudart.so") || elf->needs("libcuda.so") || elf->has_device_code);
}

void set_environment(const ExecFlags& f, const std::string& program, const fs::path& library) {
  put_first("LD_LIBRARY_PATH", library.string());
  // A library with a run path of its own (those of PyTorch's wheels) looks there before LD_LIBRARY_PATH. It
  // takes a library that is loaded under the same name, however, and the loader keeps the names that a
  // preloaded library was asked for by.
  const auto elf = read_elf(program);
  if (loads_cuda_late(elf)) preload_stand_ins(elf.has_value() ? elf->needed : std::vector<std::string>{}, library);
  put_first("PYTHONPATH", (library / "python-boot").string());
  set_compilers(library, f.options.driver == "timed");
  set(cudart::kOptionsVariable, cudart::to_environment(f.options));
}

/// Reports wrong options now, instead of at the first launch or not at all.
void check_options(const cudart::ExecOptions& o, const std::string& command, const std::string& program) {
  cudart::run_options(o);
  cudart::kernel_filter(o);
  cudart::time_filter(o);
  sim::load_arch(o.arch);
  if (!o.script.empty()) read_file(o.script);
  CommandFiles files(command);
  files.reads("the program", program);
  files.reads("--script", o.script);
  files.reads("the machine", o.arch);
  files.writes("--report", o.report);
  files.writes("--trace", o.trace);
  expect_writable({o.report, o.trace});
}

std::string absolute(const std::string& path) { return path.empty() ? path : fs::absolute(path).string(); }

/// Throws InputError E4008 if the folder of --dump cannot be made or written: at a launch, the program would go on without it. A folder that
/// it makes is removed again: without a launch there is nothing to put into it.
void expect_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code failed;
  const bool made = fs::create_directories(path, failed);
  if (failed) throw InputError(Code::E4008, fmt::format("--dump: {}: cannot be made: {}", path, failed.message()));
  expect_writable_folder(path);
  if (made) fs::remove(path, failed);
}

}  // namespace

void add_exec_options(Command& sub, ExecFlags& flags) {
  cudart::ExecOptions& o = flags.options;
  sub.add_option("--arch", o.arch, "architecture: a name of `drywell arch` or a .toml file")
      ->capture_default_str();
  sub.add_option("--driver", o.driver, "when asynchronous work completes: eager, lazy, shuffled:SEED, parted:SEED or timed")
      ->capture_default_str()
      ->suggest(driver_names());
  sub.add_option("--caches", o.caches, "timed: what the L2 holds at each launch: what came before left (carry), nothing (cold), the allocations (warm)")
      ->capture_default_str();
  sub.add_option("--clock", o.clock, "timed, for seconds: nominal, sustained (repeated for seconds with random data), or GHz")
      ->capture_default_str();
  sub.add_option("--time", o.time, "regular expression: kernels that run under the timed driver, the others under --driver");
  sub.add_flag("--contract", o.contract, "a product and a sum without rounding modifiers are one fma where ptxas makes one");
  sub.add_flag("--no-values", flags.no_values, "timed launches: same cycles, tensor results not computed (what the program then checks is wrong)");
  sub.add_option(
      "--kernel", o.kernel,
      "regular expression: the kernels to which --check, --trace, --report, --dump, --break and --corrupt apply");
  sub.add_flag(
      "--check{full}", o.check,
      "look for hazards (docs/hazards.md): off, basic or, plain --check, full; a program that ends with 0 then ends with 1 if there is an error");
  sub.add_flag("--summary", o.summary, "when the program ends, print a line per launch on standard error");
  sub.add_option("--report", o.report,
                 "when the program ends, write a report of each launch (JSON if the name ends in .json)");
  sub.add_option("--trace", o.trace,
                 "when the program ends, write a trace of its launches (zstd if the name ends in .zst)");
  sub.add_option("--dump", o.dump, "folder: each launch of --kernel's kernels as a launch file with its PTX and buffers, before it runs (NUMBER-NAME/launch.toml), for drywell run, step, mutate, …");
  sub.add_flag("--break{first}", flags.stop,
               "step a launch (drywell step): --break=N that of the summary, else the first of --kernel's; "
               "then the program goes on");
  sub.add_option("--script", o.script, "with --break: read the debugger's commands from this file instead of the terminal");
  sub.add_option("--corrupt", flags.corrupt,
                 "N+BYTE: that byte of the N-th cudaMalloc (from 0) is inverted while --kernel's kernels run; list: "
                 "when the program ends, a line per allocation on standard error");
  sub.add_flag("--leaks", o.leaks, "when the program ends, list on standard error what it allocated and never freed");
  sub.add_option("--threads", o.threads, "host threads; 0 = all cores. Results do not depend on it, unless CTAs race")
      ->capture_default_str();
  add_limit_flags(sub, o.limits);
}

ExitCode exec_program(ExecFlags f) {
  const std::vector<std::string>& words = f.words;
  const std::string program = find_program(words[0]);
  const fs::path library = stand_ins();
  f.options.list_allocations = f.corrupt == "list";
  f.options.values = !f.no_values;
  f.options.process = static_cast<uint64_t>(::getpid());
  if (!f.corrupt.empty() && !f.options.list_allocations) f.options.corrupt = cudart::parse_corruption(f.corrupt);
  if (!f.stop.empty()) {
    f.options.break_at = cudart::parse_break(f.stop);
    f.options.dap = variable(cudart::kDebuggerVariable);
  }
  if (!f.options.script.empty() && !f.options.break_at.has_value())
    throw UsageError("--script is for --break", f.command);
  check_options(f.options, f.command, program);
  for (std::string* file : {&f.options.trace, &f.options.report, &f.options.dump, &f.options.script}) *file = absolute(*file);
  if (f.options.arch.find('/') != std::string::npos || f.options.arch.ends_with(".toml"))
    f.options.arch = absolute(f.options.arch);
  check_program(program, library);
  expect_folder(f.options.dump);
  set_environment(f, program, library);
  // The same addresses in every run, if the system allows it.
  if (const int now = ::personality(0xFFFFFFFF); now != -1)
    ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  std::fflush(stdout);
  ::execv(program.c_str(), argv.data());
  throw InputError(Code::E4610, fmt::format("{}: cannot be run: {}", program, std::strerror(errno)));
}

}  // namespace drywell::tools
