#!/usr/bin/env python3
"""Checks links and sentences of the documents.

Every relative link must name a file that exists, and every anchor a heading of that page. docs/index.md must link to
every page of its folder. No sentence may have more than 30 words, outside tables, code blocks and headings. The
last line printed is 'N passed, M failed': a page is one claim about its links and one about its sentences.

The pages named in scripts/pages-to-shorten.txt may have long sentences; a named page that has none must be taken off.

usage: check-words.py PATH...       Markdown files, or folders of them
       check-words.py --strict PATH...   the same, without that list
       check-words.py --counts PATH...   long sentences of each page that has some
       check-words.py --self-test
"""
import os
import re
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TO_SHORTEN = os.path.join(ROOT, "scripts", "pages-to-shorten.txt")
LIMIT = 30
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


def unlisted(path):
    """Pages below the folder of an index.md that it does not link to."""
    if os.path.basename(path) != "index.md":
        return
    here = os.path.dirname(path)
    with open(path, encoding="utf-8") as f:
        urls = LINK.findall(f.read())
    linked = {os.path.normpath(os.path.join(here, url.partition("#")[0])) for url in urls}
    for page in pages([here or "."]):
        page = os.path.normpath(page)
        if page != os.path.normpath(path) and page not in linked:
            yield 1, "no link to %s" % page


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


def to_shorten(path=TO_SHORTEN):
    """Pages, by absolute path, that may have long sentences."""
    with open(path, encoding="utf-8") as f:
        names = [line.split("#")[0].strip() for line in f]
    return {os.path.join(ROOT, name) for name in names if name}


def judge(path, listed):
    """Faults of a page's links, and of its sentences."""
    long = list(long_sentences(path))
    if os.path.abspath(path) in listed:
        long = [] if long else [(1, "has no long sentence: take it off scripts/pages-to-shorten.txt")]
    return list(bad_links(path)) + list(unlisted(path)), long


def check(paths, listed):
    passed = failed = 0
    for path in pages(paths):
        for found in judge(path, listed):
            for number, what in found:
                print("%s:%d: %s" % (path, number, what))
            passed, failed = passed + (not found), failed + bool(found)
    for path in sorted(listed):
        if not os.path.exists(path):
            print("scripts/pages-to-shorten.txt: there is no %s" % os.path.relpath(path, ROOT))
            failed += 1
    return passed, failed


def counts(paths):
    for path in pages(paths):
        found = len(list(long_sentences(path)))
        if found:
            print("%4d %s" % (found, path))


def self_test():
    """Each fault is found, and a page without faults passes."""
    long = "It is " + "very " * LIMIT + "long."
    longest = "It is " + "very " * (LIMIT - 3) + "long."
    cases = (("good", "# A page\n\n[up](#a-page), [other](other.md#there)\n\n| " + "word " * 50 + "|\n", 2),
             ("no file", "[x](gone.md)\n", 1), ("no heading", "[x](other.md#gone)\n", 1),
             ("no heading here", "[x](#gone)\n", 1), ("long", long + "\n", 1), ("as long as may be", longest + "\n", 2),
             ("long over lines", long.replace("very very very", "very\nvery\nvery") + "\n", 1),
             ("long in a list", "- " + long + "\n", 1), ("code", "```\n" + long + "\n[x](gone.md)\n```\n", 2))
    # (name, page, page's name, is the page listed as one to shorten, claims that hold)
    cases = [case[:2] + ("page.md", False) + case[2:] for case in cases] + [
        ("listed, long", long + "\n", "page.md", True, 2), ("listed, short", "Short.\n", "page.md", True, 1),
        ("index", "[x](other.md)\n", "index.md", False, 2), ("index without a page", "Short.\n", "index.md", False, 1)]
    passed = failed = 0
    for name, text, page, listed, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, page)
            with open(os.path.join(folder, "other.md"), "w", encoding="utf-8") as f:
                f.write("# Other\n\n## There\n")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            good = sum(not found for found in judge(path, {path} if listed else set()))
        print("%s %s" % ("ok" if good == wanted else "FAILED", name))
        passed, failed = passed + (good == wanted), failed + (good != wanted)
    return passed, failed


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "--self-test":
        passed, failed = self_test()
    elif mode == "--counts" and sys.argv[2:]:
        counts(sys.argv[2:])
        return 0
    elif mode == "--strict" and sys.argv[2:]:
        passed, failed = check(sys.argv[2:], set())
    elif mode and not mode.startswith("-"):
        passed, failed = check(sys.argv[1:], to_shorten())
    else:
        print(__doc__)
        return 2
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
