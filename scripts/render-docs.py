#!/usr/bin/env python3
"""Renders README.md and docs/ as a static site, with pandoc.

Each page becomes one HTML file with the list of all pages next to its text, in the order of docs/index.md. Links to Markdown
pages become links to the rendered ones; links to other files of the tree become text. Every link of the rendered
pages is followed: one that leads nowhere is an error. Nothing is loaded from a network.

usage: render-docs.py OUTPUT_FOLDER
"""
import html
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FOLDERS = (("guide", "Guide"), ("reference", "Reference"), ("model", "Model"), ("studies", "Studies"))
KEPT = (".png", ".html", ".css")  # files of docs/ that pages link to
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }
nav { padding: 1rem; border-right: 1px solid var(--line); font-size: 0.9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav [aria-current] { font-weight: bold; }
main { padding: 1rem 2rem; max-width: 60rem; min-width: 0; }
pre, .table { overflow-x: auto; }
pre { background: var(--soft); padding: 0.6rem; }
table { border-collapse: collapse; }
td, th { border-bottom: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
@media (max-width: 50rem) { body { display: block; } nav { border: 0; } main { padding: 1rem; } }
"""


def title(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("# "):
                return line[2:].strip().replace("`", "")
    return os.path.basename(path)


def pages():
    """Source and rendered path of each page, relative, in the order of docs/index.md; pages that it lacks come last."""
    with open(os.path.join(ROOT, "docs", "index.md"), encoding="utf-8") as f:
        order = re.findall(r"\]\(([^)#\s]+\.md)[)#]", f.read())
    order = {os.path.normpath(os.path.join("docs", link)): i for i, link in reversed(list(enumerate(order)))}
    found = []
    for folder in ("docs",) + tuple("docs/" + folder for folder, _ in FOLDERS):
        for name in os.listdir(os.path.join(ROOT, folder)):
            if name.endswith(".md") and folder + "/" + name != "docs/index.md":
                source = folder + "/" + name
                found.append((source, source[len("docs/"):-3] + ".html"))
    found.sort(key=lambda f: (order.get(f[0], len(order)), f[0]))
    return [("docs/index.md", "index.html"), ("README.md", "readme.html"), ("traces/FORMAT.md", "format.html")] + found


def navigation(here, found, titles):
    out = []
    for folder, heading in ((None, "warpwatt"),) + FOLDERS:
        out.append("<h2>%s</h2><ul>" % heading)
        for _, page in found:
            if os.path.dirname(page) != (folder or ""):
                continue
            current = ' aria-current="page"' if page == here else ""
            link = os.path.relpath(page, os.path.dirname(here) or ".")
            out.append('<li><a href="%s"%s>%s</a></li>' % (link, current, html.escape(titles[page])))
        out.append("</ul>")
    return "".join(out)


def relink(body, source, page, targets):
    def place_of(url):
        """Where a link leads on the site; None where the site does not have it."""
        if re.match(r"[a-z]+:|#", url):
            return url
        path, _, place = url.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if path in targets:
            target = targets[path]
        elif path.startswith("docs/") and path.endswith(KEPT):
            target = path[len("docs/"):]
        else:
            return None
        return os.path.relpath(target, os.path.dirname(page) or ".") + ("#" + place if place else "")

    def link(m):
        target = place_of(m.group(2))
        return m.group(1) + target + m.group(3) + m.group(4) + "</a>" if target else m.group(4)

    def image(m):
        return m.group(1) + (place_of(m.group(2)) or m.group(2)) + m.group(3)

    body = re.sub(r'(<img\b[^>]*?\bsrc=")([^"]*)(")', image, body)
    body = re.sub(r'(<a\b[^>]*?\bhref=")([^"]*)("[^>]*>)(.*?)</a>', link, body, flags=re.S)
    return body.replace("<table", '<div class="table"><table').replace("</table>", "</table></div>")


def dead_links(out, found):
    """(page, link) of each link of the rendered pages that leads nowhere."""
    texts = {}
    for _, page in found:
        with open(os.path.join(out, page), encoding="utf-8") as f:
            texts[page] = f.read()
    ids = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    for page, text in texts.items():
        for url in re.findall(r'\b(?:href|src)="([^"]*)"', text):
            if re.match(r"[a-z]+:", url):
                continue
            path, _, place = html.unescape(url).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(out, target)) or place and target in ids and place not in ids[target]:
                yield page, url


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    if not shutil.which("pandoc"):
        print("render-docs: pandoc is needed: apt-get install pandoc", file=sys.stderr)
        return 1
    out, found = sys.argv[1], pages()
    targets = dict(found)
    titles = {page: title(os.path.join(ROOT, source)) for source, page in found}
    for source, page in found:
        p = subprocess.run(["pandoc", "-f", "gfm", "-t", "html5", os.path.join(ROOT, source)], stdout=subprocess.PIPE,
                           encoding="utf-8", check=True)
        path = os.path.join(out, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
                    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                    '<title>%s</title><link rel="stylesheet" href="%s"></head>\n'
                    "<body><nav aria-label=\"Pages\">%s</nav><main>\n%s</main></body></html>\n"
                    % (html.escape(titles[page]), os.path.relpath("style.css", os.path.dirname(page) or "."),
                       navigation(page, found, titles), relink(p.stdout, source, page, targets)))
    for folder, _, names in os.walk(os.path.join(ROOT, "docs")):
        for name in names:
            if name.endswith(KEPT):
                path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "docs"))
                os.makedirs(os.path.dirname(os.path.join(out, path)) or ".", exist_ok=True)
                shutil.copy(os.path.join(folder, name), os.path.join(out, path))
    with open(os.path.join(out, "style.css"), "w", encoding="utf-8") as f:
        f.write(STYLE.lstrip())
    dead = list(dead_links(out, found))
    for page, url in dead:
        print("render-docs: %s: %s leads nowhere" % (page, url), file=sys.stderr)
    if dead:
        return 1
    print("%s: %d pages" % (os.path.join(out, "index.html"), len(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
