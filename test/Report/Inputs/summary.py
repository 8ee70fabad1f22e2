"""summary.py REPORT.json [KEY]: how its module came about, one fact a line; or the text of a key."""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
if len(sys.argv) > 2:
    print(report[sys.argv[2]])
    sys.exit()
print("digest", report["digest"])
print("calibration", report["calibration_digest"] or "-", report.get("calibration_samples"))
print("same samples", report["digest"] == report["calibration_digest"])
print("passes", len(report["passes"]))
print("reproduce", report["reproduce"] or "-")
print("placeholders", report["placeholders"])
print("front", report["front_operators"], len(report["front"]))
print("chosen", sum(point["is_chosen"] for point in report["front"]))
for kind in ("point", "operator"):
    for entry in report[kind + "s"]:
        for decision in entry["decisions"]:
            numbers = {number["name"]: number["value"] for number in decision["numbers"]}
            text = ""
            if "error_before" in numbers:
                text = " error_after < error_before" if numbers["error_after"] < numbers["error_before"] else " worse"
            print(kind, entry["name"], decision["pass"], decision["reason"] + text)
