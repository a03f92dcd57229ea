# tare_mlx on MLX's CPU device: what a plan serves takes the places of layers, what it does not is left alone, and what is wrong
# never stays.
import os
import unittest

import mlx.core as mx
import mlx.nn as nn

from mlx_case import MLX, PROJECTIONS, PROMPTS, SHAPES, SHORT, Case, decisions
from mlx_models import DIM, HIDDEN, LAYERS, VOCABULARY, decoder
from tare_mlx import _core
from tare_mlx.logits import all_logits, differing


class Serving(Case):
    def test_layers_are_found_by_structure_and_replaced(self):
        for tied in (True, False):
            for bits, type in ((None, "bf16"), (4, "mlx-int4-g64"), (8, "mlx-int8-g64")):
                with self.subTest(tied=tied, type=type):
                    model = decoder(tied, bits)
                    report, said = self.compiled(model, self.plan(*decisions(type)), prompts=SHORT)
                    self.assertTrue(report)
                    self.assertEqual(len(report.kept), PROJECTIONS, report)
                    self.assertEqual(said, [])
                    before = report.dispatches
                    mx.eval(model(mx.array([[5]])))
                    self.assertEqual(report.dispatches - before, PROJECTIONS)
                    self.assertIsInstance(model.layers[0].gate_proj, nn.QuantizedLinear if bits else nn.Linear)

    def test_other_row_counts_and_shapes_stay_with_mlx(self):
        model = decoder()
        plain = all_logits(model, [[1, 2, 3]])
        report, _ = self.compiled(model, self.plan(*decisions(rows=[1], shapes=SHAPES[:1])))
        self.assertEqual([part.name for part in report.kept],
                         [f"layers.{i}.self_attn.{name}" for i in range(LAYERS) for name in ("q_proj", "o_proj")])
        before = report.dispatches
        self.assertEqual(differing(plain, all_logits(model, [[1, 2, 3]])), 0)
        self.assertEqual(report.dispatches, before)

    def test_what_is_given_the_same_input_is_served_as_one_where_a_plan_says_so(self):
        fused = [(DIM, DIM + 2 * 128), (DIM, 2 * HIDDEN)]
        for bits, type in ((None, "bf16"), (4, "mlx-int4-g64"), (8, "mlx-int8-g64")):
            with self.subTest(type=type):
                model = decoder(bits=bits)
                report, _ = self.compiled(model, self.plan(*decisions(type, rows=[1], shapes=fused)), prompts=SHORT)
                self.assertEqual(len(report.kept), 2 * LAYERS, report)
                self.assertEqual(report.kept[0].name, "+".join(f"layers.0.self_attn.{one}_proj" for one in "qkv"))
                before = report.dispatches
                mx.eval(model(mx.array([[5]])))
                self.assertEqual(report.dispatches - before, 2 * LAYERS)

    def test_one_and_several_products_together_are_tried_in_turn(self):
        model = decoder()
        report, _ = self.compiled(model, self.plan(*decisions(rows=[1], shapes=[(DIM, 2 * HIDDEN)]),
                                                   *decisions(rows=[1, 2], shapes=[(DIM, HIDDEN)])))
        self.assertEqual(len(report.kept), 3 * LAYERS)
        for tokens, served in (([[5]], LAYERS), ([[5, 6]], 2 * LAYERS)):
            before = report.dispatches
            mx.eval(model(mx.array(tokens)))
            self.assertEqual(report.dispatches - before, served)

    def test_restore_undoes(self):
        model = decoder()
        plain, classes = all_logits(model, PROMPTS), [type(one) for one in model.modules()]
        report, _ = self.compiled(model)
        self.assertNotEqual([type(one) for one in model.modules()], classes)
        for _ in range(2):
            report.restore()
            self.assertFalse(report)
            self.assertEqual([type(one) for one in model.modules()], classes)
        self.assertEqual(differing(plain, all_logits(model, PROMPTS)), 0)

    def test_works_in_a_compiled_model(self):
        model = decoder()
        fused = [(DIM, DIM + 2 * 128), (DIM, 2 * HIDDEN)]
        report, _ = self.compiled(model, self.plan(*decisions(), *decisions(shapes=fused)))
        self.assertEqual(len(report.kept), PROJECTIONS + 2 * LAYERS)
        served, before = all_logits(model, PROMPTS), report.dispatches
        self.assertEqual(differing(served, all_logits(mx.compile(lambda tokens: model(tokens)), PROMPTS)), 0)
        self.assertGreater(report.dispatches, before)

    def test_exchanged_weights_are_not_served_with_the_old_ones(self):
        model = decoder()
        report, _ = self.compiled(model)
        layer, x = model.layers[0].gate_proj, mx.ones((1, DIM), mx.bfloat16)
        for change in (lambda: layer.update({"weight": layer.weight * 2}), lambda: layer.weight.__setitem__(0, layer.weight[0] * 2)):
            change()
            self.assertTrue(mx.all(layer(x) == x @ layer.weight.T).item())
        before = report.dispatches
        layer(x)
        self.assertEqual(report.dispatches, before)

    def test_a_model_can_be_trained_as_before(self):
        model = decoder()
        self.compiled(model)
        tokens = mx.array([[1, 2]])
        loss = lambda model: nn.losses.cross_entropy(model(tokens), tokens).mean()  # noqa: E731
        value, gradients = nn.value_and_grad(model, loss)(model)
        self.assertTrue(mx.isfinite(value).item())
        self.assertTrue(mx.any(gradients["layers"][0]["gate_proj"]["weight"] != 0).item())


