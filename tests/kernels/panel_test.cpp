// Every path this processor can run, against the reference, bit by bit: shapes with tails, every
// row tile, values of all kinds; that a row's bits do not depend on its company; and that nothing
// is written outside y.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "kernels/panel_projection.h"
#include "tests/kernels/bare_data.h"
#include "tests/kernels/company.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/heap.h"
#include "tests/kernels/reference.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tare::kernels {
namespace {

using reference::Values;

struct Shape {
  std::uint64_t k;
  std::uint64_t n;
  std::uint32_t rows;
};

class EveryPath : public testing::TestWithParam<const PanelPath*> {
 protected:
  std::vector<Bf16> project(PanelProjection& projection, const std::vector<Bf16>& x,
                            const Shape& shape) {
    return run_guarded(projection, x.data(), shape.rows * shape.n);
  }

  PanelProjection prepared(const Shape& shape, const std::vector<Bf16>& weights) {
    return prepared(shape, weights, onednn_order(shape.k));
  }
  PanelProjection prepared(const Shape& shape, const std::vector<Bf16>& weights, SumOrder order) {
    PanelProjection projection({shape.k, shape.n}, order, shape.rows, 1, *GetParam(), pool_,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, weights.data());
    return projection;
  }

  void expect_reference_bits(const Shape& shape, Values values) {
    expect_reference_bits(shape, values, onednn_order(shape.k));
  }
  void expect_reference_bits(const Shape& shape, Values values, SumOrder order) {
    SCOPED_TRACE(testing::Message()
                 << shape.k << "x" << shape.n << " rows " << shape.rows << " seed " << seed_);
    const auto x = reference::draw(random_, shape.rows * shape.k, values);
    const auto weights = reference::draw(random_, shape.n * shape.k, values);
    auto projection = prepared(shape, weights, order);
    const auto expected = reference::project(x, weights, shape.k, shape.n, shape.rows, order);
    for (const Keep keep : {Keep::kNowhere, Keep::kEveryCache}) {
      projection.set_keep(keep);
      EXPECT_EQ(project(projection, x, shape), expected);
    }
  }

  void expect_reference_bits_with_bias(const Shape& shape, Values values, SumOrder order) {
    SCOPED_TRACE(testing::Message()
                 << shape.k << "x" << shape.n << " rows " << shape.rows << " seed " << seed_);
    const auto x = reference::draw(random_, shape.rows * shape.k, values);
    const auto weights = reference::draw(random_, shape.n * shape.k, values);
    const auto bias = reference::draw(random_, shape.n, values);
    PanelProjection projection({shape.k, shape.n, TARE_BF16, TARE_BF16}, order, shape.rows, 1,
                               *GetParam(), pool_,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, with_bias(weights, bias).data());
    EXPECT_EQ(project(projection, x, shape),
              reference::project(x, weights, shape.k, shape.n, shape.rows, order, widened(bias)));
  }

