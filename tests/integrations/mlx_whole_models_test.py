# tare_mlx with mlx-lm's models, with the verbs over whole models, and what of them is recorded.
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import mlx.core as mx

from mlx_case import PROJECTIONS, PROMPTS, SHAPES, SHORT, Case, decisions
from mlx_models import DIM, HIDDEN, LAYERS, VOCABULARY
from tare_mlx import models
from tare_mlx.host import Host
from tare_mlx.logits import all_logits, differing


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
                cut_short = "The run was cut short" in replayed.stdout  # then 2, else 1 where a row was refused
                self.assertIn(replayed.returncode, (2,) if cut_short else (0, 1))
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
