# What the tests of tare_mlx share: plans for the small decoder, and compiling it with one.
import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest

import mlx.core as mx

import tare_mlx
from mlx_models import DIM, HIDDEN, LAYERS, VOCABULARY
from tare_mlx.logits import default_prompts


MLX = f"MLX {mx.__version__}"
SHAPES = [(DIM, DIM), (DIM, 128), (DIM, HIDDEN), (HIDDEN, DIM), (DIM, VOCABULARY)]  # k x n of q and o, k and v, gate and up, down, head
KERNELS = {"bf16": "tare-panel", "mlx-int4-g64": "tare-grouped", "mlx-int8-g64": "tare-grouped"}
PROMPTS = default_prompts(VOCABULARY, [])
SHORT = [[5], [6, 7], list(range(8, 16))]  # MLX takes milliseconds for a quantised product
PROJECTIONS = 7 * LAYERS + 1


def decisions(type="bf16", rows=(1, 2, 8), shapes=SHAPES, equality="bounded"):
    return [f"{type}:{k}x{n}:{count}:{KERNELS[type]}:{equality}" for k, n in shapes for count in rows]


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
