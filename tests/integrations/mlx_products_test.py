# The primitive of tare_mlx by itself, on MLX's CPU device: against float64, beside others, lazy, on MLX's streams.
import io
import unittest

import mlx.core as mx

from mlx_case import KERNELS, Case
from mlx_products import layer_of
from tare_mlx import _core


def graph_of(array):
    """What is not yet evaluated of it, as MLX writes it for graphviz."""
    text = io.StringIO()
    mx.export_to_dot(text, array)
    return text.getvalue()


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


if __name__ == "__main__":
    unittest.main()
