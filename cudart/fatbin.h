// Fat binaries: nvcc's containers of device code, one image per target.
//
// Layout by experiment with CUDA 13.0's `nvcc -fatbin -compress-mode …` (none, speed = LZ4, balance, size and default =
// zstd) and -gencode lists; NVIDIA documents none of it. A container is { u32 magic 0xBA55ED50, u16 version 1, u16 header
// bytes, u64 bytes that follow }, then entries: { u16 kind, u16 0x0101, u32 header bytes, u64 payload bytes (padded), u32
// compressed bytes, u32, u16 minor, u16 major, u32 sm number, u32, u32, u64 flags, u64, u64 uncompressed bytes }.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "drywell/isa/target.h"

namespace drywell::cudart {

enum class ImageKind : uint16_t {
  ptx = 1,
  machine_code = 2
};

struct FatbinImage {
  ImageKind kind = ImageKind::ptx;
  uint32_t sm = 0;                   // 100
  char variant = 0;                  // 'a' (exactly this chip), 'f' (its family) or 0
  std::span<const uint8_t> payload;  // the stored bytes, maybe compressed
  uint64_t compressed = 0, uncompressed = 0;
  enum class Packing : uint8_t {
    none,
    lz4,
    zstd
  } packing = Packing::none;

  std::string target() const;  // "compute_100a", "sm_100"
  /// Returns the stored bytes, decompressed, maybe with padding. Throws InputError E4602 if they are damaged.
  std::string content() const;
  /// Returns the PTX text. Throws InputError E4602 if it is damaged.
  std::string ptx() const;
};

bool is_fatbin(const void* data);

/// Reads a container, a bare PTX text or an envelope of PTX (cudart/cubin.h) of at most `limit` bytes. Throws InputError E4603
/// for machine code, E4601 for other data.
std::vector<FatbinImage> read_fatbin(const void* data, uint64_t limit = UINT64_MAX);

/// Returns the image that a device of `target` would compile: for exactly this target, else for its family, else the
/// newest generic image that is not newer than the target. Throws InputError E4603, with the available targets, if none
/// fits.
const FatbinImage& best_image(const std::vector<FatbinImage>& images, isa::Target target);

}  // namespace drywell::cudart
