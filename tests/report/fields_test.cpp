// A member that somebody adds to a struct but not to fields.h would be lost in every file without a
// word.
#include "report/fields.h"

#include <gtest/gtest.h>

namespace tare::report {
namespace {

struct Anything {
  template <typename T>
  operator T() const;  // never defined: only its type is used
};

// Members of an aggregate: the most initialisers that it takes.
template <typename T, typename... Initialisers>
constexpr std::size_t member_count() {
  if constexpr (requires { T{Initialisers{}..., Anything{}}; }) {
    return member_count<T, Initialisers..., Anything>();
  } else {
    return sizeof...(Initialisers);
  }
}

struct Counter {
  template <typename T>
  void operator()(const char*, const T&) {
    ++count;
  }
  template <typename T>
  void later(const char*, const T&) {
    ++count;
  }
  void element_type(const char*, std::uint32_t) { ++count; }
  void type_if_any(const char*, std::uint32_t) { ++count; }
  std::size_t count = 0;
};

template <typename T>
std::size_t visited_count() {
  Counter counter;
  const T value{};
  visit_fields(counter, value);
  return counter.count;
}

// Members that are not kept: a model's single matrices, of which a file says how many there are.
template <typename T>
constexpr std::size_t kNotKept = std::is_same_v<T, problem::Model> ? 1 : 0;

template <typename T>
class Fields : public testing::Test {};

using Structs =
    testing::Types<device::Isa, device::Machine, device::Accelerator, Library, problem::Projection,
                   problem::Model, judge::Rules, Header, Screened, tare_problem, weigh::Arm,
                   weigh::Placement, weigh::Region, weigh::DeviceState, weigh::RowProof,
                   weigh::Proof, weigh::ChainPart, weigh::Weighing, judge::Fit, judge::Finding,
                   judge::Judgement, Footer>;
TYPED_TEST_SUITE(Fields, Structs);

TYPED_TEST(Fields, NamesEveryMember) {
  EXPECT_EQ(visited_count<TypeParam>() + kNotKept<TypeParam>, member_count<TypeParam>())
      << "name the new member in src/report/fields.h and docs/results-schema.md";
}

}  // namespace
}  // namespace tare::report
