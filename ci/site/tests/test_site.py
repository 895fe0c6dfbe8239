"""The scripts of the site: what they find wrong, and what they leave alone."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "studies"), str(HERE.parent / "causes")]

import check  # noqa: E402
import collect  # noqa: E402
import commands  # noqa: E402
import links  # noqa: E402
import markdown  # noqa: E402
import places  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402
import write  # noqa: E402


def folder(files):
    """A folder with these files, and the one that every repository has."""
    root = Path(tempfile.mkdtemp())
    for name in places.OUTSIDE:
        (root / name).write_text("# x\n")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


ALL = "[a](a.md) [r](../ARCHITECTURE.md) [c](../CONTRIBUTING.md) [l](../CHANGELOG.md)"


class Markdown(unittest.TestCase):
    def test_anchors_are_those_of_mdbook(self):
        text = "# The `a` ladder\n## A: `--b 1%`, c\n## Two\n## Two\n```\n# no heading\n```\n"
        self.assertEqual(markdown.anchors(text), {"the-a-ladder", "a---b-1-c", "two", "two-1"})

    def test_links_in_code_are_none(self):
        text = "`[a](b.md)` [`c` d](e.md#f)\n```\n[g](h.md)\n```\n[![i](j.png)](k.md)\n"
        self.assertEqual([found[3] for found in markdown.links(text)], ["e.md#f", "k.md"])

    def test_blocks_know_the_comment_above(self):
        text = "<!-- runs -->\n\n```sh\na\n```\n\nwords\n```text\nb\n```\n"
        self.assertEqual(markdown.blocks(text), [(3, "<!-- runs -->", "sh", "a\n"), (8, "words", "text", "b\n")])


class Links(unittest.TestCase):
    def wrong(self, **pages):
        files = {f"docs/{name}.md": text for name, text in pages.items()}
        return links.of_sources(folder({"docs/SUMMARY.md": ALL} | files))

    def test_good_links(self):
        self.assertEqual(self.wrong(a="# A\n[x](#a) [y](../README.md) [z](https://example.org/none)\n"), [])

    def test_a_missing_file_a_missing_heading_and_a_page_that_is_not_listed(self):
        wrong = self.wrong(a="# A\n[x](none.md)\n[y](b.md#none)\n", b="# B\n")
        self.assertEqual(wrong, ["docs/a.md:2: no file docs/none.md", "docs/a.md:3: no heading #none in docs/b.md", "docs/b.md: not in docs/SUMMARY.md"])

    def test_pages_that_only_the_site_has(self):
        self.assertEqual(self.wrong(a="[x](reference/analyze.md)"), ["docs/a.md:1: reference/analyze.md is a page that only the site has"])

    def test_the_built_site(self):
        root = folder({"index.html": '<p id="here"></p><a href="a.html#there">a</a><a href="#none">b</a><img src="none.png">',
                       "a.html": '<h1 id="there">x</h1><a href="https://example.org">y</a>', "lost.html": ""})
        self.assertEqual(links.of_site(root), ["index.html: no anchor #none", "index.html: no none.png", "lost.html: no page leads there"])


class Stage(unittest.TestCase):
    def test_links_lead_to_pages_of_the_site(self):
        complaints = []
        text = "[a](../ARCHITECTURE.md#x) [`b`](../../boards/none.toml) [c](d.md)\n"
        self.assertEqual(stage.rewritten("docs/start/e.md", text.replace("../ARCH", "../../ARCH"), complaints.append), "[a](../architecture.md#x) `b` [c](d.md)\n")
        self.assertEqual(complaints, [])

    def test_untested_commands_are_marked(self):
        self.assertEqual(commands.with_notes("<!-- untested: no board -->\n<!-- runs -->\n"), "*Not tested: no board.*\n<!-- runs -->\n")

    def test_a_block_of_start_without_a_comment(self):
        root = folder({"docs/start/a.md": "```sh\na\n```\n<!-- runs-in: none.sh -->\n```sh\nb\n```\n<!-- runs -->\n```sh\nc\n```\n"})
        self.assertEqual([line.split(":")[1] for line in commands.complaints(root)], ["1", "5"])


class Reference(unittest.TestCase):
    def test_the_long_help_of_a_snapshot(self):
        snapshot = "---\nsource: x\nexpression: y\n---\nshort\n\n=====\n\nlong  \nlines\n"
        self.assertEqual(reference.help_text(snapshot), "long\nlines")

    def test_names_of_commands(self):
        self.assertEqual(reference.command_name("wording__help-analyze", "analyze"), "")
        self.assertEqual(reference.command_name("wording__help-analyze-export-expert-pins", "analyze"), "export expert-pins")

    def test_every_page_of_the_list_is_made(self):
        self.assertEqual({f"docs/{page}" for page in reference.pages(places.REPO)} | {"docs/sample/report.html"}, places.MADE)


DATA = {
    "case": "x", "commit": "0123456789abcdef", "at": "2026-11-28", "question": "decode", "first": True, "found_in": 5,
    "pairs": [[100e6, 10e6], [101e6, 10e6], [102e6, 11e6], [99e6, 10e6], [103e6, 10e6]],
    "predicted": {"low": 85e6, "likely": 91e6, "high": 95e6}, "finding": {"code": "preempted", "title": "T", "action": "A"}, "screen": "decode: …",
    "setup": {"tool": "llama-completion", "model": "smollm2", "draft": "", "threads": 2, "tokens": 64, "prompt": 8, "nice": 0, "cpus": "0,1", "args": [], "env": {"A": "b"}},
}


class Studies(unittest.TestCase):
    def test_good_data(self):
        self.assertEqual(check.complaints(DATA), [])

    def test_a_figure_that_leaves_its_interval(self):
        for change in ({"predicted": {"low": 10e6, "likely": 20e6, "high": 30e6}}, {"first": False}, {"finding": None}, {"pairs": [[10e6, 10e6]] * 5}):
            with self.subTest(change):
                self.assertTrue(check.complaints(DATA | change))

    def test_a_newer_battery(self):
        same = {"pairs": [{"planted_ns": p * 2, "remedied_ns": r * 2} for p, r in DATA["pairs"]]}
        other = {"pairs": [{"planted_ns": p, "remedied_ns": r * 4} for p, r in DATA["pairs"]]}
        self.assertEqual(check.moved(DATA, same), [])
        self.assertTrue(check.moved(DATA, other))
        self.assertEqual(check.moved(DATA, {"error": "x"}), [])

    def test_a_newer_battery_that_does_not_find_the_cause(self):
        spec = importlib.util.spec_from_file_location("examples", HERE.parent / "causes/tests/examples.py")
        examples = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(examples)
        good = {"case": {"expected": examples.EXPECTED}} | examples.result()
        self.assertEqual(check.contradictions(DATA, good), [])
        for pair in good["pairs"]:
            pair["verdict"]["found"].clear()
        self.assertTrue(check.contradictions(DATA, good))
        # A cause that costs no time here
        for pair in good["pairs"]:
            pair["planted_ns"] = pair["remedied_ns"]
        self.assertEqual(check.contradictions(DATA, good), [])
        self.assertEqual(check.contradictions(DATA, {"error": "x"}), [])

    def test_the_figures_of_a_page(self):
        one = {"case": "x", "page": "x", "title": "Title", "symptom": "S", "planted": "P", "meaning": "M", "remedy": "R", "tried": "t."}
        page = write.page(one, DATA)
        for text in ("# Title", "A='b' llama-completion -m smollm2.gguf -t 2 -n 64", "| 101 ms | 10.0 ms |", "| 9.9 t/s | 100.0 t/s |", "saves 91.0 ms (89.0 ms to 93.0 ms)", "5 of 5"):
            self.assertIn(text, page)

    def test_times_have_three_digits(self):
        self.assertEqual([write.time(ns) for ns in (1.2345e6, 12.345e6, 123.45e6, 1.2345e9)], ["1.23 ms", "12.3 ms", "123 ms", "1.23 s"])

    def test_the_first_screen_ends_with_the_ladder_of_the_question(self):
        text = "model\n\n\n\nDecode: x\n\ndecode: 1 ms per token\n  a\n  b\n\nprompt: 2 ms per prompt\n  c\nfirst token: 3 ms per request\ne\nx, process 7: y\n"
        last = lambda question: collect.first_screen(text, question).splitlines()[-2:]
        self.assertEqual(collect.first_screen(text, "decode"), "model\n\nDecode: x\n\ndecode: 1 ms per token\n  a\n  b")
        self.assertEqual(last("prompt"), ["prompt: 2 ms per prompt", "  c"])
        self.assertEqual(last("first_token"), ["first token: 3 ms per request", "e"])
        self.assertIsNone(collect.first_screen(text, "start_up"))


if __name__ == "__main__":
    unittest.main()
