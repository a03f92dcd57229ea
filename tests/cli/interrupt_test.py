"""^C ends every verb that works for longer than a moment with 130, and what was finished stands in its file."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

import tare


class Interrupted(unittest.TestCase):
    def interrupted(self, *arguments):
        """Sends ^C once there is a first line of results; what stands in the file then."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results")
            process = subprocess.Popen([tare.TARE, *arguments, "--json", path], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.first_result(process)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, errors)
            self.assertNotIn("fault of Tare", errors)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def first_result(self, process):
        for line in process.stdout:
            if self.is_result(line):
                return
        self.fail(process.stderr.read())

    def is_result(self, line):
        return line.strip() != ""

    def test_trap(self):
        told = json.loads(self.interrupted("trap", "all"))
        self.assertGreaterEqual(len(told["traps"]), 1)
        self.assertLess(len(told["traps"]), 20)

    def test_prove(self):
        self.is_result = lambda line: line.startswith(("oneDNN", "OpenBLAS", "ggml", "MLX", "Tare"))
        lines = [json.loads(line) for line in self.interrupted("prove", "--all", "--shape", "1536x512").splitlines()]
        self.assertEqual([line["kind"] for line in lines[:2]], ["header", "certificate"])

    def test_reveal(self):
        self.is_result = lambda line: ", rows 1, 2" in line or ", 1 row" in line
        lines = self.interrupted("reveal", "--rows", "1,2", "--shape", "512x64").splitlines()
        self.assertEqual(json.loads(lines[0])["kind"], "header")
        self.assertEqual(json.loads(lines[1])["rows"], 1)


if __name__ == "__main__":
    unittest.main()