class Wrong:
    """An engine whose matrices for some weights are of other weights."""

    def __init__(self, engine, is_wrong, change):
        self.engine, self.is_wrong, self.change, self.library = engine, is_wrong, change, engine.library

    def has(self, *arguments):
        return self.engine.has(*arguments)

    def pack(self, arm, type, weight, *others):
        return self.engine.pack(arm, type, self.change(weight) if self.is_wrong(weight) else weight, *others)


class Comparing(Case):
    """Kernels that were planted to be wrong."""

    def compiled_with(self, is_wrong, change, equality, model=None):
        make = _core.engine
        _core.engine = lambda *arguments: Wrong(make(*arguments), is_wrong, change)
        try:
            return self.compiled(model or decoder(), self.plan(*decisions(equality=equality)))[0]
        finally:
            _core.engine = make

    def test_a_wrong_part_is_left_and_the_others_are_kept(self):
        wrong = decoder().layers[1].up_proj.weight
        for equality in ("bounded", "self"):
            with self.subTest(equality=equality):
                report = self.compiled_with(lambda weight: weight.shape == wrong.shape and mx.all(weight == wrong).item(),
                                            lambda weight: weight * 1.5, equality)
                self.assertEqual([part.name for part in report.left], ["layers.1.up_proj"])
                self.assertEqual(len(report.kept), PROJECTIONS - 1)
                self.assertRegex(report.left[0].reason, "farther from f32")

    def test_equal_bits_are_demanded_where_the_plan_promises_them(self):
        model = decoder()
        plain = all_logits(model, PROMPTS)
        report = self.compiled_with(lambda weight: weight.shape[0] == HIDDEN, lambda weight: weight + 2.0**-9, "incumbent", model)
        self.assertEqual({part.name.split(".")[-1] for part in report.left} & {"gate_proj", "up_proj"}, {"gate_proj", "up_proj"})
        self.assertEqual(report.differing, 0)
        self.assertEqual(differing(plain, all_logits(model, PROMPTS)), 0)

    def test_the_kernel_in_mlxs_order_keeps_every_bit(self):
        for tied in (True, False):
            model = decoder(tied)
            plain = all_logits(model, PROMPTS)
            served = [one.replace("tare-panel", "tare-panel-mlx") for one in decisions(rows=(1, 2, 8, 32, 48), equality="incumbent")]
            report, _ = self.compiled(model, self.plan(*served))
            self.assertEqual((len(report.kept), report.differing), (PROJECTIONS, 0), report)
            self.assertEqual(differing(plain, all_logits(model, PROMPTS)), 0)

    def test_nan_never_passes(self):
        for equality in ("bounded", "incumbent"):
            with self.subTest(equality=equality):
                report = self.compiled_with(lambda weight: weight.shape == (VOCABULARY, DIM),
                                            lambda weight: mx.where(mx.arange(VOCABULARY)[:, None] == 17, mx.nan, weight), equality)
                head = next(part for part in report.left if part.name == "embed_tokens")
                self.assertRegex(head.reason, "NaN")

    def test_a_model_that_is_nan_itself_is_not_served(self):
        model = decoder()
        model.embed_tokens.weight = mx.where(mx.arange(VOCABULARY)[:, None] == 0, mx.nan, model.embed_tokens.weight)
        report, said = self.compiled(model)
        self.assertFalse(report)
        self.assertEqual(said, ["tare: nothing is served: the model's own logits are NaN or infinite"])

    def test_where_nothing_passes_the_report_is_false(self):
        model = decoder()
        report = self.compiled_with(lambda weight: True, lambda weight: weight * mx.nan, "bounded", model)
        self.assertFalse(report)
        self.assertEqual(len(report.left), PROJECTIONS)
        self.assertIs(type(model.layers[0].gate_proj), nn.Linear)


