# tare_mlx on MLX's CPU device: what a plan serves takes the places of layers, what it does not is left alone, and what is wrong
# never stays.
import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mlx.core as mx
import mlx.nn as nn

import tare_mlx
from mlx_models import DIM, HIDDEN, LAYERS, VOCABULARY, decoder
from tare_mlx import _core, models
from tare_mlx.host import Host
from tare_mlx.logits import all_logits, default_prompts, differing

MLX = f"MLX {mx.__version__}"
SHAPES = [(DIM, DIM), (DIM, 128), (DIM, HIDDEN), (HIDDEN, DIM), (DIM, VOCABULARY)]  # k x n of q and o, k and v, gate and up, down, head
KERNELS = {"bf16": "tare-panel", "mlx-int4-g64": "tare-grouped", "mlx-int8-g64": "tare-grouped"}
PROMPTS = default_prompts(VOCABULARY, [])
SHORT = [[5], [6, 7], list(range(8, 16))]  # MLX takes milliseconds for a quantised product
PROJECTIONS = 7 * LAYERS + 1


def decisions(type="bf16", rows=(1, 2, 8), shapes=SHAPES, equality="bounded"):
    return [f"{type}:{k}x{n}:{count}:{KERNELS[type]}:{equality}" for k, n in shapes for count in rows]


def graph_of(array):
    """What is not yet evaluated of it, as MLX writes it for graphviz."""
    text = io.StringIO()
    mx.export_to_dot(text, array)
    return text.getvalue()


def layer_of(type, k, n, bias):
    layer = nn.Linear(k, n, bias=bias)
    if bias:
        layer.bias = mx.random.normal((n,))
    layer.set_dtype(mx.bfloat16)
    return layer if type == "bf16" else nn.QuantizedLinear.from_linear(layer, 64, int(type[7]))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "plan.json"

    def plan(self, *served, title=MLX, threads=0):
        subprocess.run([os.environ["TARE_SYNTHETIC_PLAN"], self.path, "mlx", title, str(threads), *(served or decisions())],
                       check=True)
        return self.path

    def compiled(self, model, path=None, **options):
        """The report, and what was said meanwhile."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            report = tare_mlx.compile(model, path or self.plan(), **options)
        return report, said.getvalue().splitlines()


class Products(Case):
    """The primitive by itself, against float64."""

    def setUp(self):
        super().setUp()
        self.engine = _core.engine("cpu", 2)
        mx.random.seed(3)

    def product(self, type, rows, k, n, bias):
        """A stand's outputs, the exact ones of the very same numbers, and how far off roundings alone may be."""
        weight = (mx.random.normal((n, k)) * k**-0.5).astype(mx.bfloat16)
        arrays = (weight, None, None)
        if type != "bf16":
            arrays = mx.quantize(weight, 64, int(type[7]))
            weight = mx.dequantize(*[one if one.dtype == mx.uint32 else one.astype(mx.float32) for one in arrays], 64, int(type[7]))
        x = mx.random.normal((rows, k)).astype(mx.bfloat16)
        b = mx.random.normal((n,)).astype(mx.bfloat16) if bias else None
        layer = dict(zip(("weight", "scales", "biases", "bias"), (*arrays, b)))
        stand = _core.Stand([n])
        stand.expect(layer)
        stand.serve(rows, self.engine.pack(KERNELS[type], type, *arrays))
        with mx.stream(mx.cpu):
            sums = x.astype(mx.float64) @ weight.astype(mx.float64).T
            exact = sums + b.astype(mx.float64) if bias else sums
            # Half a step of bf16; MLX adds the bias of quantised weights to what was rounded already. And the f32 sums.
            rounded = mx.abs(exact) + (mx.abs(sums) if bias and type != "bf16" else 0)
            y = stand(0, x, layer)
        self.assertEqual((y.shape, y.dtype), ((rows, n), mx.bfloat16))
        return y, exact, 2.0**-8 * rounded + 2.0**-10

    def test_outputs_are_those_of_float64_rounded(self):
        for type in KERNELS:
            for bias in (False, True):
                for rows, k, n in ((1, 256, 128), (3, 512, 130), (8, 256, 64), (33, 128, 200)):
                    with self.subTest(type=type, rows=rows, k=k, n=n, bias=bias):
                        y, exact, bound = self.product(type, rows, k, n, bias)
                        with mx.stream(mx.cpu):
                            off = mx.abs(y.astype(mx.float64) - exact)
                            self.assertTrue(mx.all(off <= bound).item(), mx.max(off / bound).item())

    def one(self, rows=2):
        """A product of 256 to 128, as a function of x."""
        weight = mx.random.normal((128, 256)).astype(mx.bfloat16)
        stand = _core.Stand([128])
        stand.expect({"weight": weight})
        stand.serve(rows, self.engine.pack("tare-panel", "bf16", weight))
        return lambda x: stand(0, x, {"weight": weight})

    @staticmethod
    def not_contiguous(x):
        """The same values, columns first."""
        return mx.contiguous(x.T).T

    def test_works_in_a_compiled_function(self):
        product = self.one()
        step = lambda x: mx.tanh(product(x)) + 1  # noqa: E731
        x = mx.random.normal((2, 256)).astype(mx.bfloat16)
        for given in (x, self.not_contiguous(x)):
            self.assertTrue(mx.all(mx.compile(step)(given) == step(x)).item())

    def test_is_lazy(self):
        y = self.one()(mx.random.normal((2, 256)).astype(mx.bfloat16))
        self.assertIn("TareProduct", graph_of(y))
        mx.eval(y)
        self.assertNotIn("TareProduct", graph_of(y))

    def test_runs_on_the_stream_that_mlx_would_use(self):
        product, x = self.one(), mx.random.normal((2, 256)).astype(mx.bfloat16)
        expected = product(x)
        for stream in (mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)):
            with mx.stream(stream):
                y = product(x)
            self.assertTrue(mx.all(y == expected).item())

    def test_side_by_side_layers_have_the_bits_of_each_by_itself(self):
        for type in KERNELS:
            for bias in (False, True):
                layers = [layer_of(type, 256, n, bias) for n in (128, 64, 192)]
                together = self.stand(layers, type, rows=(1, 5))
                for rows in (1, 5):
                    x = mx.random.normal((rows, 256)).astype(mx.bfloat16)
                    for given in (x, self.not_contiguous(x)):
                        with self.subTest(type=type, bias=bias, rows=rows):
                            # Asked in another order, and only two of the three are evaluated.
                            parts = {i: together(i, given, layers[i]) for i in (2, 0, 1)}
                            for i in (0, 2):
                                self.assertEqual(parts[i].shape, (rows, layers[i].weight.shape[0]))
                                alone = self.stand([layers[i]], type, rows=(rows,))(0, x, layers[i])
                                self.assertTrue(mx.all(mx.tanh(parts[i]) == mx.tanh(alone)).item())

    def stand(self, layers, type, rows):
        stand = _core.Stand([layer.weight.shape[0] for layer in layers])
        arrays = [[layer.get(name) for layer in layers] for name in ("weight", "scales", "biases")]
        for layer in layers:
            stand.expect(layer)
        packed = self.engine.pack(KERNELS[type], type, *[mx.concatenate(one) if one[0] is not None else None for one in arrays])
        for count in rows:
            stand.serve(count, packed)
        return stand

    def test_has_no_derivative_and_says_so(self):
        weight = mx.random.normal((128, 256)).astype(mx.bfloat16)
        stand = _core.Stand([128])
        stand.expect({"weight": weight})
        stand.serve(1, self.engine.pack("tare-panel", "bf16", weight))
        with self.assertRaisesRegex(ValueError, "report.restore"):
            mx.eval(mx.grad(lambda x: stand(0, x, {"weight": weight}).sum())(mx.zeros((1, 256), mx.bfloat16)))


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


