#include "sim/debug/snapshot.h"

#include <algorithm>
#include <cstring>

#include "drywell/core/error.h"

namespace drywell::sim {

ClusterImage::ClusterImage(ClusterStepper& of) : index_(of.cluster().index), position_(of.position()), cluster_(detail::state_of_cluster(of.cluster())) {
  for (auto& cta : of.cluster().ctas) ctas_.emplace_back(detail::state_of_cta(*cta));
}

void ClusterImage::restore(ClusterStepper& to) const {
  Cluster& c = to.cluster();
  DRYWELL_CHECK(c.index == index_ && c.ctas.size() == ctas_.size(), "the image is of another cluster");
  detail::state_of_cluster(c) = cluster_;
  for (size_t i = 0; i < ctas_.size(); ++i) {
    Cta& cta = *c.ctas[i];
    detail::state_of_cta(cta) = ctas_[i];
    for (Warp& w : cta.warps) {  // a warp has pointers into its own storage
      w.cta = &cta;
      w.enter_frame(w.frame);
    }
  }
  to.set_position(position_);
}

MemoryImage::MemoryImage(const Gmem& of, const MemoryImage* earlier) {
  const std::vector<const Gmem::Allocation*> all = of.allocations();
  for (size_t p = 0; p < all.size(); ++p) {
    const Gmem::Allocation& a = *all[p];
    auto& pages = parts_.emplace_back();
    for (uint64_t at = 0; at < a.size; at += kPageBytes) {
      const size_t bytes = static_cast<size_t>(std::min<uint64_t>(kPageBytes, a.size - at));
      const std::shared_ptr<const Page> old = earlier != nullptr ? earlier->parts_[p][pages.size()] : nullptr;
      const bool same = old != nullptr && std::memcmp(old->data(), a.data + at, bytes) == 0;
      pages.push_back(same ? old : std::make_shared<const Page>(a.data + at, a.data + at + bytes));
    }
  }
}

void MemoryImage::restore(Gmem& to) const {
  const std::vector<const Gmem::Allocation*> all = to.allocations();
  DRYWELL_CHECK(all.size() == parts_.size(), "allocations changed during a launch");
  for (size_t p = 0; p < parts_.size(); ++p) {
    uint8_t* at = all[p]->data;
    for (const auto& page : parts_[p]) {
      // A comparison is cheaper than a write of equal bytes, which dirties the host's caches.
      if (std::memcmp(at, page->data(), page->size()) != 0) std::memcpy(at, page->data(), page->size());
      at += page->size();
    }
  }
}

uint64_t MemoryImage::bytes(const Gmem& of) {
  uint64_t sum = 0;
  for (const Gmem::Allocation* a : of.allocations()) sum += a->size;
  return sum;
}

}  // namespace drywell::sim
