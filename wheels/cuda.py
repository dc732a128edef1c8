#!/usr/bin/env python3
"""Makes the wheel diffvcs-cuda: one library, put beside the one of an installed diffvcs of the same version.

wheels/cuda.py LIBRARY FOLDER
"""

import base64
import hashlib
import platform
import re
import sys
import zipfile
from pathlib import Path


def main() -> int:
    library, folder, root = Path(sys.argv[1]), Path(sys.argv[2]), Path(__file__).parent.parent
    header = (root / "include/diffvcs/diffvcs.h").read_text()
    version = ".".join(re.findall(r"#define VCS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"diffvcs_cuda-{version}.dist-info"
    files = {
        "diffvcs/libdiffvcs_cuda.so": library.read_bytes(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: diffvcs-cuda\nVersion: {version}\n"
        f"Summary: The GPU's engine of diffvcs\nRequires-Dist: diffvcs=={version}\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: diffvcs\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        **{f"{info}/licenses/{name}": (root / name).read_bytes() for name in ("LICENSE", "NOTICE")},
    }
    record = f"{info}/RECORD"
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = "".join([*rows, f"{record},,\n"]).encode()
    path = folder / f"diffvcs_cuda-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
