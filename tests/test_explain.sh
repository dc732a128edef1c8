#!/bin/bash
# Explanations of our own cartridge: the page is complete, the JSON is valid, and the causes it names are true.
set -u
program=${DIFFVCS:-build/diffvcs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $1"; failed=1; }
explain() { "$program" explain demo --seed 1 --frame 120 --out "$work/why" "$@" > "$work/printed" 2> "$work/error"; }

# Every kind of question (one of them with DIFFVCS_BRIEF, for builds with sanitizers); what an object lights, it lights.
questions=("--pixel 80,100" "--output pixel:80,100" "--region 70,90,20,10" "--object P0" "--object P1" "--object BL" "--ram 9C.0" "--score")
[ -z "${DIFFVCS_BRIEF:-}" ] || questions=("--pixel 80,100")
for question in "${questions[@]}"; do
  # shellcheck disable=SC2086
  explain $question --horizon 2 || fail "$question: $(cat "$work/error")"
  [[ $question != *pixel* ]] || sed 's/"what":"[^"]*"//' "$work/why/explain.json" > "$work/${question%% *}"
  python3 - "$work/why" "$question" << 'END' || fail "$question"
import html.parser, json, os, sys
folder, question = sys.argv[1:]
answer = json.load(open(os.path.join(folder, "explain.json")))
page = open(os.path.join(folder, "explain.html")).read()
class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "img", "image"): self.open.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]
    def handle_startendtag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("href", "src")]
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
tags = Tags()
tags.feed(page)
assert not tags.open, tags.open
inside = [link for link in tags.links if link.startswith("#")]
assert len(tags.links) > len(inside) and all(link.startswith(("data:", "#")) for link in tags.links), "the page needs other files"
assert all(f'id="{link[1:]}"' in page for link in inside), "a link leads nowhere"
assert "<script" not in page and 'class="answer"' in page and "What the marks mean" in page
assert page.count('<tr id="ram-') == len(answer["ram"]), "every row is there"
assert page.count('data-label="strongest bit"') == len(answer["ram"]) + len(answer["rom"])
assert page.count('data-label="A"') == len(answer["slice"])
if "object" in question or "pixel" in question:
    assert page.count("two causes") >= sum(not write["needed"] for write in answer["writes"])
objects = {"P0": "player 0", "P1": "player 1", "BL": "ball"}
if "object" in question: assert answer["lit_by"] == [objects[question.split()[1]]], answer["lit_by"]
if "pixel" in question:
    # a pixel has a colour, so a write to a colour register made it so, with VBLANK off
    assert any(write["register"].startswith("COLU") for write in answer["writes"]), answer["writes"]
    assert answer["slice"] and answer["rom"]
    assert all(write["bits"] or write["needed"] for write in answer["writes"])
END
done
[ -n "${DIFFVCS_BRIEF:-}" ] || cmp "$work/--pixel" "$work/--output" || fail "--pixel X,Y is not pixel:X,Y"

# It takes no more CPU time than docs/explain.md says: the system ends it after three seconds. Sanitizers are slower.
if ! grep -q __asan_init "$program"; then
  (ulimit -t 3 && explain --object P0 --frame 600) || fail "an object of the demo takes more than three seconds of CPU time"
fi

# Errors are reported.
for question in "" "--pixel 80" "--output pixel:200,3" "--output pixel:1,2 --score" "--pixel 200,3" "--pixel 1,2 --score" "--object P7" "--ram 20" "--pixel 1,1 --frame 3 --horizon 9"; do
  # shellcheck disable=SC2086
  explain $question && fail "'$question' was taken"
  [ -s "$work/error" ] || fail "'$question' was refused without a word"
done
exit $failed
