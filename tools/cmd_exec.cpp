// drywell exec: an unchanged CUDA program, with the simulator behind the CUDA runtime.
#include "tools/exec_program.h"

namespace drywell::tools {

void register_exec(Command& app, CommandContext& context) {
  auto f = std::make_shared<ExecFlags>();
  f->command = "exec";
  Command* sub = add_command(app, "exec");
  add_exec_options(*sub, *f);
  sub->add_option("PROGRAM", f->words, "the program and its arguments, after --");
  sub->callback([f, &context] {
    context.action = [f] {
      if (f->words.empty())
        throw UsageError("which program? drywell exec [options] -- ./program arguments…", "exec");
      return exec_program(*f);
    };
  });
}

}  // namespace drywell::tools
