"""Thousands of decode steps with everything served: no crash, no report of a sanitizer, and the last logits are the first.

TARE_SOAK_STEPS=N; under ctest a few hundred, and ten thousand in its configuration 'soak' (ctest -C soak -L soak)."""
import os
import re
import tempfile
import time
import unittest

import llama

# Threads that wait sleep: on a machine that has other work, spinning takes the processor from the one that is awaited.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
STEPS = int(os.environ.get("TARE_SOAK_STEPS", "400"))
ROWS = (1, 4)          # sequences side by side
SERVED = (1, 4, 16)    # and a prompt
STRETCH = 200          # steps from one empty context to the next
PROMPT = list(range(3, 19))


class Soak(unittest.TestCase):
    def test_served_decode_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            model = llama.small_model(folder, llama.MIXED)
            plan = llama.plan(folder, *llama.decisions(llama.MIXED, SERVED))
            host = llama.Host(model, plan, context=max(ROWS) * (STRETCH + 32), sequences=max(ROWS))
            before = [host.logits(PROMPT, rows) for rows in (1, 16)]
            started, steps = time.monotonic(), 0
            while steps < STEPS:
                for rows in ROWS:
                    host.ask(f"begin 16 {rows}")
                    host.ask(f"time {rows} {STRETCH} 0")
                    steps += STRETCH
            seconds = time.monotonic() - started
            self.assertEqual([host.logits(PROMPT, rows) for rows in (1, 16)], before)
            code, lines = host.end()
        self.assertEqual(code, 0, "\n".join(lines[-60:]))
        self.assertFalse([line for line in lines if re.search("(ERROR|WARNING): .*Sanitizer|runtime error", line)], "\n".join(lines[-60:]))
        served = llama.served(lines)
        for rows in ROWS:
            head = served[f"q8_0 256x320, {rows} row" + "s" * (rows > 1)]
            self.assertGreaterEqual(head, STEPS // len(ROWS))
        print(f"{steps} steps in {seconds:.1f} s; {sum(served.values())} products served")


if __name__ == "__main__":
    unittest.main()
