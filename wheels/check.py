#!/usr/bin/env python3
"""Checks wheels without running them: wheels/check.py WHEEL...

The name agrees with the metadata, every file with its hash in RECORD, and licences are there. The one library is of the
format and processor that the tag names, exports every function that diffvcs/_c.py binds, and needs nothing but the system's
own libraries and those that auditwheel has put into the wheel: for manylinux no symbol of a later glibc than the tag's. Needs
lief (PyPI), which reads ELF, Mach-O and PE files.
"""

import base64
import csv
import hashlib
import re
import sys
import zipfile
from pathlib import Path

import lief

# Of each system: the format, and the libraries that every machine with this system has (for manylinux: that the tag allows).
# Windows' C library has many names.
SYSTEMS = {
    "manylinux": ("ELF", r"lib(c|m|dl|pthread|rt|z|gcc_s|stdc\+\+)\.so\.\d+|ld-linux-.*"),
    "musllinux": ("ELF", r"libc\.(so|musl-.*\.so\.1)"),
    "macosx": ("MACHO", r"/usr/lib/libSystem\.B\.dylib"),
    "win": ("PE", r"(?i)(kernel32|ntdll|advapi32|msvcrt|ucrtbase|api-ms-win-crt-.*)\.dll"),
}
PROCESSORS = {
    "x86_64": ("X86_64", "AMD64"), "amd64": ("X86_64", "AMD64"), "aarch64": ("AARCH64", "ARM64"), "arm64": ("AARCH64", "ARM64"),
}  # fmt: skip


def need(condition, *what):
    if not condition:
        raise ValueError(" ".join(map(str, what)))


def check_files(wheel: zipfile.ZipFile, stem: str) -> None:
    """The metadata and RECORD of a wheel with this name."""
    name, version, python, abi, platform = stem.split("-")
    info = f"{name}-{version}.dist-info"
    text = wheel.read(f"{info}/WHEEL").decode()
    said = set(re.findall(r"^Tag: (\S+)", text, re.M))
    need(
        said == {f"{python}-{abi}-{tag}" for tag in platform.split(".")},
        "the name has other tags than WHEEL:",
        sorted(said),
    )
    need("Root-Is-Purelib: false" in text, "a wheel with a library must not be pure")
    metadata = wheel.read(f"{info}/METADATA").decode()
    need(f"Version: {version}\n" in metadata, "METADATA has another version")
    rows = {row[0]: row[1:] for row in csv.reader(wheel.read(f"{info}/RECORD").decode().splitlines())}
    files = [file for file in wheel.namelist() if not file.endswith("/")]
    need(sorted(rows) == sorted(files), "RECORD lists other files:", set(rows) ^ set(files))
    for file in files:
        data = wheel.read(file)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        need(
            file == f"{info}/RECORD" or rows[file] == [f"sha256={digest}", str(len(data))],
            "RECORD has another hash of",
            file,
        )
    for licence in ("LICENSE", "NOTICE"):
        need(any(file.startswith(info) and file.endswith(f"/{licence}") for file in files), licence, "is missing")


def check_library(data: bytes, platform: str, functions: set[str], inside: set[str]) -> str:
    """The library of a wheel for this platform, with the names of other libraries in the wheel; what was seen, in words."""
    binary = lief.parse(list(data))
    if isinstance(binary, lief.MachO.FatBinary):
        binary = binary.at(0)
    system = re.match("[a-z]+", platform)[0]
    form, allowed = SYSTEMS[system]
    need(binary.format.name == form, "the library is", binary.format.name)
    header = binary.header
    processor = {"ELF": "machine_type", "MACHO": "cpu_type", "PE": "machine"}[form]
    processor = getattr(header, processor).name
    need(processor in PROCESSORS[re.search("x86_64|amd64|aarch64|arm64", platform)[0]], "the library is for", processor)
    needed = [
        library if isinstance(library, str) else library.name
        for library in binary.libraries
        if form != "MACHO" or library.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB  # which is the library's own name
    ]
    foreign = [library for library in needed if not re.fullmatch(allowed, library) and library not in inside]
    need(not foreign, "the library needs", foreign)
    exported = {
        function.name.removeprefix("_") if form == "MACHO" else function.name for function in binary.exported_functions
    }
    need(functions <= exported, "not exported:", sorted(functions - exported)[:5])
    seen = f"{form} {processor}, {len(exported)} functions, needs {', '.join(sorted(set(needed)))}"
    if system == "manylinux":
        versions = {
            tuple(map(int, version.name[6:].split(".")))
            for requirement in binary.symbols_version_requirement for version in requirement.get_auxiliary_symbols()
            if version.name.startswith("GLIBC_")
        }  # fmt: skip
        most = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)", platform).groups()))
        need(max(versions) <= most, "the library needs glibc", max(versions))
        seen += f", glibc {'.'.join(map(str, max(versions)))}"
    if system == "macosx":
        least = binary.build_version.minos if binary.has_build_version else binary.version_min.version
        need(list(least[:2]) <= [int(part) for part in platform.split("_")[1:3]], "the library needs macOS", least)
        seen += f", macOS {'.'.join(map(str, least[:2]))}"
    return seen


def main() -> int:
    failed = 0
    for path in map(Path, sys.argv[1:]):
        try:
            with zipfile.ZipFile(path) as wheel:
                check_files(wheel, path.stem)
                libraries = [Path(file) for file in wheel.namelist() if re.search(r"\.(so|dll|dylib|pyd)(\.|$)", file)]
                ours = [file for file in libraries if file.parent.name == "diffvcs"]
                need(len(ours) == 1, "not one library but", ours)
                prototypes = wheel.read("diffvcs/_c.py").decode() if "diffvcs/_c.py" in wheel.namelist() else ""
                functions = set(re.findall(r"^[a-z][\w *]*?\b(vcs_\w+)(?:\[.*?\])?\(", prototypes, re.M))
                inside = {file.name for file in libraries if file.parent.name == "diffvcs.libs"}
                seen = check_library(wheel.read(str(ours[0])), path.stem.split("-")[-1], functions, inside)
            print(f"   checked: {seen}; binds {len(functions)} of them")
        except (ValueError, KeyError) as problem:
            print(f"not ok {path.name}: {problem}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