  std::uint64_t seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
  ThreadPool pool_{2};
};

TEST_P(EveryPath, HasTheReferencesBitsAtEveryTileHeight) {
  for (std::uint32_t rows = 1; rows <= 14; ++rows)
    expect_reference_bits({70, 64, rows}, Values::kUsual);
  expect_reference_bits({300, 128, 32}, Values::kUsual);
}

TEST_P(EveryPath, HasTheReferencesBitsAtOddShapes) {
  for (const Shape shape :
       {Shape{1, 1, 1}, Shape{1, 1, 9}, Shape{2, 3, 1}, Shape{3, 65, 2}, Shape{127, 63, 7},
        Shape{129, 130, 8}, Shape{257, 191, 13}, Shape{1031, 67, 1}, Shape{513, 65, 2},
        Shape{1024, 3, 7}, Shape{2051, 66, 1}, Shape{2051, 66, 7}}) {
    expect_reference_bits(shape, Values::kUsual);
  }
}

TEST_P(EveryPath, HasTheReferencesBitsOnEveryKindOfValue) {
  for (const std::uint32_t rows : {1u, 3u, 11u}) {
    expect_reference_bits({5, 200, rows}, Values::kAnyFinite);
    expect_reference_bits({131, 70, rows}, Values::kAnyFinite);
    expect_reference_bits({5, 200, rows}, Values::kAnyBits);
    expect_reference_bits({200, 70, rows}, Values::kAnyBits);
    expect_reference_bits({1200, 10, rows}, Values::kAnyFinite);
    expect_reference_bits({515, 10, rows}, Values::kAnyBits);
  }
}

// NaN payloads are another matter: those of lanes are not followed.
TEST_P(EveryPath, HasTheReferencesBitsInOrdersOfManyLanes) {
  for (const std::uint64_t lanes : {16u, 32u})
    for (const Shape shape : {Shape{1, 1, 1}, Shape{33, 65, 2}, Shape{64, 64, 1}, Shape{259, 70, 7},
                              Shape{1536, 68, 13}, Shape{1099, 3, 1}, Shape{576, 130, 32}}) {
      expect_reference_bits(shape, Values::kUsual, {4096, lanes});
      expect_reference_bits(shape, Values::kUsual, {4096, lanes, true});
      expect_reference_bits(shape, Values::kUsual, {512, lanes});
      expect_reference_bits(shape, Values::kUsual, {4096, lanes, false, kNeighboursFold});
      if (shape.k < 300) expect_reference_bits(shape, Values::kAnyFinite, {4096, lanes, true});
    }
}

// Of every order, at whole panels and at tails: a bias is added to the total and nothing else.
TEST_P(EveryPath, AddsABiasBeforeTheRounding) {
  for (const Shape shape :
       {Shape{1, 1, 1}, Shape{70, 64, 1}, Shape{515, 67, 9}, Shape{64, 31, 32}}) {
    expect_reference_bits_with_bias(shape, Values::kUsual, onednn_order(shape.k));
    expect_reference_bits_with_bias(shape, Values::kAnyBits, onednn_order(shape.k));
    expect_reference_bits_with_bias(shape, Values::kUsual, {4096, 16, true});
    expect_reference_bits_with_bias(shape, Values::kAnyFinite, {4096, 32, true});
  }
}

// A slot's bias is its own, and goes with it when another matrix is bound.
TEST_P(EveryPath, KeepsABiasForEachSlot) {
  const Shape shape{8, 40, 2};
  const std::vector<Bf16> x(shape.rows * shape.k, 0);
  const std::vector<Bf16> weights(shape.n * shape.k, 0x3F80);
  PanelProjection projection({shape.k, shape.n, TARE_BF16, TARE_BF16}, onednn_order(shape.k),
                             shape.rows, 2, *GetParam(), pool_,
                             {.allocate = heap_allocate, .release = heap_release});
  const auto bind = [&](std::uint32_t slot, Bf16 bias) {
    projection.bind(slot, with_bias(weights, std::vector<Bf16>(shape.n, bias)).data());
  };
  const auto output = [&](std::uint32_t slot) {
    std::vector<Bf16> y(shape.rows * shape.n);
    projection.run(slot, x.data(), y.data());
    return y;
  };
  bind(0, 0x3F80);
  bind(1, 0x4000);
  EXPECT_EQ(output(0), std::vector<Bf16>(80, 0x3F80));
  EXPECT_EQ(output(1), std::vector<Bf16>(80, 0x4000));
  bind(0, 0xC040);
  EXPECT_EQ(output(0), std::vector<Bf16>(80, 0xC040));
}

TEST_P(EveryPath, TakesAnotherOrderWithOtherRows) {
  const Shape many{640, 64, 5}, one{640, 64, 1};
  SCOPED_TRACE(seed_);
  const auto x = reference::draw(random_, many.rows * many.k, Values::kUsual);
  const auto weights = reference::draw(random_, many.n * many.k, Values::kUsual);
  auto projection = prepared(many, weights, ggml_order(640, 5));
  EXPECT_EQ(project(projection, x, many),
            reference::project(x, weights, 640, 64, 5, ggml_order(640, 5)));
  projection.set_rows(1, ggml_order(640, 1));
  EXPECT_EQ(project(projection, x, one),
            reference::project(x, weights, 640, 64, 1, ggml_order(640, 1)));
}

TEST_P(EveryPath, KeepsARowsBitsInAnyCompany) {
  const Shape most{333, 100, 32};
  SCOPED_TRACE(seed_);
  const auto x = reference::draw(random_, most.rows * most.k, Values::kUsual);
  const auto weights = reference::draw(random_, most.n * most.k, Values::kUsual);
  auto projection = prepared(most, weights);
  expect_same_bits_in_any_company(
      [&](std::uint32_t rows, const std::vector<Bf16>& some) {
        projection.set_rows(rows);
        return project(projection, some, {most.k, most.n, rows});
      },
      x, most.rows, most.n);
}

TEST_P(EveryPath, KeepsItsBitsWithAnyNumberOfThreads) {
  const Shape shape{150, 300, 4};
  const auto x = reference::draw(random_, shape.rows * shape.k, Values::kUsual);
  const auto weights = reference::draw(random_, shape.n * shape.k, Values::kUsual);
  std::optional<std::vector<Bf16>> first;
  for (const std::uint32_t threads : {1u, 2u, 3u, 9u}) {
    ThreadPool pool(threads);
    PanelProjection projection({shape.k, shape.n}, onednn_order(shape.k), shape.rows, 1,
                               *GetParam(), pool,
                               {.allocate = heap_allocate, .release = heap_release});
    projection.bind(0, weights.data());
    const auto y = project(projection, x, shape);
    if (!first) first = y;
    EXPECT_EQ(y, *first) << threads << " threads, seed " << seed_;
  }
}

#if defined(__x86_64__)
TEST_P(EveryPath, LeavesTheControlWordAlone) {
  const unsigned before = _mm_getcsr();
  expect_reference_bits({9, 9, 2}, Values::kAnyFinite);
  auto projection = prepared({9, 9, 2}, std::vector<Bf16>(81, 0x0001));
  const auto y = project(projection, std::vector<Bf16>(18, 0x3F80), {9, 9, 2});
  EXPECT_EQ(_mm_getcsr() & 0xFFC0u, before & 0xFFC0u);
}
#endif

INSTANTIATE_TEST_SUITE_P(Panel, EveryPath,
                         testing::ValuesIn(panel_paths().begin(), panel_paths().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(PanelProjection, SaysWhenThereIsNoMemory) {
  ThreadPool pool(1);
  const Memory none{.allocate = [](std::size_t) -> void* { return nullptr; },
                    .release = [](void*) {}};
  EXPECT_THROW(PanelProjection({64, 64}, {512}, 1, 1, *panel_paths()[0], pool, none), Error);
}

TEST(ChoosePanelPath, TakesNamesAndRefusesOthers) {
  EXPECT_STREQ(choose_panel_path("portable").name, "portable");
  for (const auto* path : panel_paths()) EXPECT_EQ(&choose_panel_path(path->name), path);
  EXPECT_THROW(choose_panel_path("sse9"), Error);
  const auto here = panel_paths();
  EXPECT_NE(std::find(here.begin(), here.end(), &choose_panel_path("")), here.end());
}

}  // namespace
}  // namespace tare::kernels
