// drywell smem: swizzled tiles of shared memory, and the bank conflicts of an access.
#include <fmt/format.h>

#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/operand_map.h"
#include "drywell/sim/inspect/banks.h"
#include "tools/cmd_smem_show.h"
#include "tools/common/choice.h"
#include "tools/common/command.h"
#include "tools/picture_output.h"

namespace drywell::tools {
namespace {

constexpr std::pair<std::string_view, isa::Swizzle> kSwizzles[] = {{"none", isa::Swizzle::none},
                                                                   {"32B", isa::Swizzle::b32},
                                                                   {"64B", isa::Swizzle::b64},
                                                                   {"128B", isa::Swizzle::b128},
                                                                   {"128B_atom32", isa::Swizzle::b128_atom32},
                                                                   {"128B_atom32_flip8", isa::Swizzle::b128_atom32_flip8},
                                                                   {"128B_atom64", isa::Swizzle::b128_atom64}};

struct TileOptions {
  std::string swizzle = "128B";
  uint32_t rows = 8, row_bytes = 128, base = 0, bits = 16;
  PictureFlags picture;
};

ExitCode tile(const CommandContext& c, TileOptions o) {
  if (o.rows == 0 || o.rows > 4096 || o.row_bytes % 16 != 0 || o.row_bytes == 0 || o.row_bytes > 65536 || o.base % 16 != 0)
    throw UsageError("rows are 1 to 4096, a row a multiple of 16 bytes, the base one too", "smem tile");
  if (o.bits != 4 && o.bits != 8 && o.bits != 16 && o.bits != 32 && o.bits != 64) throw UsageError("--bits is 4, 8, 16, 32 or 64", "smem tile");
  o.picture.table = o.picture.table || !o.picture.wanted();
  const layout::Grid g = isa::swizzled_tile(choose(o.swizzle, kSwizzles, "swizzle", "smem tile"), o.rows, o.row_bytes, o.base, o.bits, o.picture.options());
  draw(o.picture, c, g.title, {&g, 1});
  return ExitCode::ok;
}

struct BankOptions {
  std::string address, access, swizzle = "none";
  uint32_t bytes = 4, lanes = 32, pitch = 0;
  bool addresses = false;
  PictureFlags picture;
};

ExitCode banks(const CommandContext& c, BankOptions o) {
  if (!o.access.empty()) {
    const sim::AccessForm form = sim::access_form(o.access);
    o.bytes = form.bytes;
    o.lanes = form.lanes;
  }
  if (o.address.empty() && o.pitch == 0) throw UsageError("the lanes' addresses, or --pitch", "smem banks");
  if (o.address.empty()) o.address = fmt::format("lane*{}", o.pitch);
  if (o.bytes != 1 && o.bytes != 2 && o.bytes != 4 && o.bytes != 8 && o.bytes != 16 && o.bytes != 32) throw UsageError("--bytes is 1, 2, 4, 8, 16 or 32", "smem banks");
  if (o.lanes < 1 || o.lanes > 32) throw UsageError("--lanes is 1 to 32", "smem banks");
  const sim::LaneAddresses a = sim::swizzled(sim::lane_addresses(o.address, o.bytes, o.lanes), choose(o.swizzle, kSwizzles, "swizzle", "smem banks"));
  for (uint32_t lane = 0; lane < o.lanes && o.addresses; ++lane) print(fmt::format("lane {:2}: {:#x}, bank {}\n", lane, a.at[lane], a.at[lane] / 4 % 32));
  for (uint32_t lane = 0; lane < o.lanes; ++lane) {
    if (a.at[lane] % o.bytes == 0) continue;
    print(fmt::format("lane {}: {:#x} is not aligned to {} bytes (fault F3002 when executed)\n", lane, a.at[lane], o.bytes));
    return ExitCode::verification_failed;
  }
  const uint32_t passes = sim::smem_wavefronts(a), ideal = sim::smem_ideal_wavefronts(a);
  const layout::Grid g = sim::bank_picture(a);
  if (!o.picture.table) print(g.title + "\n");
  draw(o.picture, c, o.address, {&g, 1});
  return passes > ideal ? ExitCode::verification_failed : ExitCode::ok;
}

}  // namespace

void register_smem(Command& app, CommandContext& context) {
  Command* smem = add_command(app, "smem");
  smem->require_subcommand(1);
  auto t = std::make_shared<TileOptions>();
  Command* sub = add_subcommand(*smem, "tile");
  sub->add_option("--swizzle", t->swizzle, "none, 32B, 64B, 128B, 128B_atom32, 128B_atom32_flip8, 128B_atom64")->capture_default_str();
  sub->add_option("--rows", t->rows, "rows of the tile")->capture_default_str();
  sub->add_option("--row-bytes", t->row_bytes, "bytes from one row to the next")->capture_default_str();
  sub->add_option("--base", t->base, "address of the tile: swizzles act on addresses")->capture_default_str();
  sub->add_option("--bits", t->bits, "element width")->capture_default_str();
  add_picture_options(*sub, t->picture);
  sub->callback([t, &context] { context.action = [t, &context] { return tile(context, *t); }; });

  register_smem_show(*smem, context);

  auto b = std::make_shared<BankOptions>();
  Command* conflicts = add_subcommand(*smem, "banks");
  conflicts->add_option("ADDRESS", b->address, "of each lane in bytes: 'lane*16 ^ lane/8*16', or a layout '(8,4):(128,16)'");
  conflicts->add_option("--access", b->access, "the instruction, e.g. ldmatrix.x4, ld.v4.b32, st.b64: sets --bytes and --lanes");
  conflicts->add_option("--pitch", b->pitch, "without ADDRESS: bytes from one lane's address to the next, e.g. the rows of ldmatrix");
  conflicts->add_option("--swizzle", b->swizzle, "applied to the addresses: none, 32B, 64B, 128B, …")->capture_default_str();
  conflicts->add_option("--bytes", b->bytes, "a lane accesses: 4 (ld.b32) to 16 (ld.v4.b32, ldmatrix) and 32")->capture_default_str();
  conflicts->add_option("--lanes", b->lanes, "lanes that take part")->capture_default_str();
  conflicts->add_flag("--addresses", b->addresses, "list every lane's address");
  add_picture_options(*conflicts, b->picture);
  conflicts->callback([b, &context] { context.action = [b, &context] { return banks(context, *b); }; });
}

}  // namespace drywell::tools
