// Links that the page writes are read back; those that another page wrote are refused if they are wrong or have no end.
import assert from "node:assert/strict";
import { decodeInputs, decodeLink, encodeInputs, encodeLink, idle } from "../src/link.js";

const all = { held: [16, 8], paddle: [27450, 0, 790196, 1], keys: [4095, 1], console: 2 };
const inputs = [[idle(), 600], [{ ...idle(), held: [8, 0], console: 1 }, 1], [all, 35], [idle(), 999364]];
assert.deepEqual(decodeInputs(encodeInputs(inputs)), inputs);
const link = { rom: "9f2c66d1", frame: 600, pixel: { x: 80, y: 100 }, view: "ram", inputs };
assert.deepEqual(decodeLink(encodeLink(link)), link);
assert.equal(decodeLink("#pixel=80,100"), null);

for (const text of ["0", "0-", "0-0", "-1", "0--1", "0-1-1", "zzz-zzzzz", "0-lfls", "0-lflt", "0-5yc1r,0-5yc1r", "1000-1-", "1.2-1", "z!-1", "0-1!", "0-1,", "1ekg-1"]) {
  if (text === "0-lfls") assert.equal(decodeInputs(text)[0][1], 1e6);
  else assert.throws(() => decodeInputs(text), /the link/, text);
}
for (const text of ["74.0.0.0.0.0.0.0.0-1", "0.0.zik0zk.0.0.0.0.0.0-1", "0.0.0.0.0.0.1ekg.0.0-1", "0.0.0.0.0.0.0.0.74-1", "0.0.0.0.0.0.0.0.-1"]) {
  assert.throws(() => decodeInputs(text), /the link/, text);
}
assert.throws(() => decodeInputs(Array(2000).fill("0-rs").join(",")), /more than 1000000 frames/);
console.log("links are read back, and wrong ones are refused");