class Prompts(Case):
    """What is compared before anything stays."""

    class Noting:
        """A model that notes how long its prompts are."""

        def __init__(self, model, lengths):
            self.model, self.lengths = model, lengths

        def __getattr__(self, name):
            return getattr(self.model, name)

        def __call__(self, tokens):
            self.lengths.append(tokens.shape[1])
            return self.model(tokens)

    def test_are_of_1_2_8_32_tokens_and_more_and_of_every_row_count(self):
        lengths = []
        report, _ = self.compiled(self.Noting(decoder(), lengths), self.plan(*decisions(rows=(1, 8, 17))))
        self.assertTrue(report)
        for length in (1, 2, 8, 17, 32, 48):
            self.assertGreaterEqual(lengths.count(length), 2)  # before and after

    def test_a_report_says_what_it_cost(self):
        report, _ = self.compiled(decoder())
        weights = LAYERS * (2 * DIM * DIM + 2 * DIM * 128 + 3 * DIM * HIDDEN) + DIM * VOCABULARY
        self.assertGreaterEqual(report.packed_bytes, 2 * weights)
        self.assertLess(report.packed_bytes, 2.1 * weights)
        self.assertRegex(str(report), rf"it cost {report.packed_bytes / 1e6:.1f} MB beside the model's own, and [0-9.]+ s: [0-9.]+ to find, "
                                      r"[0-9.]+ to pack, [0-9.]+ to compare")


class Refusals(Case):
    """Whatever is wrong with a plan: one line, and nothing else happens."""

    def refused(self, path, expected):
        model = decoder()
        plain = all_logits(model, PROMPTS)
        report, said = self.compiled(model, path)
        self.assertFalse(report)
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], "^tare: nothing is served: .*" + expected)
        self.assertIs(type(model.layers[0].gate_proj), nn.Linear)
        self.assertEqual(differing(plain, all_logits(model, PROMPTS)), 0)

    def edited(self, edit):
        self.plan()
        self.path.write_text(edit(self.path.read_text()))
        return self.path

    def test_a_plan_that_is_not_there(self):
        self.refused("/nowhere/plan.json", "no such file")

    def test_a_plan_cut_short(self):
        self.refused(self.edited(lambda text: text[: len(text) // 2]), "cut short")

    def test_a_flipped_bit(self):
        self.refused(self.edited(lambda text: text.replace('"rows": 1', '"rows": 3', 1)), "changed or damaged")

    def test_a_newer_schema(self):
        self.refused(self.edited(lambda text: text.replace("tare.plan/1", "tare.plan/2")), "tare.plan/2")

    def test_another_version_of_the_library(self):
        self.refused(self.plan(title="MLX 9.9.9"), f"made with MLX 9.9.9, and this is {MLX}")

    def test_more_threads_than_there_are(self):
        self.refused(self.plan(threads=os.cpu_count() + 1), "threads, and this process may use")

    def test_kernels_that_are_not_here(self):
        served = [one.replace("tare-panel", "tare-unheard-of") for one in decisions()]
        self.refused(self.plan(*served), f"serves none of this model's {PROJECTIONS} products")

    def test_a_plan_for_other_shapes(self):
        self.refused(self.plan(*decisions(shapes=[(4096, 4096)])), "serves none")


if __name__ == "__main__":
    unittest.main()
