// Shadow memory of global memory, which is accessed in few places that are far apart.
#pragma once

#include <numeric>

#include "sim/check/shadow.h"

namespace drywell::sim::check {

/// Numbers pages in the order of their first use: an open hash table.
class PageIndex {
 public:
  static constexpr uint32_t kNone = ~0u;
  uint32_t find(uint64_t page) const {
    for (size_t i = place(page);; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i] == 0) return kNone;
      if (pages_[table_[i] - 1] == page) return table_[i] - 1;
    }
  }
  /// Gives a number to a page that has none yet.
  uint32_t add(uint64_t page) {
    pages_.push_back(page);
    if (2 * pages_.size() <= table_.size()) {
      insert(static_cast<uint32_t>(pages_.size()));
    } else {
      table_.assign(4 * table_.size(), 0);
      --bits_, --bits_;
      for (uint32_t n = 1; n <= pages_.size(); ++n) insert(n);
    }
    return static_cast<uint32_t>(pages_.size() - 1);
  }
  uint64_t page(uint32_t number) const { return pages_[number]; }
  size_t size() const { return pages_.size(); }
  /// The pages' numbers, by page.
  std::vector<uint32_t> order() const {
    std::vector<uint32_t> all(pages_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (!std::is_sorted(pages_.begin(), pages_.end())) std::sort(all.begin(), all.end(), [&](uint32_t a, uint32_t b) { return pages_[a] < pages_[b]; });
    return all;
  }
  void clear() { *this = {}; }

 private:
  size_t place(uint64_t page) const { return page * 0x9E3779B97F4A7C15u >> bits_; }
  void insert(uint32_t n) {
    size_t i = place(pages_[n - 1]);
    while (table_[i] != 0) i = (i + 1) & (table_.size() - 1);
    table_[i] = n;
  }

  std::vector<uint64_t> pages_;
  std::vector<uint32_t> table_ = std::vector<uint32_t>(64);  // number + 1; 0: none
  unsigned bits_ = 64 - 6;                                   // bits of a hash that are not used
};

/// Pages made on first use; they are small, because the rows of a box are far apart. One shadow holds them one after another.
class GlobalShadow {
 public:
  static constexpr uint64_t kPage = 512;

  template <class F>
  void update(uint64_t begin, uint64_t end, F next) {
    while (begin < end) {
      const uint64_t page = begin / kPage, last = std::min(end, (page + 1) * kPage);
      const size_t at = cells_of(page);
      cells_.update(at + begin % kPage, at + (last - page * kPage), [&](StateId s, size_t cell) { return next(s, page * kPage + (cell - at)); });
      begin = last;
    }
  }
  bool replace(uint64_t begin, uint64_t end, StateId in, StateId out) {
    const uint64_t page = begin / kPage;
    if (page != (end - 1) / kPage) return false;
    const size_t at = cells_of(page);
    return cells_.replace(at + begin % kPage, at + (end - page * kPage), in, out);
  }
  /// Merges the states of `other`: calls next(state here, state there, address) → state, by address.
  template <class F>
  void join(const GlobalShadow& other, F next) {
    for (const uint32_t n : other.pages_.order()) {
      const uint64_t page = other.pages_.page(n);
      const size_t at = cells_of(page);
      cells_.join(at, other.cells_, n * kPage, kPage, [&](StateId here, StateId there, size_t cell) { return next(here, there, page * kPage + (cell - at)); });
    }
  }
  /// Calls f(begin, end, state) for the runs of touched bytes, by address.
  template <class F>
  void each(F f) const {
    for (const uint32_t n : pages_.order()) {
      const uint64_t base = pages_.page(n) * kPage, at = n * kPage;
      cells_.each(at, at + kPage, [&](size_t begin, size_t end, StateId s) { f(base + (begin - at), base + (end - at), s); });
    }
  }
  /// Calls f(address, state) for the touched bytes of [begin, end).
  template <class F>
  void each_in(uint64_t begin, uint64_t end, F f) const {
    for (uint64_t page = begin / kPage; page * kPage < end; ++page) {
      const uint32_t n = pages_.find(page);
      if (n == PageIndex::kNone) continue;
      const uint64_t base = page * kPage, at = n * kPage;
      cells_.each_in(at + (std::max(begin, base) - base), at + std::min(end - base, kPage), [&](size_t cell, StateId s) { f(base + (cell - at), s); });
    }
  }
  void clear() {
    pages_.clear();
    cells_.clear();
    last_page_ = ~uint64_t{0};
  }

 private:
  /// The first cell of a page.
  size_t cells_of(uint64_t page) {
    if (page == last_page_) return last_cells_;
    uint32_t n = pages_.find(page);
    if (n == PageIndex::kNone) {
      n = pages_.add(page);
      cells_.grow(pages_.size() * kPage);
    }
    last_page_ = page;
    return last_cells_ = n * kPage;
  }

  uint64_t last_page_ = ~uint64_t{0};  // whose cells were asked for last: a warp goes on where it was
  size_t last_cells_ = 0;
  PageIndex pages_;
  Shadow<16> cells_{0};
};

}  // namespace drywell::sim::check