class MlxLm(Case):
    """A model as mlx-lm has it, of a configuration and with drawn weights."""

    CONFIG = {"model_type": "qwen2", "hidden_size": DIM, "intermediate_size": HIDDEN, "num_attention_heads": 4,
              "num_key_value_heads": 2, "num_hidden_layers": LAYERS, "vocab_size": VOCABULARY, "tie_word_embeddings": True}
    # Biases none, a norm of each head, a head of its own; q, k and v one matrix from the start; norms and windows of another kind.
    OTHERS = [{"model_type": "llama", "tie_word_embeddings": False},
              {"model_type": "qwen3", "head_dim": 64, "max_position_embeddings": 512, "rope_theta": 1e4},
              {"model_type": "phi3", "max_position_embeddings": 512, "original_max_position_embeddings": 512},
              {"model_type": "gemma3_text", "head_dim": 64, "sliding_window_pattern": 2}]
    needs_mlx_lm = unittest.skipUnless(importlib.util.find_spec("mlx_lm"), "no mlx-lm: scripts/setup --develop fetches it")

    @needs_mlx_lm
    def test_other_models_are_served_as_they_come(self):
        shapes = [*SHAPES, (DIM, DIM + 2 * 128), (DIM, 2 * HIDDEN)]
        served = [one.replace("tare-panel", "tare-panel-mlx") for one in decisions(rows=(1, 2, 8), shapes=shapes, equality="incumbent")]
        for other in self.OTHERS:
            with self.subTest(other["model_type"]):
                model = models.drawn({**self.CONFIG, **other})
                plain = all_logits(model, PROMPTS)
                report, _ = self.compiled(model, self.plan(*served))
                self.assertGreaterEqual(len(report.kept), 4 * LAYERS, report)
                self.assertEqual((report.left, report.differing), ([], 0), report)
                report.restore()
                self.assertEqual(differing(plain, all_logits(model, PROMPTS)), 0)

    @needs_mlx_lm
    def test_quantised_models_are_served_as_they_come(self):
        for bits in (4, 8):
            with self.subTest(bits=bits):
                model = models.drawn({**self.CONFIG, "quantization": {"group_size": 64, "bits": bits}})
                report, _ = self.compiled(model, self.plan(*decisions(f"mlx-int{bits}-g64")), prompts=SHORT)
                self.assertEqual((len(report.kept), report.left), (PROJECTIONS, []), report)

    @needs_mlx_lm
    def test_a_context_is_cut_back_to_what_it_was(self):
        host = Host(models.drawn(self.CONFIG), None)
        host.begin(5, 2)
        first, offset = host.next.tolist(), host.cache[0].offset
        seen = []
        for _ in range(2):
            host.time(2, 3, 0)
            seen.append(host.next.tolist())
            host.begin(5, 2)
            self.assertEqual((host.next.tolist(), host.cache[0].offset), (first, offset))
        self.assertEqual(seen[0], seen[1])

    @needs_mlx_lm
    def test_is_served_as_it_comes(self):
        from mlx_lm.generate import generate_step

        model = models.drawn(self.CONFIG)
        prompt = mx.array(PROMPTS[-1])
        likeliest = lambda: [token for token, _ in generate_step(prompt, model, max_tokens=12)]  # noqa: E731
        plain, step = likeliest(), all_logits(model, PROMPTS)
        served = [one.replace("tare-panel", "tare-panel-mlx") for one in decisions(rows=(1, 2, 8), equality="incumbent")]
        report, _ = self.compiled(model, self.plan(*served))
        self.assertEqual((len(report.kept), report.differing), (PROJECTIONS, 0), report)
        before = report.dispatches
        self.assertEqual(likeliest(), plain)
        self.assertGreaterEqual(report.dispatches - before, 11 * PROJECTIONS)
        self.assertEqual(differing(step, all_logits(model, PROMPTS)), 0)


