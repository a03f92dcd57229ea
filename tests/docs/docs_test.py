"""The pages tell the truth where a program can see it: links hold, files that are named are there, and verbs and options that a page
shows are those of the program."""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import unittest

TARE = os.environ["TARE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*/*.md")])
FRONT = {"test", "incumbents"}  # verbs of ./tare itself
FOLDERS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "build" and path.name[0] != ".")


def prose(page):
    """A page without its code blocks: what looks like a link there is none."""
    return re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))


def anchors(page):
    """As GitHub makes them: lower case, punctuation gone, spaces to dashes."""
    for heading in re.findall(r"(?m)^#+ (.*)$", prose(page)):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(page):
    """Calls of tare: lines of code blocks, and code within a sentence. Each up to a comment, a pipe or the next command."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```", text) + re.findall(r"(?m)^    (.*)$", text)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    calls = [call for line in lines for call in re.findall(r"(?:^|\$ |&& )(?:\./|build/release/bin/)?tare ([^#|>]*)", line)]
    calls += re.findall(r"`(?:\./)?tare ([^`]*)`", prose(page))
    for call in calls:
        words = re.split(r"&&|&|;|   |\n", call)[0]
        yield words.strip()


@functools.cache
def help_of(*verbs):
    done = subprocess.run([TARE, *verbs, "--help"], capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ""


def verbs_of(text):
    _, _, after = text.partition("Subcommands:\n")
    return re.findall(r"(?m)^  ([a-z-]+) ", after.partition("\n\n")[0])


class Pages(unittest.TestCase):
    """Each test collects all that is wrong, as PAGE: WHAT."""

    def setUp(self):
        self.assertGreater(len(PAGES), 20)
        self.wrong = []

    def tearDown(self):
        self.assertEqual(self.wrong, [], "\n".join(["", *self.wrong]))

    def expect(self, true, page, what):
        if not true:
            self.wrong.append(f"{page.relative_to(ROOT)}: {what}")

    def test_links_hold(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = (page.parent / file).resolve() if file else page
                self.expect(there.exists(), page, target)
                if anchor and there.is_file():
                    self.expect(anchor in anchors(there), page, target)

    def test_named_files_are_there(self):
        # NAME, * and {a,b} stand for several.
        for page in PAGES:
            for path in re.findall(r"`(?:\./)?((?:%s)/[^\s`:*{<…]+)[`\s:]" % "|".join(FOLDERS), prose(page)):
                if not re.search(r"[A-Z]{3,}", path.replace("README", "")):
                    self.expect((ROOT / path).exists() or (page.parent / path).exists(), page, path)

    def test_verbs_and_options_are_the_programs(self):
        known = verbs_of(help_of())
        self.assertIn("headroom", known)
        for page in PAGES:
            for call in commands(page):
                words = shlex.split(call) if call.count("'") % 2 == 0 else call.split()
                if not words or words[0] in FRONT or not re.fullmatch(r"[a-z-]+", words[0]):
                    continue
                if words[0] not in known:
                    self.expect(False, page, f"no verb {words[0]}: {call}")
                    continue
                inner = words[:2] if len(words) > 1 and words[1] in verbs_of(help_of(words[0])) else words[:1]
                for word in words:
                    option = re.fullmatch(r"(--[a-z][a-z-]*|-[a-z])(=.*)?", word)
                    if option:
                        self.expect(re.search(rf"(?m)(?:^  |,){option[1]}[ ,{{\n]", help_of(*inner)), page, f"no option {option[1]}: {call}")


if __name__ == "__main__":
    unittest.main()
