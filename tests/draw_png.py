"""draw_png.py FILE ROW...: a grey PNG, a character a pixel: '#' is white, anything else black."""

import struct
import sys
import zlib


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


path, rows = sys.argv[1], sys.argv[2:]
header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
pixels = b"".join(b"\0" + bytes(255 if c == "#" else 0 for c in row) for row in rows)
with open(path, "wb") as file:
    file.write(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
    )
