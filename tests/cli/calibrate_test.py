"""tare calibrate end to end: every run in the file, the table of the file again, and what doctor makes of it."""
import json
import os
import tempfile
import unittest

import tare

# Hot, a tenth of a second a run: nothing that is found is to be believed, and nothing of it is asserted.
QUICK = ["--residency", "hot", "--neighbour", "none", "--seconds", "0.1"]

PLANTED = {"20.0 µs": 20e-6, "100 µs": 100e-6, "200 µs": 200e-6, "1.00 ms": 1000e-6, "2.00 µs": 2e-6, "5.00 µs": 5e-6}


def calibrate(*arguments, **options):
    """(completed process, list of JSON objects)."""
    return tare.run_with_file("calibrate", *arguments, timeout=600, **options)


def trials(lines):
    return [line for line in lines if line["kind"] == "trial"]


class Full(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.done, cls.lines = calibrate(*QUICK, "--runs", "2", "--seed", "7")

    def test_ends_well(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.assertEqual(self.done.stderr, "")
        self.assertIn("false verdicts, equal arms", self.done.stdout)

    def test_the_file_has_header_trials_and_footer(self):
        header, footer = self.lines[0], self.lines[-1]
        self.assertEqual(header["schema"], "tare.calibrate/1")
        self.assertEqual(header["seed"], 7)
        self.assertEqual(header["command"][0], "calibrate")
        self.assertEqual(footer["kind"], "footer")
        self.assertEqual(footer["rows"], len(self.lines) - 2)
        self.assertFalse(footer["interrupted"])

    def test_every_experiment_ran_twice(self):
        counts = {}
        for trial in trials(self.lines):
            self.assertEqual(trial["setting"], "hot, quiet")
            counts[trial["experiment"]] = counts.get(trial["experiment"], 0) + 1
        self.assertEqual(set(counts.values()), {2})
        for name in ["nothing", "1 % slower", "1 % faster", "0.9 % slower", "1.1 % faster", "a +200 µs", "c -5.00 µs",
                     "7 % in 15 % of calls slower", "one region length"]:
            self.assertIn(name, counts)

    def test_what_was_planted_was_spent(self):
        """A spin never ends early; that it ends in time is the machine's business. Truth is the difference to what an arm
        without a plant spends on the clock and the books, some 60 ns."""
        for trial in trials(self.lines):
            name = trial["experiment"]
            if name[:2] in ("a ", "c "):
                field = "planted_region_seconds" if name[0] == "a" else "planted_dispatch_seconds"
                sign = 1 if name[2] == "+" else -1
                self.assertGreaterEqual(sign * trial[field], PLANTED.get(name[3:], 0) / 2, name)
                self.assertEqual(trial["direction"], "equivalent" if name[0] == "a" else
                                 "loss" if sign > 0 else "win")
            elif name.endswith(" % slower") and "15 %" not in name:
                self.assertLess(trial["true_ratio"], 1, name)
                self.assertEqual(trial["direction"], "loss")
            elif name.endswith("faster"):
                self.assertGreater(trial["true_ratio"], 1, name)
                self.assertEqual(trial["direction"], "win")
            self.assertEqual(trial["equal_arms"], name in ("nothing", "one region length"))

    def test_the_bits_were_right(self):
        self.assertNotIn("output", [trial["cause"] for trial in trials(self.lines)])
        self.assertNotIn("identity", [trial["cause"] for trial in trials(self.lines)])

    def test_one_region_length_is_refused(self):
        for trial in trials(self.lines):
            if trial["experiment"] == "one region length":
                self.assertFalse(trial["identifiable"])
                self.assertEqual(trial["verdict"], "refused")
                # Regions of one dispatch: reading the processor time around them may cost more than they do.
                self.assertIn(trial["cause"], ("overhead", "threads"))

    def read_again(self, lines, *more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "again.jsonl")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
                file.writelines(more)
            return tare.run("calibrate", "--read", path)

    def test_the_file_gives_the_table_again(self):
        again = self.read_again(self.lines)
        self.assertEqual(again.returncode, 0, again.stderr)
        table = self.done.stdout[self.done.stdout.index("setting "):]
        self.assertEqual(again.stdout[again.stdout.index("setting "):], table)

    def test_a_broken_line_costs_that_line(self):
        broken = dict(trials(self.lines)[0], ratio="fast")
        again = self.read_again(self.lines[:3] + [broken], "{\"kind\": \"trial\"")
        self.assertEqual(again.returncode, 2)
        self.assertIn("line 4", again.stderr)
        self.assertIn("'ratio'", again.stderr)
        self.assertIn("line 5", again.stderr)
        self.assertIn("nothing", again.stdout)

    def test_another_file_is_refused(self):
        again = self.read_again([{"kind": "header", "schema": "tare.headroom/2"}])
        self.assertEqual(again.returncode, 2)
        self.assertIn("tare.calibrate/1", again.stderr)


class Short(unittest.TestCase):
    def test_it_is_kept_where_doctor_looks_only_when_asked(self):
        with tempfile.TemporaryDirectory() as cache:
            environment = {"XDG_CACHE_HOME": cache}
            done, lines = calibrate("--short", "--runs", "1", *QUICK, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(trials(lines)[0]["watched"])
            self.assertEqual(os.listdir(cache), [])
            doctor = tare.run("doctor", env=environment)
            self.assertIn("tare calibrate --short --save", doctor.stdout)
            done, _ = calibrate("--short", "--save", "--runs", "1", *QUICK, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(cache, "tare", "calibration.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["schema"], "tare.calibrated/1")
            doctor = tare.run("doctor", env=environment)
            self.assertNotIn("was not run", doctor.stdout)


class BadInput(unittest.TestCase):
    def refuse(self, *arguments, says):
        done = tare.run("calibrate", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, says)
        self.assertNotIn("fault of Tare", done.stderr)

    def test_numbers(self):
        self.refuse("--runs", "0", says="--runs 0")
        self.refuse("--runs", "-1", says="runs")
        self.refuse("--seconds", "0", says="--seconds")
        self.refuse("--seconds", "nan", says="--seconds")
        self.refuse("--ring", "-4", says="--ring")
        self.refuse("--placements", "0", says="placements")

    def test_words(self):
        self.refuse("--neighbour", "loud", says="neighbour")
        self.refuse("--residency", "tepid", says="residency")
        self.refuse("--only", "no such thing", says="'no such thing'.*one region length")

    def test_flags_that_do_not_go_together(self):
        self.refuse("--save", says="--short")
        self.refuse("--short", "--only", "1 %", says="--only")

    def test_files(self):
        self.refuse("--read", "/does/not/exist.jsonl", says="/does/not/exist.jsonl")
        self.refuse("--json", "/does/not/exist/out.jsonl", says="/does/not/exist/out.jsonl")


class OneArmAgainstItself(unittest.TestCase):
    def test_its_truth_is_a_draw(self):
        done, lines = calibrate("--arm", "tare-panel", "--residency", "hot", "--seconds", "0.1", "--runs", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIsNone(lines[0]["accelerator"])
        self.assertEqual(len(trials(lines)), 2)
        for trial in trials(lines):
            self.assertEqual(trial["experiment"], "nothing, tare-panel")
            self.assertTrue(trial["equal_arms"])
            self.assertEqual((trial["direction"], trial["true_ratio"]), ("equivalent", 1))
            self.assertNotEqual(trial["cause"], "identity")  # which it would be, if the arms were not told apart
            self.assertGreater(trial["mean_ratio"], 0)  # both were weighed: a run without a candidate never has a verdict

    def test_what_it_does_not_know_is_told(self):
        for arguments, sentence in [(["--arm", "nobody"], "no implementation here is called so. There are"),
                                    (["--device", "cuda"], "run on the processor only; name an arm"),
                                    (["--arm", "tare-panel", "--short"], "leave --short")]:
            refused = tare.run("calibrate", *arguments)
            self.assertEqual(refused.returncode, 2, arguments)
            self.assertIn(sentence, refused.stderr)


if __name__ == "__main__":
    unittest.main()
