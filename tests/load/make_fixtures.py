#!/usr/bin/env python3
"""Makes the small model files of tests/load/fixtures, and what their weights stand for, with the packages that write such
files: safetensors, gguf and mlx, and numpy for the packers that live inside larger ones (the comments say whose layout).

usage: make_fixtures.py        needs numpy, safetensors, gguf and mlx; writes beside itself, always the same bytes

FILE.f32 holds the weights of FILE's matrices as little-endian f32, [n, k] each, in the order of their layers.
"""
import json
import pathlib
import struct

import gguf
import mlx.core as mx
import numpy as np
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).parent / "fixtures"
K, N, GROUP = 256, 8, 128
RANDOM = np.random.default_rng(20)


def module(layer, projection="q"):
    return f"model.layers.{layer}.self_attn.{projection}_proj"


def codes(bits=4):
    return RANDOM.integers(0, 2**bits, (N, K))


def scales(groups, dtype):
    values = RANDOM.uniform(0.001, 0.02, (N, groups)).astype(np.float32)
    if dtype == np.float16:
        return values.astype(np.float16)
    return (values.view(np.uint32) & 0xFFFF0000).view(np.float32)  # numbers of bf16


def words(values, bits, axis):
    """uint32 words of values that follow each other along an axis, the first in the low bits."""
    values = np.moveaxis(values.astype(np.uint32), axis, -1)
    count = 32 // bits
    values = values.reshape(*values.shape[:-1], -1, count)
    packed = np.zeros(values.shape[:-1], np.uint32)
    for place in range(count):
        packed |= values[..., place] << np.uint32(bits * place)
    return np.ascontiguousarray(np.moveaxis(packed, -1, axis)).view(np.int32)


def spread(by_group, group_of):
    return by_group[:, group_of]


def weights(code, zero, scale, group_of):
    """[n, k]: exact in f32, a product of 11 bits and 5, or 8 and 9."""
    return (spread(scale.astype(np.float32), group_of) * (code - spread(zero, group_of)).astype(np.float32)).astype("<f4")


def in_order(group=GROUP):
    return np.arange(K) // group


def write(name, tensors, expected, config=None):
    save_file(tensors, FOLDER / name)
    (FOLDER / (name + ".f32")).write_bytes(b"".join(np.ascontiguousarray(w, "<f4").tobytes() for w in expected))


