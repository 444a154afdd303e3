#!/usr/bin/env python3
"""Checks links and sentences of the documents.

Every relative link must name a file that exists, and every anchor a heading of that page. No sentence may have more
than 40 words, outside tables, code blocks and headings. The last line printed is 'N passed, M failed': a page
is one claim about its links and one about its sentences.

usage: check-words.py PATH...       Markdown files, or folders of them
       check-words.py --self-test
"""
import os
import re
import sys
import tempfile

LIMIT = 40
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


def anchor(heading):
    """The anchor that GitHub and pandoc's gfm reader give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(lines):
    """(number, line) outside fenced blocks; None stands for a fenced block's lines."""
    fenced = False
    for number, line in enumerate(lines, 1):
        fence = line.lstrip().startswith("```")
        if fence:
            fenced = not fenced
        yield number, None if fenced or fence else line


def anchors(path):
    found = {}
    with open(path, encoding="utf-8") as f:
        for _, line in prose(f.read().split("\n")):
            m = re.match(r"#{1,6}\s+(.*)", line or "")
            if m:
                name = anchor(m.group(1))
                found[name] = found.get(name, -1) + 1
    names = set(found)
    for name, more in found.items():
        names.update("%s-%d" % (name, i) for i in range(1, more + 1))
    return names


def bad_links(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in prose(lines):
        for url in LINK.findall(line or ""):
            if re.match(r"[a-z]+:", url):
                continue
            page, _, place = url.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), page)) if page else path
            if not os.path.exists(target):
                yield number, "%s: there is no %s" % (url, target)
            elif place and target.endswith(".md") and place not in anchors(target):
                yield number, "%s: %s has no heading of that name" % (url, target)


def paragraphs(lines):
    """(number of the first line, text) of each paragraph and list item. Tables, code and headings are left out."""
    start, text = 0, []
    for number, line in prose(lines):
        skip = line is None or not line.strip() or re.match(r"\s*(\||#{1,6}\s|<!--)", line)
        code = line is not None and line.startswith("    ") and not text
        if skip or code or BLOCK.match(line):
            if text:
                yield start, " ".join(text)
            start, text = 0, []
        if skip or code:
            continue
        if not text:
            start = number
        text.append(BLOCK.sub("", line).strip())
    if text:
        yield start, " ".join(text)


def sentences(text):
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\b(e\.g|i\.e|et al|vol|pp|p|no|fig|cf|vs)\.", r"\1", text, flags=re.I)
    return re.split(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_]*[A-Z0-9a-z])", text)


def long_sentences(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, text in paragraphs(lines):
        for sentence in sentences(text):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            if len(words) > LIMIT:
                yield number, "%d words: %s ..." % (len(words), " ".join(words[:9]))


def pages(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".md"))
        else:
            yield path


def check(paths):
    passed = failed = 0
    for path in pages(paths):
        for find in (bad_links, long_sentences):
            found = list(find(path))
            for number, what in found:
                print("%s:%d: %s" % (path, number, what))
            passed, failed = passed + (not found), failed + bool(found)
    return passed, failed


def self_test():
    """Each fault is found, and a page without faults passes."""
    long = "It is " + "very " * LIMIT + "long."
    cases = (("good", "# A page\n\n[up](#a-page), [other](other.md#there)\n\n| " + "word " * 50 + "|\n", 2),
             ("no file", "[x](gone.md)\n", 1), ("no heading", "[x](other.md#gone)\n", 1),
             ("no heading here", "[x](#gone)\n", 1), ("long", long + "\n", 1),
             ("long over lines", long.replace("very very very", "very\nvery\nvery") + "\n", 1),
             ("long in a list", "- " + long + "\n", 1), ("code", "```\n" + long + "\n[x](gone.md)\n```\n", 2))
    passed = failed = 0
    for name, text, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(os.path.join(folder, "other.md"), "w", encoding="utf-8") as f:
                f.write("# Other\n\n## There\n")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            good = 2 - bool(list(bad_links(path))) - bool(list(long_sentences(path)))
        print("%s %s" % ("ok" if good == wanted else "FAILED", name))
        passed, failed = passed + (good == wanted), failed + (good != wanted)
    return passed, failed


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 2
    passed, failed = self_test() if sys.argv[1] == "--self-test" else check(sys.argv[1:])
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
