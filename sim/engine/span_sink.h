// Gathers the pieces engines work in (16-byte chunks, rows, cells) into few spans. Internal to the footprints.
#pragma once

#include <bit>
#include <vector>

#include "sim/engine/footprint.h"

namespace drywell::sim {

/// Shared memory of one CTA: whole 16-byte chunks in any order, other runs as they come.
class SharedSpans {
 public:
  SharedSpans(uint32_t cta, const SpanVisitor& visit) : cta_(cta), visit_(visit) {}
  ~SharedSpans() { flush(); }
  SharedSpans(const SharedSpans&) = delete;
  SharedSpans& operator=(const SharedSpans&) = delete;

  void add(uint32_t begin, uint32_t bytes) {
    if (begin % kChunk != 0 || bytes % kChunk != 0) {
      if (bytes != 0) visit_({Memory::shared, cta_, begin, bytes});
      return;
    }
    for (uint32_t c = begin / kChunk; c < (begin + bytes) / kChunk; ++c) {
      if (c / 64 >= chunks_.size()) chunks_.resize(c / 64 + 1);
      chunks_[c / 64] |= uint64_t{1} << (c % 64);
    }
  }

 private:
  static constexpr uint32_t kChunk = 16;

  void flush() {
    uint32_t begin = 0, end = 0;  // the run so far
    const auto emit = [&] {
      if (end != begin) visit_({Memory::shared, cta_, uint64_t{begin} * kChunk, uint64_t{end - begin} * kChunk});
    };
    for (uint32_t w = 0; w < chunks_.size(); ++w) {
      for (uint64_t left = chunks_[w]; left != 0; left &= left - 1) {
        const uint32_t c = 64 * w + static_cast<uint32_t>(std::countr_zero(left));
        if (c != end || begin == end) {
          emit();
          begin = c;
        }
        end = c + 1;
      }
    }
    emit();
  }

  uint32_t cta_;
  const SpanVisitor& visit_;
  std::vector<uint64_t> chunks_;  // bit per chunk
};

/// Tensor memory: rectangles one lane high, joined while lanes follow each other.
class TmemSpans {
 public:
  explicit TmemSpans(const SpanVisitor& visit) : visit_(visit) {}
  ~TmemSpans() { flush(); }
  TmemSpans(const TmemSpans&) = delete;
  TmemSpans& operator=(const TmemSpans&) = delete;

  void add(uint32_t cta, uint32_t lane, uint32_t column, uint32_t columns) {
    if (s_.lanes != 0 && cta == s_.cta && lane == s_.lane + s_.lanes && column == s_.column && columns == s_.columns) {
      ++s_.lanes;
      return;
    }
    flush();
    s_ = {Memory::tmem, cta, 0, 0, lane, 1, column, columns};
  }

 private:
  void flush() {
    if (s_.lanes != 0) visit_(s_);
    s_.lanes = 0;
  }

  const SpanVisitor& visit_;
  Span s_;
};

/// Footprints of the payloads that need more than a line.
void reads_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit);
void writes_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit);
void reads_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit);
void writes_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit);
void cells_of(const AsyncOp& op, const TmemShift& p, const SpanVisitor& visit);
void cells_of(const Cluster& c, const AsyncOp& op, const TmemLdSt& t, const SpanVisitor& visit);

}  // namespace drywell::sim