class Verbs(Case):
    """Tare's own verbs over whole models, with MLX as the engine."""

    def run_verb(self, verb, *arguments, plan=None):
        return subprocess.run([sys.executable, "-m", "tare_mlx", verb, "mlx_models:decoder", "--plan", plan or self.plan(),
                               *arguments], capture_output=True, text=True, timeout=300)

    def test_verify_finds_the_first_projection_that_differs(self):
        # What is promised is the incumbent's bits, at row counts where MLX has others: in the head alone.
        plan = self.plan(*decisions(shapes=[(DIM, VOCABULARY)], equality="bounded"))
        done = self.run_verb("verify", "--rows", "1,8", plan=plan)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"(?m)^ *\d+ +whole +\d+ +0 ")  # prompts of other row counts
        if "The first projection" in done.stdout:
            self.assertRegex(done.stdout, rf"embed_tokens \({DIM}x{VOCABULARY}\), the [0-9]+[a-z]+ of")

    def test_verify_says_when_all_bits_are_equal(self):
        # Shapes that this model has not: nothing is served.
        done = self.run_verb("verify", "--rows", "8", plan=self.plan(*decisions(shapes=[(4096, 4096)])))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("All logits have the same bits.", done.stdout)

    def test_weigh_compares_and_explains(self):
        done = self.run_verb("weigh", "--rows", "2", "--prompt", "8", "--seconds", "0.1")
        self.assertIn(done.returncode, (0, 1), done.stderr)  # a verdict, or a refusal: no test asserts a time
        self.assertRegex(done.stdout, r"(?m)^decode +2 ")
        self.assertRegex(done.stdout, r"(?m)^prompt +8 ")
        self.assertRegex(done.stdout, rf"{PROJECTIONS} of {PROJECTIONS} products are served")

    def test_a_model_that_is_not_there_is_told(self):
        done = subprocess.run([sys.executable, "-m", "tare_mlx", "verify", "nowhere.json", "--plan", self.plan()],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere.json", done.stderr)


class Recorded(unittest.TestCase):
    """results/mlx: what docs/serve-in-mlx.md tells."""

    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "results" / "mlx"

    def tare(self, *arguments):
        return subprocess.run([os.environ["TARE"], *map(str, arguments)], capture_output=True, text=True, timeout=100)

    def test_samples_replay_without_complaint(self):
        for path in self.FOLDER.glob("*.jsonl"):
            with self.subTest(path.name):
                replayed = self.tare("replay", path)
                self.assertIn(replayed.returncode, (0, 1))  # 1: a row was refused, or the run was cut short
                self.assertNotIn("digest", replayed.stderr)

    def plans(self):
        return [path for path in self.FOLDER.glob("*.json") if "tare.plan/" in path.read_text()]

    def test_plans_are_whole_and_of_another_machine(self):
        for path in self.plans():
            with self.subTest(path.name):
                self.assertEqual(self.tare("plan", "diff", path, path).stdout, "The two decide alike.\n")
            checked = self.tare("plan", "check", path)
            self.assertRegex(checked.stdout + checked.stderr, "does not hold here|holds here|No GPU")
        self.assertNotEqual(self.plans(), [])


if __name__ == "__main__":
    unittest.main()
