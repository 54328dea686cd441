#include "cudart/fatbin.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "cudart/cubin.h"
#include "cudart/lz4.h"
#include "drywell/core/error.h"
#include "drywell/sim/arch_config.h"

namespace drywell::cudart {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagArchSpecific = 0x10'0000, kFlagFamily = 0x20'0000;
constexpr uint64_t kMostPtx = uint64_t{1} << 30;  // bytes; a larger image is damaged

template <class T>
T at(const uint8_t* p, size_t offset) {
  T v;
  std::memcpy(&v, p + offset, sizeof v);
  return v;
}

[[noreturn]] void damaged(const char* what) {
  throw InputError(Code::E4601, fmt::format("this is no fat binary: {}", what), "device code comes from nvcc, or is PTX text");
}

[[noreturn]] void machine_code() {
  throw InputError(Code::E4603, "this is a cubin: machine code of a GPU, which cannot be simulated",
                   "load PTX instead; for programs that call ptxas, `drywell exec` names a stand-in of it in TRITON_PTXAS_PATH (docs/python.md)");
}

/// Appends what the frame holds, piece by piece, so that a wrong size takes no memory. False: it is damaged, or not of `bytes` bytes.
bool unpack_zstd(std::span<const uint8_t> frame, uint64_t bytes, std::string& text) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  std::vector<char> piece(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  for (bool more = true; more;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0 || out.pos > bytes - text.size()) return false;
    text.append(piece.data(), out.pos);
    more = left != 0 && (in.pos < in.size || out.pos == out.size);
  }
  return text.size() == bytes;
}

FatbinImage read_entry(const uint8_t* e, uint32_t header, uint64_t payload) {
  FatbinImage i;
  i.kind = static_cast<ImageKind>(at<uint16_t>(e, 0));
  i.sm = at<uint32_t>(e, 28);
  const auto flags = at<uint64_t>(e, 40);
  i.variant = (flags & kFlagArchSpecific) != 0 ? 'a' : (flags & kFlagFamily) != 0 ? 'f'
                                                                                  : 0;
  i.payload = {e + header, payload};
  i.packing = (flags & kFlagZstd) != 0 ? FatbinImage::Packing::zstd : (flags & kFlagLz4) != 0 ? FatbinImage::Packing::lz4
                                                                                              : FatbinImage::Packing::none;
  i.compressed = std::min<uint64_t>(at<uint32_t>(e, 16), payload);
  i.uncompressed = at<uint64_t>(e, 56);
  return i;
}

bool looks_like_ptx(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head.substr(first).starts_with(".version") || head.substr(first).starts_with("//"));
}

FatbinImage bare_ptx(const char* text, size_t bytes) {
  FatbinImage i;
  i.payload = {reinterpret_cast<const uint8_t*>(text), bytes};
  return i;
}

/// Rank of an image's PTX for the machine; 0: not usable. The target of a bare text is in the text.
unsigned suitability(const FatbinImage& i, isa::Target machine) {
  if (i.kind != ImageKind::ptx) return 0;
  if (i.sm == 0) return 1;
  isa::Target target;
  if (!isa::parse_target(fmt::format("sm_{}{}", i.sm, i.variant == 0 ? "" : std::string(1, i.variant)), target)) return i.variant == 0 && i.sm < 80 ? i.sm : 0;
  if (!isa::loads_on(target, machine)) return 0;
  return i.variant == 'a' ? 10'000 : i.variant == 'f' ? 5'000 + i.sm
                                                      : i.sm;
}

/// "--arch=sm_120a runs what is there; or ": for the first machine that can run one of the images.
std::string other_machine(const std::vector<FatbinImage>& images) {
  for (const std::string_view name : sim::builtin_arch_names()) {
    isa::Target machine;
    const bool runs = isa::parse_target(name, machine) && std::any_of(images.begin(), images.end(), [&](const FatbinImage& i) { return suitability(i, machine) != 0; });
    if (runs) return fmt::format("--arch={} runs what is there; or ", name);
  }
  return {};
}

}  // namespace

std::string FatbinImage::target() const {
  std::string name = fmt::format("{}_{}", kind == ImageKind::ptx ? "compute" : "sm", sm);
  if (variant != 0) name += variant;
  return name;
}

std::string FatbinImage::content() const {
  std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
  if (packing != Packing::none) {
    bool fine = uncompressed <= kMostPtx;
    text.clear();
    if (fine && packing == Packing::zstd) {
      fine = unpack_zstd(payload.first(compressed), uncompressed, text);
    } else if (fine) {
      const auto bytes = lz4_block(payload.first(compressed), uncompressed);
      fine = bytes.has_value();
      if (fine) text.assign(bytes->begin(), bytes->end());
    }
    if (!fine) throw InputError(Code::E4602, fmt::format("the code for {} in a fat binary is damaged: it does not decompress", target()));
  }
  return text;
}

std::string FatbinImage::ptx() const {
  std::string text = content();
  text.resize(std::min(text.size(), std::strlen(text.c_str())));  // the payload is padded with zeros
  return text;
}

bool is_fatbin(const void* data) { return data != nullptr && at<uint32_t>(static_cast<const uint8_t*>(data), 0) == kMagic; }

std::vector<FatbinImage> read_fatbin(const void* data, uint64_t limit) {
  const auto* p = static_cast<const uint8_t*>(data);
  if (p == nullptr || limit < 4) damaged("it has no bytes");
  if (const auto ptx = enveloped_ptx(data, limit); ptx.has_value()) return {bare_ptx(ptx->data(), ptx->size())};
  if (is_cubin(data, limit)) machine_code();
  if (at<uint32_t>(p, 0) != kMagic) {
    const auto* text = static_cast<const char*>(data);
    if (!looks_like_ptx({text, strnlen(text, std::min<uint64_t>(limit, 64))})) damaged("neither the container's magic number nor PTX text");
    return {bare_ptx(text, strnlen(text, std::min(limit, kMostPtx)))};
  }
  if (limit < 16) damaged("it is cut short");
  const uint64_t header = at<uint16_t>(p, 6), size = at<uint64_t>(p, 8);
  if (header < 16 || header > limit || size > limit - header) damaged("it is cut short");
  std::vector<FatbinImage> images;
  for (uint64_t offset = header; offset + 64 <= header + size;) {
    const uint8_t* e = p + offset;
    const uint64_t entry_header = at<uint32_t>(e, 4), payload = at<uint64_t>(e, 8), rest = header + size - offset;
    if (entry_header < 64 || entry_header > rest || payload > rest - entry_header) damaged("an entry reaches beyond its end");
    images.push_back(read_entry(e, static_cast<uint32_t>(entry_header), payload));
    offset += entry_header + payload;
  }
  return images;
}

const FatbinImage& best_image(const std::vector<FatbinImage>& images, isa::Target target) {
  const auto best = std::max_element(images.begin(), images.end(), [&](const FatbinImage& a, const FatbinImage& b) { return suitability(a, target) < suitability(b, target); });
  if (best != images.end() && suitability(*best, target) != 0) return *best;
  std::string there;
  for (const FatbinImage& i : images) there += (there.empty() ? "" : ", ") + i.target();
  throw InputError(Code::E4603, fmt::format("the program has no PTX that {} can run; there is {}", isa::target_name(target), there.empty() ? "nothing" : there),
                   fmt::format("{1}compile with -gencode arch=compute_{0},code=compute_{0} (drywell nvcc does): machine code (sm_…) cannot be simulated", isa::target_name(target).substr(3),
                               other_machine(images)));
}

}  // namespace drywell::cudart
