"""^C ends every verb that works for longer than a moment with 130, and what was finished stands in its file."""
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import tare


PATIENCE = 300  # seconds until there is something to interrupt: probing waits long for processors that others use


def hosts_of(process):
    """The arm hosts of a run."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
        return file.read().split()


def is_there(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return "arm-host" in file.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


class Interrupted(unittest.TestCase):
    def interrupted(self, *arguments):
        """Sends ^C once there is a first line of results; what stands in the file then."""
        with tempfile.TemporaryDirectory() as folder:
            self.path = os.path.join(folder, "results")
            process = subprocess.Popen([tare.TARE, *arguments, "--json", self.path], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.wait_for_work(process)
            hosts = hosts_of(process)
            process.send_signal(signal.SIGINT)
            self.printed, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 130, errors)
            self.assertNotIn("fault of Tare", errors)
            self.assertEqual([pid for pid in hosts if is_there(pid)], [])
            with open(self.path, encoding="utf-8") as file:
                return file.read()

    def wait_for_work(self, process):
        impatience = threading.Timer(PATIENCE, process.kill)
        impatience.start()
        try:
            self.first_result(process)
        finally:
            impatience.cancel()

    def first_result(self, process):
        for line in process.stdout:
            if self.is_result(line):
                return
        self.fail(f"ended with {process.wait()} and no result: {process.stderr.read()}")

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

    def test_reveal_while_it_asks(self):
        # One arm is asked some 30,000 times before there is a line of it.
        self.is_result = lambda line: "4096x64, bf16 weights" in line
        lines = self.interrupted("reveal", "--rows", "1,2", "--shape", "4096x64").splitlines()
        self.assertEqual([json.loads(line)["kind"] for line in lines], ["header"])

    def test_reveal_prints_the_row_counts_that_it_has(self):
        self.first_result = lambda process: self.until_written(process, '"kind":"order"')
        rows = "1,2,3,4,5,6,7,8,9,10,11,12"
        lines = self.interrupted("reveal", "--candidate", "tare-panel", "--rows", rows, "--shape", "1536x64").splitlines()
        found = [str(json.loads(line)["rows"]) for line in lines[1:]]
        self.assertIn(f", rows {', '.join(found)}" if len(found) > 1 else ", 1 row", self.printed)

    def test_headroom_while_arms_are_destroyed(self):
        self.first_result = lambda process: self.until_written(process, '"kind":"row"')
        lines = self.interrupted("headroom", *tare.QUICK[:-1], "60", "--shape", "96x64", "--rows", "1,2,3,4,5,6,7,8", "--arm",
                                 os.path.join(tare.PLUGINS, "slow_destroy.so")).splitlines()
        self.assertTrue(json.loads(lines[-1])["interrupted"])

    def test_headroom_writes_no_row_of_which_nothing_was_measured(self):
        self.first_result = lambda process: self.until_written(process, '"kind":"row"')
        lines = self.interrupted("headroom", *tare.QUICK, "--shape", "1536x512", "--rows", "1,2,3,4,5,6,7,8").splitlines()
        rows = [row for row in map(json.loads, lines) if row["kind"] == "row"]
        self.assertLess(len(rows), 8)
        for row in rows:
            self.assertTrue(row["weighing"]["regions"]["seconds"] or row["weighing"]["failure"], row)

    def until_written(self, process, text):
        """In the file; of what is printed there may be nothing yet."""
        while process.poll() is None:
            if os.path.exists(self.path):
                with open(self.path, encoding="utf-8") as file:
                    if text in file.read():
                        return
            time.sleep(0.01)
        self.fail(process.stderr.read())


if __name__ == "__main__":
    unittest.main()
