# tare plan as a user meets it: made of a recorded run, checked, merged, compared, and refused when it is not whole.
import json
import os
import tempfile
import unittest

import tare


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.run_file = os.path.join(cls.folder.name, "run.jsonl")
        tare.run("headroom", *tare.QUICK, "--shape", "256x64", "--rows", "1,2", "--json", cls.run_file)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def made(self, name, *arguments):
        done = tare.run("plan", "--from", self.run_file, "-o", self.path(name), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def test_it_says_what_the_run_says(self):
        with open(self.made("plain.json"), encoding="utf-8") as file:
            plan = json.load(file)
        with open(self.run_file, encoding="utf-8") as file:
            rows = tare.rows(map(json.loads, file))
        self.assertEqual(plan["schema"], "tare.plan/1")
        self.assertEqual([d["rows"] for d in plan["decisions"]], [1, 2])
        for decision, row in zip(plan["decisions"], rows):
            self.assertEqual(decision["samples"], row["digest"]["row"])
            self.assertEqual(decision["verdict"], row["verdict"])
            if decision["decision"] == "serve":
                self.assertEqual((decision["verdict"], decision["bits"]), ("win", "equal"))

    def test_it_holds_here_and_not_after_a_change(self):
        path = self.made("checked.json")
        done = tare.run("plan", "check", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("holds here: 2 decisions", done.stdout)
        told = json.loads(tare.run("plan", "check", path, "--json").stdout)
        self.assertEqual((told["holds"], told["decisions"], told["reasons"]), (True, 2, []))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"rows": 2', '"rows": 4'))
        done = tare.run("plan", "check", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("changed or damaged", done.stderr)

    def test_merge_and_diff(self):
        first, second = self.made("first.json"), self.made("second.json", "--equality", "bounded")
        done = tare.run("plan", "merge", first, second, "-o", self.path("both.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 decisions", done.stdout)
        self.assertEqual(tare.run("plan", "diff", first, first).returncode, 0)
        done = tare.run("plan", "diff", first, second)
        self.assertEqual(done.returncode, 1)
        self.assertIn("256x64 bf16, 1 row", done.stdout)
        done = tare.run("plan", "diff", first, second, "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertFalse(told["alike"])
        self.assertIn("256x64 bf16, 1 row", told["differences"][0])

    def test_bad_usage(self):
        for arguments in ([], ["-o", self.path("x.json")], ["--from", self.run_file], ["--from", "/nowhere", "-o", "x.json"],
                          ["check", "/nowhere"], ["check", self.run_file], ["diff", self.run_file],
                          ["--from", self.run_file, "-o", "/nowhere/plan.json"],
                          ["--from", self.run_file, "-o", self.path("x.json"), "--equality", "nearly"]):
            done = tare.run("plan", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr.strip(), arguments)


if __name__ == "__main__":
    unittest.main()
