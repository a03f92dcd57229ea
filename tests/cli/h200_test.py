"""Results of a GPU, replayed on a machine without one: every file reads without complaint, and docs/h200.md holds their tables."""
import glob
import json
import os
import subprocess
import unittest

import tare

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def header(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(file.readline())


ALL = sorted(glob.glob(os.path.join(ROOT, "results", "h200", "*.jsonl")))
CALIBRATIONS = [path for path in ALL if header(path)["schema"].startswith("tare.calibrate")]
FILES = [path for path in ALL if header(path)["schema"].startswith("tare.headroom")]


class H200(unittest.TestCase):
    def test_there_are_files(self):
        self.assertTrue(FILES)

    def test_every_file_replays_without_complaint(self):
        for path in FILES:
            with self.subTest(os.path.basename(path)):
                replayed = tare.run("replay", path)
                self.assertEqual(replayed.stderr, "")
                self.assertIn(replayed.returncode, (0, 1))  # 1: a row was refused
                place = "NVIDIA H200 (9.0, 132 SMs" if header(path)["accelerator"] else "Intel Xeon"
                self.assertTrue(replayed.stdout.startswith(place), replayed.stdout[:80])

    def test_calibrations_read_without_complaint(self):
        for path in CALIBRATIONS:
            with self.subTest(os.path.basename(path)):
                read = tare.run("calibrate", "--read", path)
                self.assertEqual((read.returncode, read.stderr), (0, ""))
                self.assertTrue(read.stdout.startswith("NVIDIA H200 (9.0, 132 SMs"), read.stdout[:80])

    def test_the_page_holds_their_tables(self):
        script = os.path.join(ROOT, "scripts", "h200-page")
        made = subprocess.run([script, os.environ["TARE"]], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(ROOT, "docs", "h200.md"), encoding="utf-8") as page:
            self.assertEqual(made, page.read(), "run scripts/h200-page > docs/h200.md")


class NoGpu(unittest.TestCase):
    def test_a_machine_without_a_driver_is_told(self):
        if os.path.exists("/proc/driver/nvidia") or os.path.exists("/dev/nvidia0"):
            self.skipTest("there is a GPU here")
        for verb in (["headroom", "--shape", "64x64"], ["prove", "--shape", "64x64"], ["reveal", "--shape", "64x64"],
                     ["budget", "Qwen2.5-1.5B"]):
            with self.subTest(verb[0]):
                refused = tare.run(*verb, "--device", "cuda", "--rows", "1")
                self.assertEqual(refused.returncode, 1)
                self.assertIn("libcuda.so.1 is not on this machine", refused.stderr)
                self.assertIn("--device cpu", refused.stderr)


if __name__ == "__main__":
    unittest.main()
