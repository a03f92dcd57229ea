"""Record, judge, write the page: a small run from end to end, and what is said of bad input."""
import json
import lzma
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/judges"))
import numpy as np
import traces

RECORD = os.environ["TARE_JUDGES_RECORD"]
TARE = os.environ.get("TARE_JUDGES_TARE", "absent")


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


class Pipeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        for order, seconds in (("rounds", 0.3), ("segments", 0.9)):
            trace = cls.path / f"tiny-{order}.trace"
            done = run(RECORD, "--k", 2048, "--n", 1024, "--order", order, "--seconds", seconds, "--segment", 0.3, "--setting", "tiny",
                       trace)
            assert done.returncode == 0, done.stderr
            Path(f"{trace}.xz").write_bytes(lzma.compress(trace.read_bytes(), preset=0))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_trace_holds_what_its_header_says(self):
        rounds = traces.read(self.path / "tiny-rounds.trace.xz")
        self.assertEqual(rounds.rounds.shape, (rounds.header["rounds"], 4))
        self.assertTrue((rounds.rounds > 0).all())
        segments = traces.read(self.path / "tiny-segments.trace.xz")
        self.assertEqual([len(segment) for segment in segments.segments], segments.header["counts"])
        buffers = segments.header["buffers"]
        self.assertTrue(all(one != other for one, other in zip(buffers, buffers[1:])))

    def test_every_rule_is_judged_and_the_page_written(self):
        out = self.path / "judges.json"
        done = run(sys.executable, ROOT / "bench/judges/judge.py", "--runs", 2, "--traces", self.path, "--tare", TARE, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual(list(found["settings"]["tiny"]["rules"]), list(found["rules"]))
        for rule in found["settings"]["tiny"]["rules"].values():
            self.assertEqual(set(rule["effects"]), {"0.3", "0.5", "1", "2", "5"})
            self.assertTrue(0 <= rule["false_percent_real"] <= 100)
        done = run(sys.executable, ROOT / "bench/judges/page.py", out, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.path / "judges.md").read_text(encoding="utf-8")
        for name in found["rules"]:
            self.assertIn(f"| **{name}** |" if name == "Tare" else f"| {name} |", page)
        self.assertIn("</svg>", (self.path / "judges.svg").read_text(encoding="utf-8"))

    def test_a_trace_cut_short(self):
        cut = self.path / "cut.trace"
        header = json.dumps({"format": 1, "order": "segments", "counts": [3]}).encode()
        cut.write_bytes(header + b"\n" + b"1234")
        with self.assertRaisesRegex(SystemExit, "cut short"):
            traces.read(cut)

    def test_another_format(self):
        other = self.path / "other.trace"
        other.write_bytes(b'{"format": 2}\n')
        with self.assertRaisesRegex(SystemExit, "format 1"):
            traces.read(other)

    def test_no_traces(self):
        done = run(sys.executable, ROOT / "bench/judges/judge.py", "--traces", self.path / "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("record-all", done.stderr)


class Plants(unittest.TestCase):
    def test_a_window_ends_and_begins_where_the_arms_meet(self):
        window = traces.Sequential(np.arange(1.0, 11), np.arange(1.0, 11), 1)
        np.testing.assert_array_equal(window.incumbent(18.5), [9, 10])
        np.testing.assert_array_equal(window.candidate(2.5), [1, 2])

    def test_multiplied_plants_reach_the_candidate_alone(self):
        window = traces.Interleaved(np.ones((4, 3)), 1, 0).planted(traces.multiplied(0.02))
        np.testing.assert_array_equal(window.rounds[:, :2], 1)
        np.testing.assert_array_equal(window.rounds[:, 2], 1.02)

    def test_intermittent_plants_have_their_share(self):
        times = traces.intermittent(0.07, 0.15, np.random.default_rng(8))(np.ones(20000))
        self.assertEqual(set(np.round(times, 6)), {1.0, 1.07})
        # Six standard deviations of a share of 0.15 in 20,000.
        self.assertAlmostEqual((times > 1).mean(), 0.15, delta=6 * (0.15 * 0.85 / 20000) ** 0.5)

    def test_bootstrapped_blocks_keep_neighbours(self):
        at = traces.blocks(1000, 50, np.random.default_rng(9))
        self.assertEqual(len(at), 1000)
        self.assertTrue((np.diff(at.reshape(-1, 50), axis=1) == 1).all())


if __name__ == "__main__":
    unittest.main()
