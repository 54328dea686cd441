// drywell-inspect: subcommands that explain layouts, descriptors and memory.
#include "tools/common/program.h"

int main(int argc, char** argv) {
  using namespace drywell::tools;
  return run_commands({{"compare", register_compare},
                       {"layout", register_layout},
                       {"desc", register_desc},
                       {"sf", register_sf},
                       {"fragment", register_fragment},
                       {"smem", register_smem},
                       {"tmem", register_tmem},
                       {"pages", register_pages}},
                      argc, argv);
}
