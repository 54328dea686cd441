#include "sim/inspect/tmem_spans.h"

#include <fmt/format.h>

#include "drywell/core/source_path.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

const isa::Instruction& instruction_at(const Launch& launch, uint32_t pc) {
  const Program& p = *launch.program;
  return p.function_of(p.code[pc]).body[p.code[pc].instr];
}

}  // namespace

std::string mnemonic_at(const Launch& launch, uint32_t pc) { return std::string(isa::spec(instruction_at(launch, pc).op).mnemonic); }

std::string source_at(const Launch& launch, uint32_t pc) {
  const isa::Instruction& i = instruction_at(launch, pc);
  if (i.source.file == 0) return fmt::format("ptx:{}", i.ptx_line);
  return fmt::format("{}:{}", from_repository(launch.program->module->files[i.source.file]), i.source.line);
}

}  // namespace drywell::sim
