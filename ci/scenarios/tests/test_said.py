"""The figures of the tools, from what they print."""
import unittest

import said

COMPLETION = """common_perf_print: prompt eval time =      4.90 ms /    27 tokens (    0.18 ms per token)
common_perf_print:        eval time =      16.60 ms /    15 runs   (    1.11 ms per token)
"""
PARALLEL = """Client   0, seq   3/  6, prompt  906 t, response   12 t, time  0.64 s
Client   1, seq   4/  6, prompt  909 t, response   10 t, time  0.64 s
Total prompt tokens:   1815, speed: 4211.03 t/s
Total gen tokens:        22, speed: 54.79 t/s
"""
ROWS = """
|    PP |     TG |    B |   N_KV |
|-------|--------|------|--------|
|    32 |      8 |    1 |     40 |
|    32 |      8 |    2 |     80 |

"""


def counts(run):
    return [(r.cached, r.prompt, r.output) for r in run.requests]


class Said(unittest.TestCase):
    def test_completion(self):
        self.assertEqual(counts(said.completion(COMPLETION)), [(0, 27, 16)])

    def test_parallel(self):
        self.assertEqual(counts(said.parallel(PARALLEL)), [(None, 906, 13), (None, 909, 11)])

    def test_a_lost_line_is_noticed(self):
        for text, read in ((PARALLEL[PARALLEL.index("\n") + 1:], said.parallel), (ROWS.rstrip(), said.batched_bench),
                           ("", said.lookup), ("", said.perplexity)):
            with self.assertRaises((ValueError, IndexError)):
                read(text)

    def test_batched_bench(self):
        self.assertEqual(counts(said.batched_bench(ROWS)), [(0, 32, 9)] * 3)
        self.assertEqual(counts(said.shared_bench(ROWS)), [(0, 32, 9), (0, 32, 9), (32, 0, 9)])


if __name__ == "__main__":
    unittest.main()
