// Joins the pieces of an access (16-byte chunks, rows, cells) into few spans. Internal to the footprints.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/engine/footprint.h"

namespace drywell::sim {

/// Shared memory of one CTA: joins aligned 16-byte chunks added in any order; other runs are visited as they are added.
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
    const uint32_t end = (begin + bytes) / kChunk;
    if (end > chunks_.size() * 64) chunks_.resize((end + 63) / 64);
    for (uint32_t c = begin / kChunk, n; c < end; c += n) {
      n = std::min(64 - c % 64, end - c);
      chunks_[c / 64] |= (~uint64_t{0} >> (64 - n)) << (c % 64);
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

/// Tensor memory: joins rectangles of one lane into rectangles of consecutive lanes, then those into consecutive columns.
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
    widen();
    s_ = {Memory::tmem, cta, 0, 0, lane, 1, column, columns};
  }

 private:
  /// Appends the complete rectangle s_ to wide_, or visits wide_ and replaces it by s_.
  void widen() {
    if (s_.lanes == 0) return;
    if (wide_.lanes == s_.lanes && wide_.cta == s_.cta && wide_.lane == s_.lane && wide_.column + wide_.columns == s_.column) {
      wide_.columns += s_.columns;
      return;
    }
    if (wide_.lanes != 0) visit_(wide_);
    wide_ = s_;
  }
  void flush() {
    widen();
    if (wide_.lanes != 0) visit_(wide_);
  }

  const SpanVisitor& visit_;
  Span s_, wide_;  // the rectangle that grows by lanes, the one that grows by columns
};

/// Footprints of the payloads of the tensor core (footprint_tmem.cpp).
void reads_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit, Memories asked);
void writes_of(const AsyncOp& op, const Umma& u, const SpanVisitor& visit);
void reads_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit);
void writes_of(const AsyncOp& op, const TmemCopy& p, const SpanVisitor& visit);
void cells_of(const AsyncOp& op, const TmemShift& p, const SpanVisitor& visit);
void cells_of(const Cluster& c, const AsyncOp& op, const TmemLdSt& t, const SpanVisitor& visit);

}  // namespace drywell::sim
