// drywell desc: decodes and encodes the architecture's packed words: SMEM descriptors, instruction descriptors, zero-column masks,
// tensor maps.
#include <fmt/format.h>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/operand_map.h"
#include "drywell/isa/instr_descriptor.h"
#include "drywell/isa/tensor_map.h"
#include "launch/plan.h"
#include "tools/common/choice.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/picture_output.h"

namespace drywell::tools {
namespace {

constexpr std::pair<std::string_view, isa::Swizzle> kSwizzles[] = {
    {"none", isa::Swizzle::none}, {"32B", isa::Swizzle::b32}, {"64B", isa::Swizzle::b64}, {"128B", isa::Swizzle::b128}, {"32", isa::Swizzle::b32}, {"64", isa::Swizzle::b64}, {"128", isa::Swizzle::b128}, {"128B_atom32", isa::Swizzle::b128_atom32}};
constexpr std::pair<std::string_view, isa::MmaKind> kKinds[] = {
    {"f16", isa::MmaKind::f16}, {"tf32", isa::MmaKind::tf32}, {"f8f6f4", isa::MmaKind::f8f6f4}, {"i8", isa::MmaKind::i8}, {"mxf8f6f4", isa::MmaKind::mxf8f6f4}, {"mxf4", isa::MmaKind::mxf4}, {"mxf4nvf4", isa::MmaKind::mxf4nvf4}};
constexpr std::pair<std::string_view, isa::MmaElement> kElements[] = {
    {"f16", isa::MmaElement::f16}, {"bf16", isa::MmaElement::bf16}, {"tf32", isa::MmaElement::tf32}, {"e4m3", isa::MmaElement::e4m3}, {"e5m2", isa::MmaElement::e5m2}, {"e2m3", isa::MmaElement::e2m3}, {"e3m2", isa::MmaElement::e3m2}, {"e2m1", isa::MmaElement::e2m1}, {"u8", isa::MmaElement::u8}, {"s8", isa::MmaElement::s8}};
constexpr std::pair<std::string_view, isa::Major> kMajors[] = {{"k", isa::Major::k}, {"mn", isa::Major::mn}};

/// Prints all reports, one line each, and returns the exit code.
ExitCode report(const CommandContext& c, const Diagnostics& found) {
  if (found.empty()) {
    print(paint("no objections", Colour::green, c.colour_out) + "\n");
    return ExitCode::ok;
  }
  for (const Diagnostic& d : found.list()) print(paint(d.to_string(), found.has_errors() ? Colour::red : Colour::yellow, c.colour_out) + "\n");
  return found.has_errors() ? ExitCode::verification_failed : ExitCode::ok;
}

void print_notes(const std::vector<isa::FieldNote>& notes) {
  for (const std::string& l : isa::to_lines(notes)) print(l + "\n");
}

// --- SMEM descriptors ---

struct SmemOptions {
  std::string word, swizzle = "none", tile, element = "bf16", kind, major = "k", at;
  uint32_t start = 0, lbo = 0, sbo = 0, base_offset = 0, smem_bytes = 228 * 1024;
  bool wgmma = false, bytes = false;
  std::string arch = "sm_100a";
  PictureFlags picture;
};

/// True if the machine has K = 96 and absolute leading-dimension addresses.
bool has_sm103(const std::string& arch, std::string_view command) {
  isa::Target target;
  if (!isa::parse_target(arch, target)) throw UsageError(fmt::format("--arch: no machine '{}'", arch), command);
  return isa::has_feature(target, isa::Feature::sm103_only);
}

isa::SmemDescriptor descriptor_of(const SmemOptions& o) {
  const auto format = o.wgmma ? isa::SmemDescriptorFormat::wgmma : isa::SmemDescriptorFormat::tcgen05;
  if (!o.word.empty()) return isa::SmemDescriptor::decode(word64(o.word, "desc smem"), format);
  auto d = isa::SmemDescriptor::make(o.start, o.lbo, o.sbo, choose(o.swizzle, kSwizzles, "swizzle", "desc smem"), format);
  d.base_offset = static_cast<uint8_t>(o.base_offset & 7);
  return d;
}

/// Returns the storage form of these elements, for the named kind or the first kind that has them: mxf4 packs e2m1,
/// f8f6f4 does not.
isa::SmemElement stored_element(const SmemOptions& o) {
  const isa::MmaElement e = choose(o.element, kElements, "element", "desc smem");
  if (!o.kind.empty()) return isa::smem_element(choose(o.kind, kKinds, "kind", "desc smem"), e);
  for (const isa::MmaKind k : {isa::MmaKind::f16, isa::MmaKind::tf32, isa::MmaKind::i8, isa::MmaKind::f8f6f4})
    if (isa::code_of(k, e) != 0xFF) return isa::smem_element(k, e);
  return isa::SmemElement::byte;
}

void print_place(const SmemOptions& o, const isa::SmemDescriptor& d, const isa::OperandTile& tile) {
  const auto at = numbers(o.at, 2, 2, "an element ROW,K", "desc smem");
  if (at[0] < 0 || at[1] < 0 || at[0] >= tile.mn || at[1] >= tile.k)
    throw UsageError(fmt::format("element {} is outside the {} x {} operand", o.at, tile.mn, tile.k), "desc smem");
  const isa::OperandPlace p = isa::operand_address(d, tile.major, tile.element, static_cast<uint32_t>(at[0]), static_cast<uint32_t>(at[1]));
  print(fmt::format("element ({},{}): byte {:#x}{}\n", at[0], at[1], p.byte, p.bit == 0 ? "" : fmt::format(", from bit {}", p.bit)));
}

ExitCode smem(const CommandContext& c, const SmemOptions& o) {
  const isa::SmemDescriptor d = descriptor_of(o);
  print(fmt::format("{:#018x}  {} shared-memory descriptor\n", d.encode(), o.wgmma ? "wgmma" : "tcgen05"));
  print_notes(isa::explain(d));
  Diagnostics found;
  isa::check(d, found, {}, has_sm103(o.arch, "desc smem"));
  if (o.tile.empty()) {
    if (o.bytes || !o.at.empty() || o.picture.wanted()) throw UsageError("--bytes, --at and pictures need --tile ROWSxK", "desc smem");
    return report(c, found);
  }
  const auto shape = numbers(o.tile, 2, 2, "a tile ROWSxK", "desc smem");
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > 4096 || shape[1] > 4096) throw UsageError("a tile has 1 to 4096 rows and K", "desc smem");
  const isa::OperandTile tile{choose(o.major, kMajors, "major", "desc smem"), stored_element(o), static_cast<uint32_t>(shape[0]),
                              static_cast<uint32_t>(shape[1])};
  isa::check_operand(d, tile, o.smem_bytes, found);
  if (o.bytes) print(fmt::format("touches {}\n", isa::to_string(isa::operand_bytes(d, tile))));
  if (!o.at.empty()) print_place(o, d, tile);
  if (o.picture.wanted()) {
    const layout::Grid grids[] = {isa::operand_memory(d, tile, o.picture.options()), isa::operand_addresses(d, tile, o.picture.options())};
    draw(o.picture, c, fmt::format("SMEM descriptor {:#018x}", d.encode()), grids);
  }
  return report(c, found);
}

void add_smem(Command& desc, CommandContext& context) {
  auto o = std::make_shared<SmemOptions>();
  Command* sub = add_subcommand(desc, "smem");
  sub->add_option("WORD", o->word, "the descriptor, e.g. 0x4000404000010040");
  sub->add_flag("--wgmma", o->wgmma, "the format of wgmma (sm_90a), not of tcgen05");
  sub->add_option("--start", o->start, "start address, bytes");
  sub->add_option("--lbo", o->lbo, "leading-dimension byte offset");
  sub->add_option("--sbo", o->sbo, "stride-dimension byte offset");
  sub->add_option("--base-offset", o->base_offset, "row phase of the swizzle pattern");
  sub->add_option("--swizzle", o->swizzle, "none, 32B, 64B, 128B, 128B_atom32")->capture_default_str();
  sub->add_option("--tile", o->tile, "the operand: ROWSxK, rows being M or N");
  sub->add_option("--element", o->element, "its elements")->capture_default_str();
  sub->add_option("--kind", o->kind, "the .kind that reads them (mxf4 packs two e2m1 a byte, f8f6f4 pads them)");
  sub->add_option("--major", o->major, "which index runs along memory: k or mn")->capture_default_str();
  sub->add_option("--smem-bytes", o->smem_bytes, "shared memory of the CTA")->capture_default_str();
  sub->add_option("--arch", o->arch, "the machine; sm_103a has absolute leading-dimension addresses")->capture_default_str();
  sub->add_flag("--bytes", o->bytes, "print the bytes that the operand takes");
  sub->add_option("--at", o->at, "where element ROW,K lies");
  add_picture_options(*sub, o->picture);
  sub->callback([o, &context] { context.action = [o, &context] { return smem(context, *o); }; });
}

// --- instruction descriptors ---

struct InstrOptions {
  std::string word, kind = "f16", a = "", b = "", d = "f32", scale = "";
  uint32_t m = 0, n = 0, cta_group = 1, sfa_id = 0, sfb_id = 0, max_shift = 0, sparsity_selector = 0;
  bool ws = false, sparse = false, a_in_tmem = false, saturate = false, negate_a = false, negate_b = false, a_mn = false, b_mn = false, ue8m0 = false,
       k96 = false;
  std::string arch = "sm_100a";
};

isa::InstrDescriptor instr_of(const InstrOptions& o, isa::MmaKind kind) {
  static constexpr std::pair<std::string_view, uint8_t> kAccumulators[] = {{"f16", 0}, {"f32", 1}, {"s32", 2}};
  if (!o.word.empty()) return isa::InstrDescriptor::decode(kind, static_cast<uint32_t>(word64(o.word, "desc instr")));
  isa::InstrDescriptor d;
  d.kind = kind;
  if (o.m == 0 || o.n == 0) throw UsageError("a word, or at least --m and --n", "desc instr");
  d.m = static_cast<uint16_t>(o.m);
  d.n = static_cast<uint16_t>(o.n);
  const std::string usual = kind == isa::MmaKind::f16    ? "bf16"
                            : kind == isa::MmaKind::tf32 ? "tf32"
                            : kind == isa::MmaKind::i8   ? "s8"
                            : isa::is_packed_fp4(kind)   ? "e2m1"
                                                         : "e4m3";
  const auto code = [&](const std::string& name) {
    const uint8_t v = isa::code_of(kind, choose(name.empty() ? usual : name, kElements, "element", "desc instr"));
    if (v == 0xFF) throw UsageError(fmt::format("kind {} has no {} elements", o.kind, name), "desc instr");
    return v;
  };
  d.a_type = code(o.a);
  d.b_type = code(o.b);
  if (!isa::is_block_scaled(kind)) d.d_type = kind == isa::MmaKind::i8 ? 2 : choose(o.d, kAccumulators, "accumulator", "desc instr");
  d.sparse = o.sparse;
  d.saturate = o.saturate;
  d.sparsity_selector = static_cast<uint8_t>(o.sparsity_selector);
  d.negate_a = o.negate_a;
  d.negate_b = o.negate_b;
  d.transpose_a = o.a_mn;
  d.transpose_b = o.b_mn;
  d.max_shift = static_cast<uint8_t>(o.max_shift);
  d.sfa_id = static_cast<uint8_t>(o.sfa_id);
  d.sfb_id = static_cast<uint8_t>(o.sfb_id);
  d.scale_ue8m0 = o.ue8m0 || (isa::is_block_scaled(kind) && kind != isa::MmaKind::mxf4nvf4);
  d.k96 = o.k96;
  return d;
}

isa::MmaForm form_of(const InstrOptions& o, const isa::InstrDescriptor& d) {
  static constexpr std::pair<std::string_view, isa::ScaleVector> kVectors[] = {
      {"1", isa::ScaleVector::x1}, {"2", isa::ScaleVector::x2}, {"4", isa::ScaleVector::x4}, {"1X", isa::ScaleVector::x1}, {"2X", isa::ScaleVector::x2}, {"4X", isa::ScaleVector::x4}};
  isa::MmaForm f{d.kind, static_cast<uint8_t>(o.cta_group), o.ws, d.sparse, o.a_in_tmem, isa::ScaleVector::none};
  if (!o.scale.empty()) {
    f.scale = choose(o.scale, kVectors, "scale vector", "desc instr");
  } else if (isa::is_block_scaled(d.kind)) {
    f.scale = d.kind == isa::MmaKind::mxf8f6f4 ? isa::ScaleVector::x1 : d.kind == isa::MmaKind::mxf4 ? isa::ScaleVector::x2
                                                                                                     : isa::ScaleVector::x4;
  }
  return f;
}

ExitCode instr(const CommandContext& c, const InstrOptions& o) {
  const isa::MmaKind kind = choose(o.kind, kKinds, "kind", "desc instr");
  if (o.cta_group != 1 && o.cta_group != 2) throw UsageError("--cta-group is 1 or 2", "desc instr");
  const isa::InstrDescriptor d = instr_of(o, kind);
  print(fmt::format("{:#010x}  instruction descriptor of kind::{}, K = {}\n", d.encode(), isa::to_string(kind), d.k()));
  print_notes(isa::explain(d));
  Diagnostics found;
  isa::MmaForm form = form_of(o, d);
  form.sm103 = has_sm103(o.arch, "desc instr");
  isa::check(d, form, found);
  if (!found.has_errors() && !o.ws) {
    const isa::OperandTile a = isa::operand_tile_a(d, o.cta_group), b = isa::operand_tile_b(d, o.cta_group);
    print(fmt::format("each CTA holds A {} x {} ({}-major) and B {} x {} ({}-major)\n", a.mn, a.k, a.major == isa::Major::k ? "K" : "MN", b.mn, b.k,
                      b.major == isa::Major::k ? "K" : "MN"));
  }
  return report(c, found);
}

void add_instr(Command& desc, CommandContext& context) {
  auto o = std::make_shared<InstrOptions>();
  Command* sub = add_subcommand(desc, "instr");
  sub->add_option("WORD", o->word, "the descriptor, e.g. 0x08200490");
  sub->add_option("--kind", o->kind, "f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4")->capture_default_str();
  sub->add_option("--m", o->m, "rows of D");
  sub->add_option("--n", o->n, "columns of D");
  sub->add_option("--a", o->a, "elements of A");
  sub->add_option("--b", o->b, "elements of B");
  sub->add_option("--d", o->d, "accumulator: f16 or f32")->capture_default_str();
  sub->add_option("--cta-group", o->cta_group, "1 or 2")->capture_default_str();
  sub->add_option("--scale-vec", o->scale, "1, 2 or 4 factors a row (.scale_vec::NX)");
  sub->add_option("--sfa-id", o->sfa_id, "scale factor id of A");
  sub->add_option("--sfb-id", o->sfb_id, "scale factor id of B");
  sub->add_option("--max-shift", o->max_shift, "code of the maximum shift");
  sub->add_option("--sparsity-selector", o->sparsity_selector, "sub-column of the metadata");
  sub->add_flag("--ws", o->ws, "tcgen05.mma.ws");
  sub->add_flag("--sparse", o->sparse, "tcgen05.mma.sp");
  sub->add_flag("--a-tmem", o->a_in_tmem, "A in tensor memory");
  sub->add_flag("--saturate", o->saturate, "integers saturate");
  sub->add_flag("--negate-a", o->negate_a, "negate A");
  sub->add_flag("--negate-b", o->negate_b, "negate B");
  sub->add_flag("--a-mn", o->a_mn, "A is MN-major (transposed)");
  sub->add_flag("--b-mn", o->b_mn, "B is MN-major (transposed)");
  sub->add_flag("--ue8m0", o->ue8m0, "scale factors of mxf4nvf4 are ue8m0");
  sub->add_flag("--k96", o->k96, "K = 96 (sm_103a)");
  sub->add_option("--arch", o->arch, "the machine; sm_103a has K = 96")->capture_default_str();
  sub->callback([o, &context] { context.action = [o, &context] { return instr(context, *o); }; });
}

// --- zero-column masks ---

struct MaskOptions {
  std::string word;
  uint32_t m = 128, n = 64;
};

ExitCode mask(const CommandContext& c, const MaskOptions& o) {
  if (o.n < 8 || o.n > 256 || (o.m != 32 && o.m != 64 && o.m != 128)) throw UsageError("--m is 32, 64 or 128, --n 8 to 256", "desc zero-mask");
  const isa::ZeroColumnMask z = isa::ZeroColumnMask::decode(word64(o.word, "desc zero-mask"));
  print(fmt::format("{:#018x}  zero-column mask of tcgen05.mma.ws, M = {}, N = {}\n", z.encode(), o.m, o.n));
  print(fmt::format("mask {}, columns shifted by {}; runs: skip {}, use {}\n", z.generate ? "generated" : "not used", z.column_shift, z.skip_span + 1, z.use_span + 1));
  std::vector<uint8_t> zero(o.n);
  isa::zeroed_columns(z, o.m, zero);
  std::string columns;
  for (uint32_t n = 0; n < o.n; ++n) columns += zero[n] != 0 ? '0' : '.';
  print("columns that count as zero: " + columns + "\n");
  Diagnostics found;
  isa::InstrDescriptor d;
  d.m = static_cast<uint16_t>(o.m);
  d.n = static_cast<uint16_t>(o.n);
  d.max_shift = 3;
  isa::check(z, d, found);
  return report(c, found);
}

void add_mask(Command& desc, CommandContext& context) {
  auto o = std::make_shared<MaskOptions>();
  Command* sub = add_subcommand(desc, "zero-mask");
  sub->add_option("WORD", o->word, "the mask")->required();
  sub->add_option("--m", o->m, "rows of D")->capture_default_str();
  sub->add_option("--n", o->n, "columns of D")->capture_default_str();
  sub->callback([o, &context] { context.action = [o, &context] { return mask(context, *o); }; });
}

// --- tensor maps ---

struct MapOptions {
  std::string subject, make, output, at;
  uint64_t address = 0;
  uint32_t capability = 100;
  PictureFlags picture;
};

isa::TensorMap map_of_bytes(std::string_view bytes) {
  isa::TensorMap m;
  if (bytes.size() != m.bytes.size())
    throw InputError(Code::E1474, fmt::format("a tensor map has 128 bytes, not {}", bytes.size()));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(m.bytes.data()));
  return m;
}

