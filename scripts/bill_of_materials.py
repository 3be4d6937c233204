"""Write what Candor is made of, for the wheel: a software bill of materials, and the list of licences.

`python scripts/bill_of_materials.py` writes both into build/sbom: every package that Candor needs, directly
or through others, in the versions of this environment, and what the built pages have in them.
`python scripts/bill_of_materials.py WHEEL` checks that a wheel holds them, and all that it asks for.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from email.parser import HeaderParser
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "sbom"
BILL, LICENCES = "candor.cdx.json", "licences.txt"
Bill = dict[str, Any]


def bill_of_materials() -> Bill:
    """Return the bill in CycloneDX's JSON. Needs an environment in which Candor is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    # Without the extras, whose packages are no part of what is given to others.
    shown = {key: project[key] for key in ("name", "version", "description", "license", "dependencies")}
    with tempfile.TemporaryDirectory() as folder:
        described, written = Path(folder, "pyproject.toml"), Path(folder, BILL)
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in shown.items()]
        described.write_text("[project]\n" + "".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--pyproject", described]
        subprocess.run([*command, "--output-reproducible", "--output-file", written], check=True)
        bill: Bill = json.loads(written.read_text("utf-8"))
    _keep_what_is_needed(bill, project["dependencies"])
    _add_pages(bill)
    return bill


def _keep_what_is_needed(bill: Bill, dependencies: list[str]) -> None:
    """Take out what the environment has besides: the tools of development, extras that nobody asks for."""
    needed = _needed(dependencies)
    root = bill["metadata"]["component"]["bom-ref"]
    bill["components"] = [entry for entry in bill["components"] if _normal(entry["name"]) in needed]
    kept = {entry["bom-ref"] for entry in bill["components"]} | {root}
    bill["dependencies"] = [
        entry | {"dependsOn": sorted(kept.intersection(entry.get("dependsOn", [])))}
        for entry in bill["dependencies"]
        if entry["ref"] in kept
    ]


def _needed(dependencies: list[str]) -> set[str]:
    """Return the names of the packages that are needed for `dependencies`, directly or through others."""
    needed: set[tuple[str, str]] = set()
    waiting = [(Requirement(line), "") for line in dependencies]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        for asked in ("", *requirement.extras):
            if (requirement.name, asked) not in needed:
                needed.add((requirement.name, asked))
                waiting += [(Requirement(line), asked) for line in requires(requirement.name) or ()]
    return {_normal(name) for name, _ in needed}


def _add_pages(bill: Bill) -> None:
    """Add the JavaScript packages that are built into the pages."""
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text("utf-8"))
    root = bill["metadata"]["component"]["bom-ref"]
    of_root = next(entry for entry in bill["dependencies"] if entry["ref"] == root)
    for path, entry in lock["packages"].items():
        if not path or entry.get("dev"):
            continue
        name, version = path.rpartition("node_modules/")[2], entry["version"]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        licence = [{"license": {"id": entry["license"]}}]
        bill["components"].append(
            {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": version,
                "purl": purl,
                "licenses": licence,
            }
        )
        of_root["dependsOn"].append(purl)
        bill["dependencies"].append({"ref": purl})


def licences(bill: Bill) -> str:
    """Return the list for people: a line for each package, with its version and its licences."""
    return "".join(
        f"{entry['name']} {entry['version']}: {_licence(entry)}\n"
        for entry in sorted(bill["components"], key=lambda entry: str(entry["name"]).lower())
    )


def _licence(entry: dict[str, Any]) -> str:
    """Return the licences as SPDX names them; where a package has no such name, as it says itself."""
    named = entry.get("licenses", [])
    exact = {each.get("expression") or each["license"].get("id", "") for each in named} - {""}
    # Some give the whole text where a name is meant.
    said = {
        each["license"]["name"].strip().splitlines()[0] for each in named if "name" in each.get("license", {})
    }
    return "; ".join(sorted(exact or {name.rpartition(" :: ")[2] for name in said})) or "not said"


def check(wheel: Path) -> list[str]:
    """Return what is wrong with the bill in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(name).name: name for name in archive.namelist() if ".dist-info/" in name}
        absent = [f"{wheel} has no {name}" for name in (BILL, LICENCES) if name not in names]
        if absent:
            return absent
        bill: Bill = json.loads(archive.read(names[BILL]))
        listed = archive.read(names[LICENCES]).decode()
        asked = HeaderParser().parsestr(archive.read(names["METADATA"]).decode()).get_all("Requires-Dist", [])
    have = {_normal(entry["name"]) for entry in bill["components"]}
    wanted = {
        _normal(re.split(r"[^\w.-]", line, maxsplit=1)[0])
        for line in asked
        if "extra ==" not in line and "sys_platform" not in line
    }
    wrong = [
        f"the bill of materials lacks {name}, which the wheel asks for" for name in sorted(wanted - have)
    ]
    if "not said" in listed:
        wrong += [f"no licence: {line}" for line in listed.splitlines() if line.endswith("not said")]
    return wrong


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        if faults := check(Path(sys.argv[1])):
            sys.exit("\n".join(faults))
    else:
        FOLDER.mkdir(parents=True, exist_ok=True)
        made = bill_of_materials()
        (FOLDER / BILL).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (FOLDER / LICENCES).write_text(licences(made), encoding="utf-8")
