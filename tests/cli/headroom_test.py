"""The verb headroom: what it prints, writes, survives and replays."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import tare


# Weights that stay in the cache: these tests look at what is printed, not at how fast it was.
class Table(unittest.TestCase):
    def test_a_row_a_shape_and_row_count(self):
        done, lines = tare.headroom("--shape", "96x64", "--shape", "64x32", "--rows", "1,3")
        rows = tare.rows(lines)
        self.assertEqual([(row["k"], row["n"], row["rows"]) for row in rows],
                         [(96, 64, 1), (96, 64, 3), (64, 32, 1), (64, 32, 3)])
        for row in rows:
            self.assertIsNone(row["weighing"]["failure"])
            self.assertGreater(row["gap"], 0)
            self.assertEqual(row["weighing"]["proof"]["class_mismatch"], 0)
        for shape in ["96×64", "64×32"]:
            self.assertIn(shape, done.stdout)

    def test_odd_shapes(self):
        for shape in ["1x1", "1x7", "7x1", "31x37", "257x3"]:
            with self.subTest(shape):
                _, lines = tare.headroom("--shape", shape, "--rows", "1,5", "--ring", "200", "--patience", "20")
                self.assertEqual(len(tare.rows(lines)), 2)
                for row in tare.rows(lines):
                    self.assertIsNone(row["weighing"]["failure"])
                    self.assertLess(row["weighing"]["proof"]["candidate_error_max"], 0.6)

    def test_equal_shapes_are_weighed_once(self):
        _, lines = tare.headroom("--shape", "64x64", "--shape", "64x64", "--rows", "1")
        first, second = tare.rows(lines)
        self.assertEqual(first["weighing"]["regions"], second["weighing"]["regions"])

    def test_the_type_of_weights_is_part_of_the_problem(self):
        for weights, activations in [("mlx-int4-g64", "bf16"), ("q4_0", "bf16-as-int8")]:
            done, lines = tare.headroom("--shape", "256x128", "--rows", "2", "--weights", weights)
            row = tare.rows(lines)[0]
            self.assertEqual(row["weighing"]["problem"]["weights"], weights)
            self.assertEqual(row["weighing"]["problem"]["activations"], activations)
            self.assertIn("- " + weights, done.stdout)

    def test_packed_weights_are_weighed_as_they_are_stored(self):
        fixtures = os.path.join(os.path.dirname(__file__), os.pardir, "load", "fixtures")
        done, lines = tare.headroom("--model", os.path.join(fixtures, "awq.safetensors"), "--rows", "1")
        [model] = lines[0]["models"]
        self.assertEqual([(p["stored"], p["weighed"], p["k"], p["n"]) for p in model["projections"]],
                         [("awq4-g128-f16", "int4-g128-f16", 256, 8), ("awq4-g128-zeros-f16", "int4-g128-zeros-f16", 256, 8)])
        self.assertNotIn("the nearest format", done.stdout)
        done, _ = tare.headroom("--model", os.path.join(fixtures, "mlx"), "--rows", "1")
        self.assertIn("stored as mlx4-g128, 4.25 bits a weight: weighed as mlx-int4-g64, the nearest format, 4.5 bits",
                      done.stdout)
        self.assertNotIn("stored as mlx4-g64", done.stdout)

    def test_a_bias_is_part_of_the_problem(self):
        done, lines = tare.headroom("--shape", "96x64", "--rows", "3", "--bias")
        row = tare.rows(lines)[0]
        self.assertEqual(row["weighing"]["problem"]["bias"], "bf16")
        self.assertIsNone(row["weighing"]["failure"])
        self.assertLess(row["weighing"]["proof"]["candidate_error_max"], 0.6)
        self.assertEqual(row["weighing"]["arms"][0]["ring_bytes"] % (96 * 64 * 2 + 64 * 2), 0)
        self.assertIn("- +b", done.stdout)
        _, lines = tare.headroom("--shape", "256x64", "--rows", "2", "--bias", "--weights", "q8_0")
        self.assertEqual(lines[0]["models"][0]["projections"][0]["bias"], "f32")

    def test_the_models_own_biases_only_when_asked(self):
        for extra, q in [([], "q/o"), (["--bias"], "q +b")]:
            done, lines = tare.headroom("--model", "Qwen2.5-1.5B", "--projections", "q", "--rows", "1", *extra)
            self.assertIn(q, done.stdout)
            self.assertEqual(len(tare.rows(lines)), 1)

    def test_f32_activations_have_f32_outputs(self):
        _, lines = tare.headroom("--shape", "256x128", "--rows", "2", "--weights", "f32", "--activations", "f32")
        row = tare.rows(lines)[0]
        self.assertIsNone(row["weighing"]["failure"])
        self.assertEqual(row["weighing"]["problem"]["output"], "f32")
        self.assertTrue(row["weighing"]["proof"]["done"])

    def test_per_call_and_hot(self):
        for extra in (["--mode", "per-call"], ["--residency", "hot"]):
            with self.subTest(extra):
                _, lines = tare.headroom("--shape", "96x64", "--rows", "2", *extra)
                self.assertIsNone(tare.rows(lines)[0]["weighing"]["failure"])

    def test_one_thread(self):
        _, lines = tare.headroom("--shape", "96x64", "--rows", "1", "--threads", "1")
        row = tare.rows(lines)[0]
        self.assertEqual(row["weighing"]["threads"], 1)
        self.assertIsNone(row["weighing"]["failure"])

    def test_no_colour_and_no_progress_when_piped(self):
        done, _ = tare.headroom("--shape", "96x64", "--rows", "1")
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")

    def test_a_named_incumbent_and_candidate(self):
        _, lines = tare.headroom("--shape", "96x64", "--rows", "1", "--incumbent", "onednn", "--candidate",
                                 "tare-panel")
        row = tare.rows(lines)[0]
        self.assertEqual(row["incumbent"]["name"], "onednn")
        self.assertEqual(row["candidate"]["name"], "tare-panel")

    def test_too_little_memory(self):
        done = tare.run("headroom", "--shape", "4096x4096", "--rows", "1", "--ring", "1e13")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Not enough memory", done.stderr)


class Equality(unittest.TestCase):
    """ggml's bf16 rows are summed otherwise from two rows on (wide accumulators, a horizontal sum); Tare's are not."""

    def proof(self, equality, *arguments):
        done, lines = tare.headroom("--shape", "1536x96", "--equality", equality, *arguments)
        if any(library["arm"] in arguments and not library["found"] for library in lines[0]["libraries"]):
            self.skipTest("a library is not here")
        self.assertEqual(lines[0]["rules"]["equality"], equality)
        self.assertIn("equality asked: " + equality, done.stdout)
        (row,) = tare.rows(lines)
        self.assertIsNone(row["weighing"]["failure"])
        return row["weighing"]["proof"], done.stdout

    def test_rows_of_ours_depend_on_nothing(self):
        for equality, against in [("self", "candidate"), ("one-row", "incumbent")]:
            found, printed = self.proof(equality, "--rows", "5", "--incumbent", "onednn")
            rows = found["rows"]
            self.assertEqual((rows["against"], rows["failure"]), (against, ""))
            self.assertGreater(rows["elements"], 1_000_000)
            self.assertEqual((rows["by_count"], rows["by_position"], rows["by_neighbours"]), (0, 0, 0))
            self.assertIn(" holds ", printed)

    def test_ggml_depends_on_the_row_count(self):
        # Of bf16 outputs one in 10,000 shows another order at k = 1536: 200 are expected.
        found, printed = self.proof("self", "--rows", "1", "--incumbent", "onednn", "--candidate", "ggml")
        self.assertGreater(found["rows"]["by_count"], 0)
        self.assertIn(" broken ", printed)

    def test_two_orders_are_told_apart_on_few_outputs(self):
        # Of 6,000 outputs of usual data half of the runs show none that differs; of sums that cancel every other one does.
        def differing(candidate):
            _, lines = tare.headroom("--shape", "1536x96", "--rows", "1", "--incumbent", "onednn", "--candidate", candidate)
            (row,) = tare.rows(lines)
            self.assertTrue(row["weighing"]["proof"]["done"])
            return row["weighing"]["proof"]["differing"]

        for candidate in ["tare-panel-mlx", "tare-panel-onednn-ip"]:
            self.assertGreater(differing(candidate), 0, candidate)
        self.assertEqual(differing("onednn"), 0)

    def test_an_arm_against_itself_is_refused(self):
        done, lines = tare.headroom("--shape", "1536x96", "--rows", "1", "--incumbent", "onednn", "--candidate", "onednn")
        self.assertEqual(done.returncode, 1, done.stderr)
        (row,) = tare.rows(lines)
        self.assertEqual((row["verdict"], row["cause"]), ("refused", "identity"))

    def expect_equal_candidate(self, *arguments):
        # Which of them has a library's bits depends on the processor: each is asked by itself first. What an arm that a
        # busy machine starves is equal to would not be seen.
        arguments = [*arguments, "--rows", "2", "--patience", "60"]
        _, lines = tare.headroom(*arguments)
        equal = {}
        for candidate in [one["arm"] for one in lines[0]["libraries"] if one["candidate"] and one["found"]]:
            _, of_one = tare.headroom(*arguments, "--candidate", candidate)
            (row,) = tare.rows(of_one)
            proof = row["weighing"]["proof"]
            equal[candidate] = proof["done"] and proof["differing"] == 0
        wanted = [name for name, is_equal in equal.items() if is_equal] or list(equal)
        self.assertIn(tare.rows(lines)[0]["candidate"]["name"], wanted, (arguments, equal))

    def test_the_candidate_is_one_that_may_be_served_in_the_incumbents_place(self):
        for incumbent in ["onednn", "onednn-ip", "ggml"]:
            self.expect_equal_candidate("--shape", "1536x256", "--incumbent", incumbent)

    def test_so_is_that_of_a_huge_matrix(self):
        # One that is compared on a part of its columns: of 512 on 256.
        self.expect_equal_candidate("--shape", "1536x512", "--scout", "1e5", "--incumbent", "ggml")

    def test_an_error_that_is_not_worse(self):
        found, printed = self.proof("bounded", "--rows", "4", "--incumbent", "onednn")
        self.assertGreater(found["oracle_elements"], 10 * 4 * 96 - 1)
        self.assertIn(" holds ", printed)

    def test_an_unknown_one(self):
        done = tare.run("headroom", "--shape", "96x64", "--equality", "roughly")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bounded", done.stderr)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "results.jsonl")

    def test_replay_prints_the_same_bytes(self):
        done = tare.run("headroom", *tare.QUICK, "--shape", "96x64", "--shape", "64x96", "--rows", "1,2", "--json",
                        self.path)
        replayed = tare.run("replay", self.path)
        self.assertEqual(replayed.stdout, done.stdout)
        self.assertEqual(replayed.stderr, "")
        self.assertEqual(replayed.returncode, done.returncode)

    def test_a_full_disk_costs_the_file_and_not_the_table(self):
        done = tare.run("headroom", *tare.QUICK, "--shape", "96x64", "--rows", "1", "--json", "/dev/full")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/full", done.stderr)

    def test_interrupted_in_a_region(self):
        self.interrupted_by(signal.SIGINT)

    def test_timeout_sends_its_signal_twice(self):
        self.interrupted_by(signal.SIGTERM, signal.SIGTERM)

    def interrupted_by(self, *signals):
        slow = ["--ring", "2e8", "--shape", "1024x1024", "--rows", "1,2,3,4,5,6,7,8", "--seconds-per-row", "5"]
        process = subprocess.Popen([tare.TARE, "headroom", *slow, "--json", self.path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while not self.rows_so_far():
            time.sleep(0.05)  # the first row is in the file; the second is being weighed
        for number in signals:
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("Interrupted", err)
        with open(self.path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(lines[-1]["kind"], "footer")
        self.assertTrue(lines[-1]["interrupted"])
        self.assertEqual(tare.run("replay", self.path).stdout, out)

    def rows_so_far(self):
        if not os.path.exists(self.path):
            return 0
        with open(self.path, encoding="utf-8") as file:
            return sum('"kind":"row"' in line for line in file)


class Doctor(unittest.TestCase):
    def test_names_every_implementation(self):
        done = tare.run("doctor", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = json.dumps(json.loads(done.stdout))
        for name in ["onednn", "openblas", "ggml", "mlx", "tare-panel"]:
            self.assertIn(name, text)


if __name__ == "__main__":
    unittest.main()
