"""A machine without AVX-512 or bf16 instructions: the table still stands. The libraries' own limits stand in for it."""
import unittest

import tare

LIMITS = dict(ONEDNN_MAX_CPU_ISA="AVX2", DNNL_MAX_CPU_ISA="AVX2", TARE_CPU_ISA="avx2")


class WithoutBf16Instructions(unittest.TestCase):
    def test_the_table_stands_with_the_incumbents_that_can(self):
        done, lines = tare.headroom("--shape", "96x64", "--rows", "1,4", env=LIMITS)
        for row in tare.rows(lines):
            self.assertIsNone(row["weighing"]["failure"])
            self.assertIn("AVX2", row["candidate"]["isa"])
            reasons = {entry["arm"]: entry["reason"] for entry in row["weighing"].get("screened", row["screened"])}
            self.assertIn("onednn", reasons)
            self.assertTrue(reasons["onednn"], "oneDNN has no bf16 below AVX-512, and must say so")

    def test_our_portable_path_gives_the_same_bits(self):
        runs = []
        for isa in ["portable", "avx2", "avx512", "avx512bf16"]:
            done, lines = tare.headroom("--shape", "96x64", "--rows", "3", "--seed", "5", "--candidate", "tare-panel",
                                        "--incumbent", "ggml", env=dict(TARE_CPU_ISA=isa))
            proof = tare.rows(lines)[0]["weighing"]["proof"]
            runs.append((proof["differing"], proof["max_ulp"], proof["candidate_error_max"]))
        self.assertEqual(len(set(runs)), 1, runs)


if __name__ == "__main__":
    unittest.main()