/// Reads 256 hexadecimal digits, with blanks and commas between them, or a file of 128 bytes.
isa::TensorMap read_map(const std::string& subject) {
  std::string digits;
  for (const char ch : subject) {
    if (ch != ' ' && ch != ',' && ch != '\n' && ch != '_') digits += ch;
  }
  const bool hex = digits.size() == 2 * isa::kTensorMapBytes && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!hex) {
    const std::vector<std::byte> file = read_file(subject);
    return map_of_bytes({reinterpret_cast<const char*>(file.data()), file.size()});
  }
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    unsigned v = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, v, 16);
    bytes += static_cast<char>(v);
  }
  return map_of_bytes(bytes);
}

isa::TensorMapFields fields_of(const MapOptions& o) {
  kernels::MapSpec spec;
  Diagnostics found;
  if (!kernels::parse_map("--make", "-," + o.make, spec, found)) throw InputError(std::move(found));
  isa::TensorMapFields f = spec.fields;
  if (!spec.dims_given) throw UsageError("--make needs dims=…", "desc tensor-map");
  f.address = o.address;
  if (!spec.strides_given) {
    uint64_t bits = isa::element_bits(f.type);
    for (uint32_t i = 0; i + 1 < f.rank; ++i) f.stride[i] = (bits *= f.dim[i]) / 8;
  }
  return f;
}

