"""tare reveal: the orders of arms whose order is known, and what is no sum."""
import os
import unittest

import tare


def reveal(*arguments):
    """(completed process, findings)"""
    done, lines = tare.run_with_file("reveal", *arguments)
    return done, [line for line in lines if line["kind"] == "order"]


class Reveal(unittest.TestCase):
    def test_the_example_plugin_adds_as_its_source_says(self):
        done, found = reveal("--arm", tare.EXAMPLE, "--shape", "300x9", "--rows", "1,3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([one["rows"] for one in found], [1, 3])
        for one in found:
            self.assertEqual(one["order"], "one sum of 300 products, in pairs, the odd one first")
            self.assertEqual(one["other_outputs"], 0)
            self.assertIn("9 of 9", one["prediction"])
            self.assertEqual(one["tree"]["joins"],
                             [1] + [i + 1 if i % 2 == 0 else i - 1 for i in range(2, 300)])  # 3, 2, 5, 4, ...

    def test_our_panel_kernel_has_the_order_it_says(self):
        # src/kernels/sum_order.h: chunks of 512 up to k = 1024, else of 1024
        for k, chunks in (700, "2 chunks of 512 (the last of 188)"), (1100, "2 chunks of 1024 (the last of 76)"):
            with self.subTest(k):
                _, found = reveal("--candidate", "tare-panel", "--shape", f"{k}x8", "--rows", "2")
                self.assertTrue(found[0]["order"].startswith(chunks), found[0]["order"])
                self.assertTrue(found[0]["order"].endswith("in pairs, the odd one first"))
                self.assertIn("8 of 8", found[0]["prediction"])

    def test_our_panel_kernel_in_ggmls_order(self):
        _, found = reveal("--candidate", "tare-panel-ggml", "--shape", "512x8", "--rows", "1,2")
        self.assertTrue(found[0]["order"].startswith("32 lanes, added by halves (those 8, 4, 2, 1, 16 apart)"))
        self.assertTrue(found[1]["order"].startswith("16 lanes, added by halves (those 8, 4, 2, 1 apart)"))
        for one in found:
            self.assertIn("8 of 8", one["prediction"])

    def test_our_panel_kernel_in_the_order_of_onednn_3(self):
        _, found = reveal("--candidate", "tare-panel-onednn3", "--shape", "512x8", "--rows", "1,2")
        self.assertTrue(found[0]["order"].startswith("16 lanes, added by halves (those 8, 4, 1, 2 apart)"))
        self.assertEqual(found[1]["order"], "one sum of 512 products, in pairs, the odd one first")
        for one in found:
            self.assertIn("8 of 8", one["prediction"])

    def test_onednn(self):
        _, found = reveal("--candidate", "onednn", "--shape", "1536x8", "--rows", "1")
        if not found or found[0]["kernel"] != "brg:avx512_core_bf16" or "2.6" not in found[0]["title"]:
            self.skipTest("not the oneDNN and the processor whose order is known")
        self.assertTrue(found[0]["order"].startswith("2 chunks of 1024 (the last of 512)"))

    def test_f16_and_f32_weights(self):
        # src/kernels/sum_order.h; x of f16 weights may be rounded to f16
        orders = {"f16": "6 chunks of 128 (the last of 60), added in order; each: 8 chunks of 16, added in order; "
                         "each: one sum of 16 products, in order",
                  "f32": "2 chunks of 512 (the last of 188), added in order; each: one sum of 512 products, in order"}
        for weights, order in orders.items():
            with self.subTest(weights):
                _, found = reveal("--candidate", "tare-panel", "--weights", weights, "--shape", "700x8", "--rows", "2")
                self.assertEqual(found[0]["order"], order)
                self.assertIn("8 of 8", found[0]["prediction"])

    def test_activations_rounded_in_blocks(self):
        for weights, block in (("q8_0", 32), ("q4_k", 256)):
            with self.subTest(weights):
                done, found = reveal("--candidate", "tare-grouped", "--weights", weights, "--shape", "2048x8",
                                     "--rows", "1,2")
                self.assertEqual(done.returncode, 0, done.stdout)
                for one in found:
                    self.assertEqual(one["order"], f"one sum of {2048 // block} products, in order")
                    self.assertEqual(one["elements"], [list(range(block))])
                    self.assertEqual(one["other_outputs"], 0)

    def test_ggmls_blocks(self):
        _, found = reveal("--candidate", "ggml", "--weights", "q8_0", "--shape", "1024x8", "--rows", "1")
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            known = "avx2" in file.read()
        if not found or not known:
            self.skipTest("no ggml, or not the processor whose order is known")
        # ggml's vec_dot_q8_0_q8_0 on AVX2: a vector of eight sums, four bytes of each 32 to a lane
        self.assertTrue(found[0]["order"].startswith("8 lanes, added by halves (those 4, 2, 1 apart)"))
        self.assertEqual(found[0]["elements"][1], [4, 5, 6, 7])

    def test_what_does_not_add_is_told(self):
        done, _ = reveal("--arm", os.path.join(tare.PLUGINS, "wrong_zeros.so"), "--shape", "64x8")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a single product", done.stdout)

    def test_bad_usage(self):
        for arguments in [["--weights", "q9"], ["--weights", "mlx-int4-g64"], ["--rows", "0"], ["--shape", "x"],
                          ["--candidate", "nobody"], ["--arm", "/nowhere.so"]]:
            with self.subTest(arguments):
                self.assertEqual(tare.run("reveal", *arguments).returncode, 2)


if __name__ == "__main__":
    unittest.main()
