// tare_mlx._core: what Python needs of the rest.
#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "formats/weight_format.h"
#include "held_plan.h"
#include "matrix.h"
#include "product.h"
#include "stand.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tare::in_mlx {
namespace {

using MaybeArray = std::optional<mx::array>;

// Packed matrices are handed around as such; Python never makes one.
struct Packed {
  std::shared_ptr<const Matrix> matrix;
};

Packed pack(Engine& engine, const std::string& arm, const std::string& type,
            const mx::array& weight, const MaybeArray& scales, const MaybeArray& biases) {
  const auto flat = [](const MaybeArray& array) {
    return array ? MaybeArray(mx::contiguous(*array)) : MaybeArray();
  };
  const std::uint32_t number = formats::type_number(type);
  const auto n = static_cast<std::uint64_t>(weight.shape(0));
  const auto columns = static_cast<std::uint64_t>(weight.shape(1));
  // Four-byte words of codes where there are scales.
  const std::uint64_t k =
      scales ? static_cast<std::uint64_t>(scales->shape(1)) * formats::format_of(number).group
             : columns;
  Weights weights{number, k, n, mx::contiguous(weight), flat(scales), flat(biases)};
  std::vector<mx::array> all{weights.weight};
  for (const MaybeArray& one : {weights.scales, weights.biases})
    if (one) all.push_back(*one);
  mx::eval(all);
  return {engine.pack(arm, weights)};
}

// Of a layer, which is a dictionary of its arrays as every module of MLX is. Straight from there:
// this is asked for every product of every token.
const mx::array* array_in(nb::handle layer, nb::handle name) {
  const nb::handle value = PyDict_GetItem(layer.ptr(), name.ptr());
  return value.is_valid() && nb::isinstance<mx::array>(value) ? nb::inst_ptr<mx::array>(value)
                                                              : nullptr;
}

Held held_by(nb::handle layer) {
  struct Names {
    nb::object weight = nb::steal(PyUnicode_InternFromString("weight"));
    nb::object scales = nb::steal(PyUnicode_InternFromString("scales"));
    nb::object biases = nb::steal(PyUnicode_InternFromString("biases"));
    nb::object bias = nb::steal(PyUnicode_InternFromString("bias"));
  };
  static const Names* const names = new Names;  // never freed: Python's may end before ours
  if (!PyDict_Check(layer.ptr())) throw std::invalid_argument("tare_mlx: a layer is a dictionary");
  return {array_in(layer, names->weight), array_in(layer, names->scales),
          array_in(layer, names->biases), array_in(layer, names->bias)};
}

std::shared_ptr<Engine> make_engine(const std::string& device, std::uint32_t threads) {
  return device == "gpu" ? make_cuda_engine() : make_processor_engine(threads);
}

}  // namespace
}  // namespace tare::in_mlx

NB_MODULE(_core, m) {
  using namespace tare::in_mlx;
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  m.doc() = "Tare's kernels as primitives of MLX";

  nb::class_<Packed>(m, "Matrix")
      .def_prop_ro("k", [](const Packed& self) { return self.matrix->k(); })
      .def_prop_ro("n", [](const Packed& self) { return self.matrix->n(); })
      .def_prop_ro("bytes", [](const Packed& self) { return self.matrix->bytes(); });

  nb::class_<Engine>(m, "Engine")
      .def_prop_ro("library", &Engine::library)
      .def("has",
           [](const Engine& self, const std::string& arm, const std::string& type) {
             return self.has(arm, tare::formats::type_number(type));
           })
      .def("pack", &pack, "arm"_a, "type"_a, "weight"_a, "scales"_a = nb::none(),
           "biases"_a = nb::none(), Unlocked());
  m.def("engine", &make_engine, "device"_a, "threads"_a, Unlocked());

  nb::class_<Served>(m, "Served")
      .def_ro("rows", &Served::rows)
      .def_ro("arm", &Served::arm)
      .def_ro("equality", &Served::equality);
  nb::class_<HeldPlan>(m, "Plan")
      .def(nb::init<const std::string&, const std::string&, std::string>(), "path"_a, "device"_a,
           "kernels"_a)
      .def_prop_ro("threads", &HeldPlan::threads)
      .def("served",
           [](const HeldPlan& self, const std::string& type, std::uint64_t k, std::uint64_t n) {
             return self.served(tare::formats::type_number(type), k, n);
           })
      .def("refusal", [](const HeldPlan& self, const std::string& type, std::uint64_t k,
                         std::uint64_t n, std::uint32_t rows) {
        return self.refusal(tare::formats::type_number(type), k, n, rows);
      });
  m.def("threads_of_plan", &threads_of_plan, "path"_a);

  // Layers: modules of MLX, or dictionaries with weight, scales, biases, bias as those have.
  nb::class_<Stand>(m, "Stand")
      .def(nb::init<std::vector<std::uint64_t>>(), "widths"_a)
      .def("expect", [](Stand& self, nb::handle layer) { self.expect(held_by(layer)); })
      .def("serve", [](Stand& self, std::uint32_t rows,
                       const Packed& packed) { self.serve(rows, packed.matrix); })
      .def("__call__", [](Stand& self, std::size_t layer_index, const mx::array& x,
                          nb::handle layer) { return self.call(layer_index, x, held_by(layer)); })
      .def_prop_ro("served", &Stand::served)
      .def_prop_ro("left", &Stand::left);
  // An array that was assigned to anew is another one, though Python's object may be the same.
  m.def("identity", [](const mx::array& array) { return array.id(); });
}