std::string hex_dump(const isa::TensorMap& m) {
  std::string out;
  for (size_t i = 0; i < m.bytes.size(); ++i) out += fmt::format("{:02x}{}", m.bytes[i], i % 32 == 31 ? "\n" : i % 8 == 7 ? " "
                                                                                                                          : "");
  return out;
}

/// Decodes, encodes again and compares: reports bits that no field explains.
void check_reserved(const isa::TensorMap& map, const isa::TensorMapFields& f, uint32_t capability, Diagnostics& out) {
  if (!isa::is_by_driver(map)) out.warning(Code::E1474, {}, "the driver's encode functions did not make these bytes: the size of the box, the period of the swizzle or zeros behind them differ; copies do not read those");
  Diagnostics ignored;
  const auto again = f.mode == isa::TensorMapMode::tile     ? isa::encode_tiled(f, ignored, capability)
                     : f.mode == isa::TensorMapMode::im2col ? isa::encode_im2col(f, ignored, capability)
                                                            : isa::encode_im2col_wide(f, ignored, capability);
  if (!again.has_value()) return;
  std::string where;
  for (size_t i = 0; i < map.bytes.size(); ++i)
    if (map.bytes[i] != again->bytes[i]) where += fmt::format("{}{}", where.empty() ? "" : ", ", i);
  if (!where.empty()) out.warning(Code::E1474, {}, "bytes " + where + " differ from the bytes that an encode function makes of these fields");
}

