"""Tokens per second of a model in MLX, with a plan and without, in one process: the two take turns.

usage: PYTHONPATH=lib/tare/python[-cuda] python bench/mlx_decode.py MODEL PLAN [ROWS...]       prints JSON

A look, no verdict: `python -m tare_mlx weigh` has processes of its own for every side, and an interval.
"""

import json
import sys
import time

import mlx.core as mx

import tare_mlx
from tare_mlx.models import load, new_cache

BEFORE, TOKENS, ROUNDS = 16, 48, 6


def decode(model, rows):
    """As mlx-lm: the next step's graph is built while this one's runs."""
    cache = new_cache(model)
    likeliest = lambda logits: mx.argmax(logits[:, -1:], axis=-1)  # noqa: E731
    now = likeliest(model(mx.full((rows, BEFORE), 1000), cache=cache))
    mx.eval(now)
    start = time.perf_counter()
    for _ in range(TOKENS):
        following = likeliest(model(now, cache=cache))
        mx.async_eval(following)
        mx.eval(now)
        now = following
    mx.eval(now)
    return rows * TOKENS / (time.perf_counter() - start)


def main():
    model, _ = load(sys.argv[1])
    report = tare_mlx.compile(model, sys.argv[2])
    print(report, file=sys.stderr)
    rates = {}
    for rows in map(int, sys.argv[3:] or (1, 8)):
        rates[rows] = {"served": [], "mlx": []}
        for _ in range(ROUNDS):
            rates[rows]["served"].append(decode(model, rows))
            for part in reversed(report.kept):
                part.take_out()
            rates[rows]["mlx"].append(decode(model, rows))
            for part in report.kept:
                part.put_in()
    print(json.dumps({"mlx": mx.__version__, "tokens_per_second": rates, "packed_bytes": report.packed_bytes}))


if __name__ == "__main__":
    main()
