"""Figures from logs as the engine writes them."""

import unittest

import clock

LOG = """0.00.724.345 I generate: n_ctx = 512, n_batch = 2048, n_predict = 64, n_keep = 0
0.04.650.541 I common_perf_print:    sampling time =       3.94 ms
0.04.650.571 I common_perf_print:    samplers time =       2.77 ms /    20 tokens
0.04.650.600 I common_perf_print:        load time =     421.03 ms
0.04.650.628 I common_perf_print: prompt eval time =      34.60 ms /     4 tokens (    8.65 ms per token,   115.61 tokens per second)
0.04.650.656 I common_perf_print:        eval time =    3856.80 ms /    15 runs   (  257.12 ms per token,     3.89 tokens per second)
0.04.650.720 I common_perf_print:       total time =    3926.20 ms /    19 tokens
0.04.650.747 I common_perf_print: unaccounted time =      30.87 ms /   0.8 %      (total - sampling - prompt eval - eval) / (total)
"""
NODES = "ready\t5\ndecode\t0\t0\t8\t1000\t1500\t7\t0\t0\ndecode\t1\t0\t1\t1510\t1760\t7\t0\t0\ndecode\t2\t0\t1\t1780\t1900\t7\t0\t0\n"


class Clock(unittest.TestCase):
    def test_a_tool_of_llama_cpp(self):
        times = clock.times("llama-completion", "", LOG)
        self.assertEqual((times["start_up"], times["prompt"]), (724.345e6, 34.60e6))
        self.assertAlmostEqual(times["decode"], (3926.20 - 34.60) * 1e6 / 15)

    def test_a_log_that_was_cut_has_no_times(self):
        self.assertEqual(clock.times("llama-completion", "", LOG[: LOG.index(clock.LAST)]), {})

    def test_tokens_that_came_out_of_guesses(self):
        times = clock.times("llama-lookup", "", "0.02 I decoded   25 tokens in    1.633 seconds, speed:   15.305 t/s\n" + LOG)
        self.assertAlmostEqual(times["decode"], 1.633e9 / 25)

    def test_our_driver(self):
        times = {"prompt": 500, "first_token": 500, "decode": 200}
        self.assertEqual(clock.times("nodes", NODES, ""), times)
        begun = "exec 12.25\n" + NODES.replace("\t1000\t1500", "\t13000000000\t13000000500").replace("1760", "13000000760").replace("1900", "13000000900")
        self.assertEqual(clock.times("nodes", begun, ""), times | {"start_up": 750e6})

    def test_a_run_that_failed_has_no_times(self):
        self.assertEqual(clock.times("nodes", "", ""), {})
        self.assertEqual(clock.times("llama-completion", "", "error: failed to load"), {})