ExitCode tensor_map(const CommandContext& c, const MapOptions& o) {
  if (o.subject.empty() == o.make.empty()) throw UsageError("a map (hexadecimal digits or a file), or --make", "desc tensor-map");
  CommandFiles files("desc tensor-map");
  if (o.make.empty()) files.reads("the map", o.subject);
  files.writes("--output", o.output);
  Diagnostics found;
  isa::TensorMapFields f;
  if (o.make.empty()) {
    const isa::TensorMap map = read_map(o.subject);
    f = isa::decode(map, found);
    isa::check(f, o.capability, found);
    check_reserved(map, f, o.capability, found);
  } else {
    f = fields_of(o);
    isa::check(f, o.capability, found);
  }
  for (const std::string& l : isa::describe(f)) print(l + "\n");
  if (found.has_errors()) return report(c, found);
  const isa::TensorMap map = isa::encode(f, o.capability);
  if (!o.make.empty()) print(hex_dump(map));
  if (!o.output.empty()) write_file_atomically(o.output, std::as_bytes(std::span(map.bytes)));
  if (!o.at.empty() || o.picture.wanted()) {
    isa::TensorRequest request;
    request.mode = f.mode == isa::TensorMapMode::tile ? isa::Mod::tile : isa::Mod::im2col;
    const auto at = o.at.empty() ? std::vector<int64_t>(f.rank) : numbers(o.at, f.rank, f.rank, fmt::format("{} coordinates", f.rank), "desc tensor-map");
    for (size_t i = 0; i < at.size(); ++i) request.coord[i] = static_cast<int32_t>(at[i]);
    isa::check_request(f, request, found);
    if (found.has_errors()) return report(c, found);
    const isa::TensorRows rows = isa::tensor_rows(f, request);
    print(fmt::format("a copy moves {} rows of {} bytes; its mbarrier expects {} bytes; {} bytes of shared memory\n", rows.rows.size(), rows.geometry.row_bytes,
                      rows.geometry.transaction_bytes, rows.geometry.smem_bytes()));
    const layout::Grid g = isa::tensor_memory(f, request, o.picture.options());
    draw(o.picture, c, g.title, {&g, 1});
  }
  return report(c, found);
}

