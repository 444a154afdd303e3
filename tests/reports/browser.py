#!/usr/bin/env python3
"""Opens reports in a browser (Debian's chromium, headless, without a network): accessibility by axe-core, layout at
the widths of a phone and of a desktop, in the dark and the light scheme, sorting of tables.

usage: browser.py PROGRAM [--quick] [--shots DIR]    with --shots the screenshots are kept there; --quick: each page
in fewer sizes and without screenshots

axe-core is fetched by npm in the pinned version and kept in build/axe-core; its hash is checked.
"""
import base64
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import pages

AXE = "4.10.3"
AXE_SHA512 = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=30000"]

passed = failed = 0


def claim(name, good, detail=""):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("%s - %s%s" % ("ok" if good else "not ok", name, "" if good or not detail else ": %s" % str(detail)[:2000]))


def fetch_axe():
    """The script of axe-core; None if it cannot be had."""
    folder = os.path.join(ROOT, "build", "axe-core")
    archive = os.path.join(folder, "axe-core-%s.tgz" % AXE)
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(archive):
        if not shutil.which("npm"):
            print("skipped - accessibility: npm is not installed, which fetches axe-core %s" % AXE)
            return None
        result = subprocess.run(["npm", "pack", "--silent", "axe-core@" + AXE], cwd=folder, capture_output=True, text=True)
        if result.returncode != 0 or not os.path.exists(archive):
            print("skipped - accessibility: npm cannot fetch axe-core %s: %s" % (AXE, result.stderr.strip()[:200]))
            return None
    with open(archive, "rb") as f:
        if base64.b64encode(hashlib.sha512(f.read()).digest()).decode() != AXE_SHA512:
            raise RuntimeError("%s is not axe-core %s as it was published" % (archive, AXE))
    with tarfile.open(archive) as tar:
        return tar.extractfile("package/axe.min.js").read().decode()


def browse(page, script, folder, width=1200, dark=False):
    """What the promise in `script` gives, as JSON, after the page was loaded; its policy would stop the script."""
    with open(page, encoding="utf-8") as f:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", f.read())
    end = text.rindex("</body>")
    text = "%s<script>%s.then((r) => { const e = document.createElement('pre'); e.id = 'found'; e.textContent =" \
           " JSON.stringify(r); document.body.append(e); });</script>%s" % (text[:end], script, text[end:])
    path = os.path.join(folder, "browse.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    dom = subprocess.run(CHROMIUM + scheme(dark) + ["--window-size=%d,900" % width, "--dump-dom", "file://" + path],
                         capture_output=True, text=True, timeout=300).stdout
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)
    return json.loads(html.unescape(found.group(1))) if found else None


def scheme(dark):
    return ["--blink-settings=preferredColorScheme=%d" % (0 if dark else 1)]


OPEN = "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
RUN_AXE = OPEN + """axe.run(document, {pseudoElementTimeout: 0}).then((r) => ({
  violations: r.violations.map((v) => v.id + ' (' + v.impact + '): ' + v.nodes.slice(0, 3).map((n) => n.html).join(' ')),
  passes: r.passes.map((p) => p.id)}))"""


def check_axe(name, page, axe, folder, quick):
    for dark in (False, True):
        for width in (1280,) if quick else (390, 1280):
            found = browse(page, axe + ";" + RUN_AXE, folder, width, dark)
            what = "%s: axe-core finds nothing, %d pixels, %s" % (name, width, "dark" if dark else "light")
            claim(what, found and not found["violations"], found and found["violations"])
            claim(what.replace("finds nothing", "looked at contrast, names and tables"),
                  found and {"color-contrast", "svg-img-alt", "button-name", "html-has-lang", "heading-order"} <= set(found["passes"]), found and found["passes"])


