"""The verb replay: the bytes of the run's table, damage named, verdicts explained. One small run on the example plugin."""
import json
import os
import random
import tempfile
import unittest

import tare

ROWS = ["--shape", "96x64", "--shape", "64x32", "--rows", "1,3"]


class WithRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.file = os.path.join(cls.folder.name, "run.jsonl")
        cls.ran = tare.run("headroom", *tare.QUICK, *ROWS, "--arm", tare.EXAMPLE, "--json", cls.file)
        with open(cls.file, "rb") as file:
            cls.bytes = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def replayed(self, content, *arguments):
        path = os.path.join(self.folder.name, "changed.jsonl")
        with open(path, "wb") as file:
            file.write(content)
        return tare.run("replay", path, *arguments, errors="replace")

    def changed(self, line, change):
        """The file with one line changed by `change`."""
        lines = self.bytes.splitlines(keepends=True)
        value = json.loads(lines[line])
        change(value)
        lines[line] = json.dumps(value).encode() + b"\n"
        return b"".join(lines)


class Replay(WithRun):
    def test_prints_the_bytes_of_the_run(self):
        again = tare.run("replay", self.file)
        self.assertEqual(again.stdout, self.ran.stdout)
        self.assertEqual(again.stderr, "")
        self.assertEqual(again.returncode, self.ran.returncode)

    def test_prints_the_bytes_of_a_run_with_all(self):
        path = os.path.join(self.folder.name, "all.jsonl")
        ran = tare.run("headroom", *tare.QUICK, "--shape", "96x64", "--rows", "2", "--all", "--arm", tare.EXAMPLE, "--json", path)
        again = tare.run("replay", path, "--all")
        self.assertEqual((again.stdout, again.returncode), (ran.stdout, ran.returncode))

    def test_another_writer_of_the_same_values_changes_nothing(self):
        lines = [json.dumps(json.loads(line), sort_keys=True, indent=None) for line in self.bytes.splitlines()]
        again = self.replayed("\n".join(lines).encode())
        self.assertEqual((again.stdout, again.stderr), (self.ran.stdout, ""))

    def test_a_changed_sample_is_named(self):
        def change(row):
            row["weighing"]["regions"]["seconds"][7] *= 1 + 1e-15
        done = self.replayed(self.changed(2, change))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"line 3: row 2 \(.*96×64, 3 rows\): its samples \(regions\) changed after the row was "
                                      r"measured: digest [0-9a-f]{32} in the file, [0-9a-f]{32} of what stands there")
        self.assertEqual(done.stdout.count("×"), self.ran.stdout.count("×"), "every row is still shown")

    def test_a_file_cut_short(self):
        last = len(self.bytes.splitlines(keepends=True)[-1])
        for missing in random.sample(range(2, last), 8) + [2, last]:
            with self.subTest(missing=missing):
                done = self.replayed(self.bytes[:-missing])
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, "cut short")
                self.assertIn("96×64", done.stdout)

    def test_other_schemas(self):
        for schema, says in {"tare.headroom/1": "older Tare", "tare.headroom/99": "newer Tare", "else/1": "not a results file"}.items():
            done = self.replayed(self.changed(0, lambda header: header.update(schema=schema)))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)

    def test_what_is_no_file(self):
        pipe = os.path.join(self.folder.name, "pipe")
        os.mkfifo(pipe)
        for path, says in {pipe: "pipe or a device", "/dev/zero": "pipe or a device", self.folder.name: "folder", "/nowhere": "No such file"}.items():
            done = tare.run("replay", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)

    def test_flipped_bytes(self):
        seed = random.randrange(2**32)
        draw = random.Random(seed)
        for _ in range(40):
            content = bytearray(self.bytes)
            content[draw.randrange(len(content))] ^= draw.randrange(1, 256)
            with self.subTest(seed=seed):
                done = self.replayed(bytes(content))
                self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                if done.returncode != 2:
                    self.assertEqual(done.stdout, self.ran.stdout)


class Explain(WithRun):
    def test_every_row_by_its_number(self):
        for number in range(1, 5):
            done = tare.run("replay", self.file, "--explain", number)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"Row {number} of 4: "), done.stdout)
            for part in ["Asked", "Screened", "Prepared", "Proved", "Samples", "Gates", "Verdict", "Decision", "Next"]:
                self.assertRegex(done.stdout, f"(?m)^{part} ")
            self.assertNotIn("\x1b", done.stdout)

    def test_by_words(self):
        self.assertIn("Row 2 of 4: ", tare.run("replay", self.file, "--explain", "96x64x3").stdout)
        self.assertIn("Row 3 of 4: ", tare.run("replay", self.file, "--explain", "64x32 1").stdout)

    def test_none_and_several(self):
        for wanted, says in {"9": "no row is '9'", "96x64": "several rows"}.items():
            done = tare.run("replay", self.file, "--explain", wanted)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)
            self.assertIn("2: shape - 96×64, 3 rows", done.stderr)

    def test_a_changed_row_is_explained_with_a_complaint(self):
        def change(row):
            row["weighing"]["regions"]["seconds"][7] *= 2
        done = self.replayed(self.changed(1, change), "--explain", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("changed after the row was measured", done.stderr)
        self.assertIn("Verdict", done.stdout)


if __name__ == "__main__":
    unittest.main()
