# Writes the bytes of IN as a C source with vcs_demo_image() to OUT.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include \"diffvcs/diffvcs.h\"\n\nstatic const uint8_t image[] = {${bytes}};\n\n"
                  "const uint8_t *vcs_demo_image(size_t *size) {\n  *size = sizeof image;\n  return image;\n}\n")