def check_axe_can_fail(page, axe, folder):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for name, rule, old, new in (("no language", "html-has-lang", '<html lang="en">', "<html>"),
                                 ("a drawing without a name", "svg-img-alt",
                                  text[text.index('<svg role="img"'):].split("</desc>")[0] + "</desc>", '<svg role="img">'),
                                 ("grey on grey", "color-contrast", "--muted: #4c5661", "--muted: #c0c6cc")):
        path = os.path.join(folder, "planted.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        found = browse(path, axe + ";" + RUN_AXE, folder)
        claim("planted: %s is found by %s" % (name, rule), found and any(v.startswith(rule) for v in found["violations"]),
              found and found["violations"])


LAYOUT = OPEN + """Promise.resolve({
  wide: document.documentElement.scrollWidth, window: document.documentElement.clientWidth,
  drawings: [...document.querySelectorAll('svg[role=img]')].filter((s) => s.style.display !== 'none' && s.parentElement.scrollWidth <= s.parentElement.clientWidth).map((s) => Math.round(s.getBoundingClientRect().width)),
  clipped: [...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth).map((s) => s.getAttribute('aria-label')),
  back: getComputedStyle(document.body).backgroundColor, front: getComputedStyle(document.body).color})"""

SORT = """(() => {
  const head = [...document.querySelectorAll('caption')].find((c) => c.textContent.startsWith('CPI stack')).parentNode.tHead.rows[0];
  const table = head.closest('table'), at = [...head.cells].findIndex((c) => c.textContent.startsWith('share'));
  const values = () => [...table.tBodies[0].rows].map((r) => Number(r.cells[at].dataset.v));
  const button = head.cells[at].querySelector('button');
  button.focus();
  const focused = document.activeElement === button;
  button.click();
  const up = values(), first = head.cells[at].getAttribute('aria-sort');
  button.click();
  return Promise.resolve({focused, up, down: values(), first, second: head.cells[at].getAttribute('aria-sort')});
})()"""


EXPLORE = """(() => {
  const place = document.querySelector('[data-explore]'), svg = place.querySelector('svg');
  const [view, across, up, colour] = place.querySelectorAll('select');
  const choose = (select, value) => { select.value = value; select.dispatchEvent(new Event('change')); };
  const dots = svg.querySelectorAll('circle').length;
  choose(colour, '1');
  const shades = new Set([...svg.querySelectorAll('circle')].map((c) => c.getAttribute('fill'))).size;
  svg.querySelector('circle').dispatchEvent(new PointerEvent('pointerenter'));
  const tip = place.querySelector('.tip').textContent;
  choose(view, '1');
  return Promise.resolve({dots, shades, tip, lines: svg.querySelectorAll('path').length, label: svg.getAttribute('aria-label'),
                          across: across.selectedOptions[0].textContent, up: up.selectedOptions[0].textContent});
})()"""


INVALID = """(() => {
  const place = document.querySelector('[data-explore]'), svg = place.querySelector('svg'), [view, x, y] = place.querySelectorAll('select');
  const dots = svg.querySelectorAll('circle').length, texts = [...svg.querySelectorAll('text')].map((t) => t.textContent);
  view.value = '1';
  view.dispatchEvent(new Event('change'));
  return Promise.resolve({dots, texts, lines: svg.querySelectorAll('path').length, unknown: /NaN|Infinity/.test(svg.innerHTML), same: x.value === y.value});
})()"""


def check_invalid_points(page, folder):
    """Of ten variants two cannot be launched, and have no time."""
    found = browse(page, INVALID, folder)
    claim("points that are invalid are not drawn, others by their numbers", found and (found["dots"], found["lines"]) == (8, 8)
          and "-" not in found["texts"] and not found["unknown"], found)
    claim("one objective is not drawn against itself", found and not found["same"], found)


def check_explore(page, folder):
    found = browse(page, EXPLORE, folder)
    claim("points of a sweep are drawn, the objectives first", found and found["dots"] == 12
          and (found["across"], found["up"]) == ("time", "energy"), found)
    claim("another column colours them", found and found["shades"] > 1, found)
    claim("a point under the pointer tells its values", found and "energy" in found["tip"] and "sched" in found["tip"], found)
    claim("parallel coordinates have a line for each point", found and found["lines"] == 12
          and found["label"].startswith("Parallel"), found)


LAUNCHES = """(() => {
  const place = document.querySelector('[data-launches]'), [launch, kind] = place.querySelectorAll('select');
  const table = [...document.querySelectorAll('caption')].find((c) => c.textContent.startsWith('Speed of light by launch')).parentNode;
  const look = () => ({ titles: [...place.querySelectorAll('figcaption')].map((c) => c.textContent),
    shares: [...place.querySelectorAll('figure')[0].querySelectorAll('text')].map((t) => t.textContent).filter((t) => / [%]$/.test(t)),
    row: [...table.tBodies[0].rows].filter((r) => r.cells[0].dataset.v === launch.value).map((r) => [...r.cells].map((c) => c.textContent))[0],
    roof: place.querySelectorAll('figure')[1].querySelectorAll('circle').length, memory: place.querySelectorAll('figure')[2].textContent });
  const first = look();
  launch.value = launch.options[1].value;
  launch.dispatchEvent(new Event('change'));
  const second = look();
  table.tBodies[0].rows[0].click();
  return Promise.resolve({first, second, clicked: look().titles, kinds: kind.options.length});
})()"""


def check_launches(page, folder):
    found = browse(page, LAUNCHES, folder)
    for which in ("first", "second"):
        one = found and found[which]
        claim("the %s launch: its own limits are drawn" % which, one and one["row"] and
              one["shares"][:3] == [c for c in one["row"] if c.endswith(" %")][:3], one)
        claim("the %s launch: points in the roofline, three a launch" % which, one and one["roof"] in (3, 6), one)
        claim("the %s launch: bytes and hits of each level" % which, one and re.search(r"% hits.*% in open rows.*read [0-9.]+ .?B", one["memory"]), one)
    claim("another launch has other figures", found and found["first"]["titles"] != found["second"]["titles"]
          and found["first"]["memory"] != found["second"]["memory"], found)
    claim("a click on a row picks its launch", found and found["clicked"] == found["first"]["titles"], found)


LINES = """(() => {
  document.querySelector('.grid > div > h3 + p').textContent += ' and more words'.repeat(20);
  const tops = [...document.querySelectorAll('.grid > div:has(> h3) > svg')].map((s) => Math.round(s.getBoundingClientRect().top));
  return Promise.resolve({ tops });
})()"""

SLIDERS = """(() => {
  const pen = document.createElement('canvas').getContext('2d');
  const room = (e) => { const s = getComputedStyle(e); pen.font = s.font;
    return e.clientWidth - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight) - pen.measureText(e.placeholder).width; };
  return Promise.resolve({ ranges: [...document.querySelectorAll('input[type=range]')].map((e) => getComputedStyle(e).paddingLeft),
    room: [...document.querySelectorAll('input[placeholder]')].map((e) => Math.round(room(e))) });
})()"""


NAMES = """(() => {
  const svg = [...document.querySelectorAll('figure')].find((f) => f.textContent.trim().startsWith('Issue slots')).querySelector('svg');
  const box = (e) => e.getBoundingClientRect(), whole = box(svg);
  const texts = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
  const tics = texts.filter((t) => /^ *[0-9]+ *$/.test(t.textContent)).map(box).sort((a, b) => a.left - b.left);
  return Promise.resolve({ tics: tics.length, touching: tics.filter((t, i) => i && t.left < tics[i - 1].right + 2).length,
    outside: texts.filter((t) => box(t).right > whole.right + 1 || box(t).left < whole.left - 1).map((t) => t.textContent) });
})()"""


def check_long_names(program, db, folder):
    long, page = os.path.join(folder, "long.db"), os.path.join(folder, "long.html")
    pages.make_long(db, long)
    pages.must(pages.run(program, "report", "--html", page, "--db", long, "--run", "1", "--run", "2"))
    found = browse(page, NAMES, folder, 1280)
    claim("long names of kernels: numbers below bars do not touch", found and found["tics"] >= 3 and not found["touching"], found)
    claim("long names of kernels: texts are inside of the drawing", found and not found["outside"], found)
    found = narrow(page, folder, 390, False)
    claim("long names of kernels: nothing is wider than a phone", found and found["wide"] <= found["window"], found)


def check_lines(correlation, run, folder):
    found = browse(correlation, LINES, folder, 1280)
    claim("scatter plots side by side begin at one height, also if a text above wraps", found and len(found["tops"]) == 2
          and found["tops"][0] == found["tops"][1], found)
    found = browse(run, SLIDERS, folder)
    claim("sliders reach both ends of their tracks", found and found["ranges"] and set(found["ranges"]) == {"0px"}, found)
    claim("the hint of a filter is shown whole", found and found["room"] and min(found["room"]) >= 0, found)


def check_layout(name, page, folder, quick):
    for width in (360, 390, 1280):
        for dark in (False, True):
            if quick and (width, dark) not in ((390, True), (1280, False)):
                continue
            found = browse(page, LAYOUT, folder, max(width, 500), dark) if width >= 500 else narrow(page, folder, width, dark)
            what = "%s at %d pixels, %s" % (name, width, "dark" if dark else "light")
            claim(what + ": nothing is wider than the window", found and found["wide"] <= found["window"], found)
            claim(what + ": drawings fit", found and found["drawings"] and max(found["drawings"]) <= found["window"]
                  and min(found["drawings"]) >= 250, found)
            if width >= 1280:
                claim(what + ": no table is clipped", found and not found["clipped"], found and found["clipped"])
            bright = found and sum(int(n) for n in re.findall(r"\d+", found["back"])[:3]) > 384
            claim(what + ": the scheme holds", found and bright != dark, found)


def narrow(page, folder, width, dark):
    """Chromium's windows are at least 500 pixels wide: a frame in one is as narrow as a phone."""
    with open(page, encoding="utf-8") as f:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", f.read())
    outer = os.path.join(folder, "outer.html")
    script = LAYOUT.replace("document.", "d.").replace("getComputedStyle(d.", "d.defaultView.getComputedStyle(d.")
    with open(outer, "w", encoding="utf-8") as f:
        f.write('<!DOCTYPE html><html><head><meta name="color-scheme" content="light dark"></head><body><iframe style="width:%dpx;'
                'height:800px;border:0" srcdoc="%s"></iframe></body></html>' % (width, html.escape(text, quote=True)))
    return browse(outer, "new Promise((go) => { addEventListener('load', () => setTimeout(() => { const d ="
                         " document.querySelector('iframe').contentDocument; %s.then(go); }, 200)); })"
                  % script.replace("d.querySelectorAll('details')", "d.querySelectorAll('details')").replace(
                      OPEN.replace("document.", "d."), OPEN.replace("document.", "d.")), folder, 1280, dark)


def check_sort(page, folder):
    found = browse(page, SORT, folder)
    claim("a heading is a button that takes the focus", found and found["focused"], found)
    claim("it sorts by number, up and then down, and says so",
          found and found["up"] == sorted(found["up"]) and found["down"] == found["up"][::-1] and len(found["up"]) > 3
          and (found["first"], found["second"]) == ("ascending", "descending"), found)


def shots(name, page, folder):
    for width, height in ((500, 3000), (1280, 2600)):
        for dark in (False, True):
            out = os.path.join(folder, "%s-%d-%s.png" % (name, width, "dark" if dark else "light"))
            subprocess.run(CHROMIUM + scheme(dark) + ["--window-size=%d,%d" % (width, height), "--screenshot=" + out,
                                                      "file://" + os.path.abspath(page)], capture_output=True, timeout=300)
            claim("a screenshot, %s" % os.path.basename(out), os.path.exists(out) and os.path.getsize(out) > 20000)


POINTS = """app,launch,kernel,hw_cycles,cycles,accelsim_cycles
nn,0,"k<1>",1000,1100,
bfs,0,step,20000,10000,25000
bfs,1,step,2000,1500,2500
srad,0,a_kernel_of_a_longer_name,4000,4500,9500
bfs,-1,all,100000,100000,90000
"""

KEYS = OPEN + """(() => {
  const all = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter((e) => e.offsetParent !== null);
  const unnamed = all.filter((e) => { e.focus(); return document.activeElement !== e; }).map((e) => e.outerHTML.slice(0, 120));
  const outlined = all.filter((e) => { e.focus({focusVisible: true}); return getComputedStyle(e).outlineStyle === 'none'; }).map((e) => e.outerHTML.slice(0, 120));
  const scrolls = [...document.querySelectorAll('.scroll')].filter((e) => e.tabIndex < 0).length;
  return Promise.resolve({count: all.length, unnamed, outlined, scrolls, focus: document.hasFocus()});
})()"""


def check_keys(name, page, folder):
    # Now and then Chromium gives its window the focus only after the script: then nothing matches :focus.
    for _ in range(5):
        found = browse(page, KEYS, folder)
        if not found or found["focus"]:
            break
    claim("%s: all that can be used takes the focus" % name, found and found["count"] and not found["unnamed"], found)
    claim("%s: the focus is seen" % name, found and not found["outlined"], found)
    claim("%s: frames of tables scroll by keys" % name, found and not found["scrolls"], found)


def main(program, quick, keep):
    program = os.path.abspath(program)
    if not shutil.which("chromium"):
        print("skipped - chromium is not installed (apt-get install chromium)\n0 passed, 0 failed")
        return 0
    axe = fetch_axe()
    with tempfile.TemporaryDirectory() as folder:
        db = pages.make(program, folder)
        runs = [w for n in "123456" for w in ("--run", n)]
        variants, table = pages.make_variants(program, folder)
        points = os.path.join(folder, "points.csv")
        with open(points, "w", encoding="utf-8") as f:
            f.write(POINTS)
        page = {"run": ["--db", db, "--run", "1"], "all": ["--db", db, *(runs[:6] if quick else runs), "--sweep", "1"],
                "variants": ["--db", variants, "--sweep", "1", "--measured", table], "correlation": ["--points", points]}
        for name, what in page.items():
            page[name] = os.path.join(folder, name + ".html")
            pages.must(pages.run(program, "report", "--html", page[name], *what))
            check_layout(name, page[name], folder, quick)
            check_keys(name, page[name], folder)
            if axe:
                check_axe(name, page[name], axe, folder, quick)
            if keep or not quick:
                shots(name, page[name], keep or folder)
        check_sort(page["run"], folder)
        check_lines(page["correlation"], page["run"], folder)
        check_long_names(program, db, folder)
        check_launches(page["run"], folder)
        check_explore(page["all"], folder)
        check_invalid_points(page["variants"], folder)
        if axe and not quick:
            check_axe_can_fail(page["run"], axe, folder)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = sys.argv[2:]
    shown = arguments[arguments.index("--shots") + 1] if "--shots" in arguments else None
    sys.exit(main(sys.argv[1], "--quick" in arguments, shown))
