// The layout algebra: expressions in CuTe's notation, indices, and pictures.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "drywell/isa/layout/expression.h"
#include "drywell/isa/layout/picture.h"
#include "drywell/sim/inspect/fragment_map.h"
#include "python/src/binding.h"

namespace drywell::python {
namespace {

std::string evaluate(const std::string& expression) {
  const layout::Evaluation e = layout::evaluate(expression);
  return layout::to_string(e.value, e.marks);
}

layout::PictureOptions options(const std::string& colour, uint32_t element_bits) {
  layout::PictureOptions o;
  o.element_bits = element_bits;
  o.colour = colour == "bank"    ? layout::ColourBy::bank
             : colour == "chunk" ? layout::ColourBy::chunk
             : colour == "none"  ? layout::ColourBy::none
                                 : layout::ColourBy::index;
  return o;
}

std::string draw(const layout::Grid& g, const std::string& form) {
  if (form == "text") return layout::to_text(g);
  return form == "svg" ? layout::to_svg(g) : layout::to_html(g);
}

std::string picture(const std::string& expression, const std::string& form, const std::string& colour,
                    uint32_t element_bits) {
  return draw(layout::picture(layout::evaluate(expression).layout(), options(colour, element_bits)), form);
}

std::vector<std::string> fragments(const std::string& instruction, const std::string& form) {
  std::vector<std::string> out;
  for (const sim::FragmentMap& f : sim::fragments_of(instruction))
    out.push_back(draw(sim::matrix_picture(f), form));
  return out;
}

}  // namespace

void bind_layouts(nb::module_& m) {
  m.def("evaluate_layout", &evaluate);
  m.def("layout_picture", &picture, nb::arg("expression"), nb::arg("form"), nb::arg("colour"),
        nb::arg("element_bits"));
  m.def("layout_help", &layout::expression_help);
  m.def("fragment_pictures", &fragments);
}

}  // namespace drywell::python