def gptq():
    """AutoGPTQ's QuantLinear.pack: qweight [k/8, n] along k, qzeros [groups, n/8] along n, less one; scales f16 [groups, n].
    Layers: symmetric; with zeros; symmetric in act-order; 8 bits, symmetric."""
    tensors, expected = {}, []
    shuffled = RANDOM.permutation(in_order())
    for layer, (bits, zero, group_of) in enumerate([(4, None, in_order()), (4, "drawn", in_order()), (4, None, shuffled),
                                                    (8, None, in_order())]):
        code, scale = codes(bits), scales(K // GROUP, np.float16)
        zero = np.full((N, K // GROUP), 2 ** (bits - 1)) if zero is None else RANDOM.integers(1, 16, (N, K // GROUP))
        tensors |= {f"{module(layer)}.qweight": words(code.T, bits, 0),
                    f"{module(layer)}.qzeros": words(zero.T - 1, bits, 1),
                    f"{module(layer)}.scales": np.ascontiguousarray(scale.T),
                    f"{module(layer)}.g_idx": group_of.astype(np.int32)}
        expected.append(weights(code, zero, scale, group_of))
    write("gptq.safetensors", tensors, expected)


def awq():
    """AutoAWQ's WQLinear_GEMM.from_linear: qweight [k, n/8] and qzeros [groups, n/8], columns 0, 2, 4, 6, 1, 3, 5, 7 of eight
    from the low bits on. Layers: symmetric; with zeros."""
    places = np.arange(N).reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].ravel()
    tensors, expected = {}, []
    for layer in range(2):
        code, scale = codes(), scales(K // GROUP, np.float16)
        zero = np.full((N, K // GROUP), 8) if layer == 0 else RANDOM.integers(0, 16, (N, K // GROUP))
        tensors |= {f"{module(layer)}.qweight": words(code.T[:, places], 4, 1),
                    f"{module(layer)}.qzeros": words(zero.T[:, places], 4, 1),
                    f"{module(layer)}.scales": np.ascontiguousarray(scale.T)}
        expected.append(weights(code, zero, scale, in_order()))
    write("awq.safetensors", tensors, expected)


def compressed():
    """compressed-tensors' pack_to_int32: weight_packed [n, k/8] along k, signed codes plus half of their range; zero points
    [n/8, groups] along n, alike. Layers: 4 bits, f16 scales; 8 bits with one scale an output; with zero points; int8."""
    tensors, expected = {}, []
    for layer, (bits, groups, drawn) in enumerate([(4, 2, False), (8, 1, False), (4, 2, True)]):
        code, scale = codes(bits), scales(groups, np.float16)
        zero = RANDOM.integers(0, 16, (N, groups)) if drawn else np.full((N, groups), 2 ** (bits - 1))
        tensors |= {f"{module(layer)}.weight_packed": words(code, bits, 1), f"{module(layer)}.weight_scale": scale,
                    f"{module(layer)}.weight_shape": np.array([N, K], np.int64)}
        if drawn:
            tensors[f"{module(layer)}.weight_zero_point"] = words(zero, 4, 0)
        expected.append(weights(code, zero, scale, in_order(K // groups)))
    code, scale = codes(8) - 128, scales(1, None)
    tensors |= {f"{module(3)}.weight": code.astype(np.int8), f"{module(3)}.weight_scale": scale}
    expected.append(weights(code, np.zeros((N, 1), int), scale, in_order(K)))
    write("compressed.safetensors", tensors, expected)


def mlx():
    """mlx.core.quantize of bf16 and f16 weights, read back by mlx.core.dequantize in f32. Layers: 4 bits in groups of 64; 8 in 64;
    4 in 128; 4 in 64 of f16."""
    FOLDER.joinpath("mlx").mkdir(exist_ok=True)
    tensors, expected, quantization = {}, [], {"group_size": 64, "bits": 4}
    for layer, (bits, group, dtype) in enumerate([(4, 64, mx.bfloat16), (8, 64, mx.bfloat16), (4, 128, mx.bfloat16),
                                                  (4, 64, mx.float16)]):
        values = mx.array(RANDOM.normal(0, 0.02, (N, K)).astype(np.float32)).astype(dtype)
        parts = mx.quantize(values, group, bits)
        tensors |= {f"{module(layer)}.{name}": part for name, part in zip(["weight", "scales", "biases"], parts)}
        if (bits, group) != (4, 64):
            quantization[module(layer)] = {"group_size": group, "bits": bits}
        wide = mx.dequantize(parts[0], parts[1].astype(mx.float32), parts[2].astype(mx.float32), group, bits)
        expected.append(np.array(wide))
    mx.save_safetensors(str(FOLDER / "mlx/model.safetensors"), tensors)
    (FOLDER / "mlx/config.json").write_text(json.dumps({"model_type": "llama", "quantization": quantization}, indent=1) + "\n")
    (FOLDER / "mlx/model.safetensors.f32").write_bytes(b"".join(np.ascontiguousarray(w, "<f4").tobytes() for w in expected))


def ggml():
    """gguf.quants: Q8_0, Q4_0 and Q5_0 quantised by it; of Q4_K and Q6_K drawn bytes, whose f16 factors are small; f16 and bf16."""
    writer = gguf.GGUFWriter(FOLDER / "blocks.gguf", "llama")
    expected = []
    Type = gguf.GGMLQuantizationType
    values = RANDOM.normal(0, 0.02, (N, K)).astype(np.float32)
    for layer, kind in enumerate([Type.Q8_0, Type.Q4_0, Type.Q5_0, Type.Q4_K, Type.Q6_K, Type.F16, Type.BF16]):
        if kind in (Type.Q4_K, Type.Q6_K):
            block, size = gguf.GGML_QUANT_SIZES[kind]
            data = RANDOM.integers(0, 256, (N, K // block * size), np.uint8)
            factors = [0, 2] if kind == Type.Q4_K else [size - 2]
            for at in factors:  # of every block, which here is a row
                data[:, at:at + 2] = np.array(RANDOM.uniform(0.0001, 0.001, N), "<f2").view(np.uint8).reshape(N, 2)
        else:
            data = gguf.quants.quantize(values, kind)
        writer.add_tensor(f"blk.{layer}.attn_q.weight", data, raw_dtype=kind)
        expected.append(gguf.quants.dequantize(data, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (FOLDER / "blocks.gguf.f32").write_bytes(b"".join(np.ascontiguousarray(w, "<f4").tobytes() for w in expected))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for make in (gptq, awq, compressed, mlx, ggml):
        make()
