"""Builds the wheel of the Python package (PEP 517) with nothing but make and Python's own library.

The wheel holds the package, and below warpwatt/prefix what `make install` installs: library, program, recording CUDA
runtime, GPU models, power tables and schemas. It needs the system's libsqlite3, libcjson, libgsl and so on, as the program
does, so it is for machines like the one that built it.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
# Of what is installed, what a wheel does not need.
LEFT_OUT = ("include/", "lib/pkgconfig/", "lib/libwarpwatt.a", "share/man/", "share/bash-completion/", "share/zsh/")


def _version():
    with open(os.path.join(ROOT, "estimator", "base", "error.h"), encoding="utf-8") as header:
        return re.search(r'#define WW_VERSION "([^"]+)"', header.read())[1]


def _make(*words):
    done = subprocess.run([os.environ.get("MAKE", "make"), "--no-print-directory", f"-j{os.cpu_count() or 1}", *words], cwd=ROOT,
                          stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise SystemExit("make failed: `make quickstart` installs what the build needs (docs/guide/install.md)")


def _tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _info():
    return f"warpwatt-{_version()}.dist-info"


def _metadata():
    with open(os.path.join(ROOT, "python", "README.md"), encoding="utf-8") as readme:
        text = readme.read()
    return ("Metadata-Version: 2.1\nName: warpwatt\n" f"Version: {_version()}\n"
            "Summary: Estimates GPU performance and power from warp-level traces\nRequires-Python: >=3.10\n"
            "Provides-Extra: notebook\nRequires-Dist: pandas; extra == 'notebook'\nRequires-Dist: matplotlib; extra == 'notebook'\n"
            "Description-Content-Type: text/markdown\n\n" + text)


def _descriptions():
    return {f"{_info()}/METADATA": _metadata(),
            f"{_info()}/WHEEL": f"Wheel-Version: 1.0\nGenerator: warpwatt\nRoot-Is-Purelib: false\nTag: {_tag()}\n",
            f"{_info()}/entry_points.txt": "[console_scripts]\nwarpwatt = warpwatt.__main__:main\n"}


def _package_files():
    """(name in the wheel, file) of the Python sources."""
    folder = os.path.join(BUILD, "python", "warpwatt")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            yield f"warpwatt/{name}", os.path.join(folder, name)


def _installed_files(stage):
    """(name below prefix, file) of what was installed; the library once, under the name that the bindings open."""
    for folder, _, names in sorted(os.walk(stage)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            below = os.path.relpath(path, stage)
            if below.startswith(LEFT_OUT):
                continue
            if re.fullmatch(r"lib/libwarpwatt\.so(\.\d+\.\d+\.\d+)?", below):
                continue
            yield f"warpwatt/prefix/{below}", path


class _Wheel:
    def __init__(self, path):
        self._zip, self._record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, executable=False):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same inputs make the same wheel
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        record = f"{_info()}/RECORD"
        self._record.append(f"{record},,")
        self._zip.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), "\n".join(self._record) + "\n")
        self._zip.close()


def get_requires_for_build_wheel(config_settings=None):  # pylint: disable=unused-argument
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    _make("all", "python")
    name = f"warpwatt-{_version()}-{_tag()}.whl"
    stage = tempfile.mkdtemp()
    try:
        _make("install", f"DESTDIR={stage}", "PREFIX=/usr/local")
        wheel = _Wheel(os.path.join(wheel_directory, name))
        for below, path in [*_package_files(), *_installed_files(os.path.join(stage, "usr/local"))]:
            with open(path, "rb") as file:
                wheel.add(below, file.read(), os.access(path, os.X_OK))
        for below, text in _descriptions().items():
            wheel.add(below, text.encode())
        wheel.close()
    finally:
        shutil.rmtree(stage)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    """The package in build/python is used as it lies there: `make python` brings a change in."""
    _make("all", "python")
    name = f"warpwatt-{_version()}-{_tag()}.whl"
    wheel = _Wheel(os.path.join(wheel_directory, name))
    wheel.add("warpwatt.pth", (os.path.join(BUILD, "python") + "\n").encode())
    for below, text in _descriptions().items():
        wheel.add(below, text.encode())
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):  # pylint: disable=unused-argument
    stem = f"warpwatt-{_version()}"

    def wanted(entry):
        return None if re.match(rf"{re.escape(stem)}/(build|\.git)(/|$)", entry.name) else entry

    with tarfile.open(os.path.join(sdist_directory, stem + ".tar.gz"), "w:gz") as archive:
        archive.add(ROOT, stem, filter=wanted)
    return stem + ".tar.gz"
