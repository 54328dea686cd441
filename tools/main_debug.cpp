// drywell-debug: the debugger, for terminals and editors.
#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  return run_commands({{"step", register_step}, {"dap", register_dap}, {"pages", register_pages}}, argc, argv);
}
