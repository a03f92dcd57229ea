// Which fields a struct has in a file, and how they are called there, is said once, by a function
// visit_fields(visitor, value) in the room of the file. It calls visitor("name", value.member) for
// every field, in the order of the file, visitor.element_type("name", member) for an element type
// of arm.h, visitor.type_if_any("name", member) for one that is left out where there is none (0),
// and visitor.later("name", value.member) for a field that older files of the same version lack.
// The visitors that write and read JSON are in json_fields.h.
#pragma once

#include <concepts>
#include <type_traits>

#include "tare/arm.h"

namespace tare::records {

// A value of that type, to be written (const) or read into.
template <typename T, typename Plain>
concept Is = std::same_as<std::remove_const_t<T>, Plain>;

template <typename Visitor>
void visit_fields(Visitor& visit, Is<tare_problem> auto& problem) {
  visit("k", problem.k);
  visit("n", problem.n);
  visit("rows", problem.rows);
  visit.element_type("weights", problem.weights);
  visit.element_type("activations", problem.activations);
  visit.element_type("output", problem.output);
  visit.element_type("accumulator", problem.accumulator);
  visit.type_if_any("bias", problem.bias);
}

}  // namespace tare::records