void add_tensor_map(Command& desc, CommandContext& context) {
  auto o = std::make_shared<MapOptions>();
  Command* sub = add_subcommand(desc, "tensor-map");
  sub->add_option("MAP", o->subject, "256 hexadecimal digits, or a file of 128 bytes");
  sub->add_option("--make", o->make, "type=bf16,dims=256x64,strides=512,box=64x8,swizzle=128B,… (docs/running-ptx.md); dense strides by default");
  sub->add_option("--address", o->address, "global address of a map that is made");
  sub->add_option("-o,--output", o->output, "write the 128 bytes");
  sub->add_option("--at", o->at, "also the bytes that a copy at these coordinates moves; innermost coordinate first");
  sub->add_option("--compute-capability", o->capability, "90 or 100")->capture_default_str();
  add_picture_options(*sub, o->picture);
  sub->callback([o, &context] { context.action = [o, &context] { return tensor_map(context, *o); }; });
}

}  // namespace

void register_desc(Command& app, CommandContext& context) {
  Command* desc = add_command(app, "desc");
  desc->require_subcommand(1);
  desc->notes("Exit code 1 if a descriptor breaks a rule.");
  add_smem(*desc, context);
  add_instr(*desc, context);
  add_mask(*desc, context);
  add_tensor_map(*desc, context);
}

}  // namespace drywell::tools
