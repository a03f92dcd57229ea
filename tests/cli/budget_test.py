"""The verb budget: where a token's weights and time go, row by row and as one chain."""
import json
import os
import tempfile
import unittest

import tare

LAYERS = 3
# Every shape another one, so that a line's numbers can be told apart.
CONFIG = {"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": LAYERS, "num_attention_heads": 4,
          "num_key_value_heads": 2, "head_dim": 24, "intermediate_size": 160, "vocab_size": 320}
SHAPES = {"q": (64, 96), "k": (64, 48), "v": (64, 48), "o": (96, 64), "gate": (64, 160), "up": (64, 160),
          "down": (160, 64), "lm_head": (64, 320)}


class Budget(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.config = os.path.join(cls.folder.name, "config.json")
        cls.file = os.path.join(cls.folder.name, "run.jsonl")
        with open(cls.config, "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        cls.ran = tare.run("budget", cls.config, *tare.QUICK, "--rows", "2", "--json", cls.file)
        with open(cls.file, encoding="utf-8") as file:
            cls.lines = [json.loads(line) for line in file]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def chain(self):
        return [row for row in tare.rows(self.lines) if row["weighing"]["chain"]]

    def test_a_line_a_projection_in_the_order_of_a_token(self):
        table = [line.split() for line in self.ran.stdout.splitlines()]
        found = [line[:2] for line in table if line and line[0] in SHAPES and "×" in line[1]]
        self.assertEqual(found, [[name, f"{k}×{n}"] for name, (k, n) in SHAPES.items()])

    def test_the_chain_holds_every_matrix_of_every_layer(self):
        (chain,) = self.chain()
        self.assertIsNone(chain["weighing"]["failure"])
        self.assertEqual(chain["projection"], f"chain of {LAYERS} layers")
        counts = {}
        for name, shape in SHAPES.items():
            counts[shape] = counts.get(shape, 0) + (1 if name == "lm_head" else LAYERS)
        self.assertEqual({(part["problem"]["k"], part["problem"]["n"]): part["count"]
                          for part in chain["weighing"]["chain"]}, counts)
        self.assertIn(f"({7 * LAYERS + 1} dispatches in order", self.ran.stdout)

    def test_every_matrix_of_the_chain_is_proved_and_every_timed_one_checked(self):
        (chain,) = self.chain()
        proof = chain["weighing"]["proof"]
        outputs = sum((1 if name == "lm_head" else LAYERS) * n for name, (_, n) in SHAPES.items())
        self.assertEqual(proof["elements"], 2 * outputs)
        self.assertEqual(proof["class_mismatch"], 0)
        regions = chain["weighing"]["regions"]
        checked = {outputs for arm, purpose, outputs in zip(regions["arm"], regions["purpose"], regions["outputs"])
                   if purpose == "round" and arm in ("incumbent", "control", "candidate")}
        self.assertEqual(checked, {"right"})

    def test_a_replay_prints_the_same_page_or_its_rows(self):
        self.assertEqual(tare.run("replay", self.file, "--budget").stdout, self.ran.stdout)
        table = tare.run("replay", self.file).stdout
        self.assertIn(f"{7 * LAYERS + 1} matrices", table)
        explained = tare.run("replay", self.file, "--explain", str(len(tare.rows(self.lines))))
        self.assertIn(f"{7 * LAYERS + 1} matrices", explained.stdout)

    def test_what_is_left_out_is_said(self):
        self.assertIn("Left out: attention", self.ran.stdout)

    def test_a_model_must_be_named(self):
        self.assertEqual(tare.run("budget").returncode, 2)
        done = tare.run("budget", "no-such-model")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-model", done.stderr)


class FusedBudget(unittest.TestCase):
    config = CONFIG
    more = []
    attention = [96, 48, 48]  # columns of q, k and v

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "config.json")
            with open(config, "w", encoding="utf-8") as file:
                json.dump(cls.config, file)
            cls.ran, lines = tare.run_with_file("budget", config, *tare.QUICK, "--rows", "2", "--fused", *cls.more)
            cls.rows = tare.rows(lines)

    def test_fused_rows_stand_for_their_parts(self):
        found = {row["projection"]: row["weighing"]["parts"] for row in self.rows if not row["weighing"]["chain"]}
        self.assertEqual(found, {"q+k+v": self.attention, "o": [], "gate+up": [160, 160], "down": [], "lm_head": []})

    def test_incumbents_are_tried_at_once_and_by_parts(self):
        for row in [row for row in self.rows if row["projection"] in ("q+k+v", "gate+up")]:
            tried = {one["arm"] for one in row["screened"] if one["seconds_per_dispatch"] > 0}
            for name in list(tried):
                if not name.endswith("-parts"):
                    self.assertIn(name + "-parts", tried)
            self.assertEqual(row["weighing"]["proof"]["class_mismatch"], 0)
            self.assertEqual(row["weighing"]["proof"]["unwritten"], 0)

    def test_a_fused_arm_has_the_bits_of_its_parts(self):
        chain, fusing = [row for row in self.rows if row["weighing"]["chain"]]
        self.assertIsNone(chain["weighing"]["failure"])
        self.assertIsNone(fusing["weighing"]["failure"])
        self.assertEqual(fusing["incumbent"]["name"], fusing["candidate"]["name"] + "-parts")
        self.assertEqual(fusing["weighing"]["proof"]["differing"], 0)
        self.assertGreater(fusing["weighing"]["proof"]["elements"], 0)
        self.assertIn(f"chain of {LAYERS} layers, fusing", self.ran.stdout)
        self.assertIn(f"({4 * LAYERS + 1} dispatches in order", self.ran.stdout)


class HugeFusedBudget(FusedBudget):
    """The same where q+k+v, of 384 columns, and gate+up, of 320, are scouted by 256 of them."""

    config = CONFIG | {"head_dim": 48}
    more = ["--scout", "1000"]
    attention = [192, 96, 96]


if __name__ == "__main__":
    unittest.main()
