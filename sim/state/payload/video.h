// Payloads of video instructions.
#pragma once

#include <array>

#include "sim/state/payload/kind.h"

namespace drywell::sim::payload {

/// What a video instruction makes of two elements.
enum class VideoOperation : uint8_t {
  sum,
  difference,
  average,
  distance,
  least,
  greatest,
  shift_left,
  shift_right,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal
};

/// A word, or a part of one.
struct VideoPart {
  uint8_t shift = 0, bits = 32;
  bool is_signed = false;
};

struct ScalarVideo {
  static constexpr PayloadKind kKind = PayloadKind::scalar_video;
  enum class Second : uint8_t {
    none,
    add,
    min,
    max
  };
  VideoOperation operation = VideoOperation::sum;
  VideoPart a, b, result;
  bool saturate = false, wrap = false;
  Second second = Second::none;
};

struct VideoProduct {
  static constexpr PayloadKind kKind = PayloadKind::video_product;
  VideoPart a, b;
  bool minus_product = false, minus_c = false, plus_one = false, saturate = false;
  uint8_t shift = 0;
};

/// Operations on the half-words or bytes of a word.
struct VectorVideo {
  static constexpr PayloadKind kKind = PayloadKind::vector_video;
  VideoOperation operation = VideoOperation::sum;
  uint8_t bits = 8;                 // of an element
  uint8_t mask = 0;                 // elements of the result that are not those of c
  std::array<uint8_t, 4> a{}, b{};  // element k's place in the pair b:a, in bits
  bool a_signed = false, b_signed = false, result_signed = false;
  bool saturate = false, add_up = false;
};

}  // namespace drywell::sim::payload
