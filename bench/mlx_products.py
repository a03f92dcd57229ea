"""Products of a decoder's layers in MLX, served and not: errors against f32, and microseconds where many are evaluated at once.

usage: PYTHONPATH=lib/tare/python[-cuda] python bench/mlx_products.py [TYPE,...] [ROWS,...]       prints JSON

TYPE: bf16, mlx-int4-g64, mlx-int8-g64. Layers are Qwen2.5-1.5B's; side by side where they are given the same array. A look, no verdict: what is
told is what a product costs inside a graph, the host's work included.
"""

import json
import sys
import time

import mlx.core as mx
import mlx.nn as nn

from tare_mlx import _core

ON_GPU = mx.default_device() == mx.gpu
LAYERS = [(1536, (1536, 256, 256), True), (1536, (1536,), False), (1536, (8960, 8960), False), (8960, (1536,), False)]
AT_ONCE, TIMES = 200, 3


def arm_of(type):
    return "tare-cuda" if ON_GPU else "tare-panel-mlx" if type == "bf16" else "tare-grouped"


def layer_of(type, k, n, bias):
    layer = nn.Linear(k, n, bias=bias)
    if bias:
        layer.bias = mx.random.normal((n,))
    layer.set_dtype(mx.bfloat16)
    return layer if type == "bf16" else nn.QuantizedLinear.from_linear(layer, 64, int(type[7]))


def exact(layer, x):
    """Of the very same numbers, in f32."""
    weight, bias = layer.weight, layer.get("bias")
    if isinstance(layer, nn.QuantizedLinear):
        weight = mx.dequantize(weight, layer.scales, layer.biases, layer.group_size, layer.bits)
    y = x.astype(mx.float32) @ weight.astype(mx.float32).T
    return y if bias is None else y + bias


def rms(ours, theirs):
    return [mx.sqrt(mx.mean(mx.square(a.astype(mx.float32) - b))).item() for a, b in zip(ours, theirs)]


def microseconds(products):
    best = float("inf")
    mx.eval(products())
    for _ in range(TIMES):
        start = time.perf_counter()
        mx.eval([products() for _ in range(AT_ONCE)])
        best = min(best, time.perf_counter() - start)
    return best / AT_ONCE * 1e6


def look(engine, type, rows, k, widths, bias):
    own = [layer_of(type, k, n, bias) for n in widths]
    arrays = [[layer.get(name) for layer in own] for name in ("weight", "scales", "biases")]
    packed = engine.pack(arm_of(type), type, *[mx.concatenate(one) if one[0] is not None else None for one in arrays])
    stand = _core.Stand(list(widths))
    for layer in own:
        stand.expect(layer)
    stand.serve(rows, packed)
    x = mx.random.normal((rows, 1, k)).astype(mx.bfloat16)
    truth = [exact(layer, x) for layer in own]
    served = lambda: [stand(i, x, layer) for i, layer in enumerate(own)]  # noqa: E731
    plain = lambda: [layer(x) for layer in own]  # noqa: E731
    return {"type": type, "rows": rows, "k": k, "n": widths, "bias": bias, "rms_served": rms(served(), truth),
            "rms_mlx": rms(plain(), truth), "us_served": microseconds(served), "us_mlx": microseconds(plain)}


def main():
    types = sys.argv[1].split(",") if len(sys.argv) > 1 else ["bf16"]
    rows = [int(one) for one in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1, 8]
    mx.random.seed(1)
    engine = _core.engine("gpu" if ON_GPU else "cpu", 2)
    looks = [look(engine, type, count, *one) for type in types for one in LAYERS for count in rows]
    print(json.dumps({"mlx": mx.__version__, "kernels": engine.library, "products": looks}, indent=1))


if __name__ == "__main__":
    main()
