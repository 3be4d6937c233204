"""A run that is packed, given away and analysed again: the way there, and everything that can be wrong."""

import hashlib
import json
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from qc.analysis import analyse
from qc.bundle.__main__ import app as bundle_app
from qc.bundle.making import STUDY, Bundled, _Replacing, make_bundle, pseudonymous, pseudonyms_for
from qc.bundle.verify import app as verify_app
from qc.convert import save
from qc.errors import OutputError, SourceError
from qc.formats.archive import MANIFEST, MOST_FILES, read_archive, write_archive
from qc.loading import load
from qc.options import AnalysisOptions
from qc.run import Run
from tests.qc.support.analyses import awkward_run
from tests.qc.support.runs import run_of

RUN, SECOND = "data/run.json", "data/second.json"
IDS = [f"A2X{number:09}Q" for number in range(200)]
OPTIONS = AnalysisOptions(bootstrap=100, sections=frozenset({"significance", "intervals"}))


def storable(run: Run) -> Run:
    """Return `run` with the columns that files have beside those that analyses need."""
    unknown = {"feedback": run.assignments, "persona": run.conversations}
    filled = [
        frame.assign(**{name: pd.Series(np.nan, frame.index, "str")}) for name, frame in unknown.items()
    ]
    return replace(run, assignments=filled[0], conversations=filled[1])


def verified(bundle: Path) -> Result:
    return CliRunner().invoke(verify_app, [str(bundle)])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a run whose workers have ids of a platform, some of which they wrote themselves."""
    run = storable(awkward_run())
    named = dict(zip(pseudonyms_for([run]), IDS, strict=False))
    renamed = pseudonymous(run, named)
    path = tmp_path_factory.mktemp("source") / "run.json"
    save(renamed, path, "hits")
    told = json.loads(path.read_text(encoding="utf-8"))
    first = told["data"][0]
    first["feedback"] = f"My id is {first['worker']}. Thanks, ({first['worker']})"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def bundle(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("bundle") / "run.zip"
    study = target.with_name("study.yaml")
    study.write_text("name: mine\n", encoding="utf-8")
    result = CliRunner().invoke(
        bundle_app, [str(source), str(target), "--study", str(study), "--bootstrap", "100", "--seed", "3"]
    )
    assert result.exit_code == 0, result.output
    return target


def edited(bundle: Path, target: Path, edit: Callable[[dict[str, bytes]], None]) -> Path:
    """Write a copy of `bundle` in which `edit` has changed the files, and return it."""
    files = read_archive(bundle)
    edit(files)
    write_archive(target, files)
    return target


def test_what_is_packed_is_verified(bundle: Path) -> None:
    result = verified(bundle)
    assert result.exit_code == 0, result.output
    manifest = json.loads(read_archive(bundle)[MANIFEST])
    assert f"verified. The data give the same report and the same signature:\n{manifest['signature']}" in (
        result.output
    )
    assert "|seed=3|bootstrap=100" in manifest["signature"]
    assert stat.S_IMODE(bundle.stat().st_mode) == 0o600  # it holds words of workers
    names = set(read_archive(bundle))
    assert {RUN, STUDY, MANIFEST, "README.md", "signature.txt", "report/report.html"} < names


@pytest.fixture(scope="module")
def unanalysed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a run in which nobody met the qc bot, which cannot be analysed."""
    path = tmp_path_factory.mktemp("unanalysed") / "run.json"
    told = json.loads(source.read_text(encoding="utf-8"))
    for held in told["data"]:
        held["result"] = [one for one in held["result"] if one["model"] != told["metadata"]["qc-model"]]
    path.write_text(json.dumps(told), encoding="utf-8")
    target = path.with_name("run.zip")
    result = CliRunner().invoke(bundle_app, [str(path), str(target), "--bootstrap", "100"])
    assert result.exit_code == 0, result.output
    return target


def test_a_run_that_cannot_be_analysed_is_packed_without_a_report(unanalysed: Path) -> None:
    files = read_archive(unanalysed)
    assert set(files) == {RUN, MANIFEST, "README.md", "signature.txt"}
    readme = files["README.md"].decode()
    manifest = json.loads(files[MANIFEST])
    assert "no conversation with the quality-control bot" in manifest["unreported"]
    assert f"There is no report in it, as these data cannot be analysed: {manifest['unreported']}" in readme
    assert "report.html" not in readme
    assert not any(name.encode() in content for name in IDS[:40] for content in files.values())
    result = verified(unanalysed)
    assert result.exit_code == 0, result.output
    said = "There is no report, as the data cannot be analysed, but they have the same signature:\n"
    assert f"{said}{manifest['signature']}" in result.output


def test_a_bundle_that_says_without_reason_that_it_has_no_report(
    unanalysed: Path, bundle: Path, tmp_path: Path
) -> None:
    def deny(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.startswith("report/")]:
            del files[name]
        said = json.loads(files[MANIFEST]) | {"unreported": "It is bad."}
        said["files"] = {name: one for name, one in said["files"].items() if name in files}
        files[MANIFEST] = json.dumps(said).encode()

    result = verified(edited(bundle, tmp_path / "denied.zip", deny))
    assert result.exit_code == 1
    assert "The data can be analysed, and the bundle says that they cannot." in result.output

    def invent(files: dict[str, bytes]) -> None:
        files["report/report.html"] = b"<p>All is well.</p>"
        said = json.loads(files[MANIFEST])
        del said["unreported"]
        said["files"]["report/report.html"] = {
            "sha256": hashlib.sha256(files["report/report.html"]).hexdigest(),
            "bytes": len(files["report/report.html"]),
        }
        files[MANIFEST] = json.dumps(said).encode()

    result = verified(edited(unanalysed, tmp_path / "invented.zip", invent))
    assert result.exit_code == 1
    assert "The data cannot be analysed: " in result.output
    assert "report/report.html is in the bundle, and its data give no report." in result.output


def test_no_id_of_a_worker_is_in_a_bundle(source: Path, bundle: Path) -> None:
    assert sum(one in source.read_text(encoding="utf-8") for one in IDS) > 24
    for name, content in read_archive(bundle).items():
        assert not [one for one in IDS if one.encode() in content], name
    told = read_archive(bundle)[RUN].decode()
    assert "My id is w" in told


def test_names_change_no_number(source: Path) -> None:
    run = load(source)
    plain, renamed = (analyse(one, OPTIONS) for one in (run, pseudonymous(run, pseudonyms_for([run]))))
    assert plain.scores.z.equals(renamed.scores.z)
    assert plain.intervals is not None
    assert renamed.intervals is not None
    assert np.array_equal(plain.intervals.z_low, renamed.intervals.z_low)
    assert plain.signature != renamed.signature


def test_the_same_source_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        make_bundle(Bundled(load(source), None, True, None), OPTIONS, tmp_path / name)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_two_runs_travel_together(source: Path, tmp_path: Path) -> None:
    target, run = tmp_path / "two.zip", load(source)
    make_bundle(Bundled(run, storable(awkward_run(seed=2)), False, None), OPTIONS, target)
    assert SECOND in read_archive(target)
    assert verified(target).exit_code == 0
    assert "|second=sha256:" in json.loads(read_archive(target)[MANIFEST])["signature"]


def test_a_changed_file_is_named(bundle: Path, tmp_path: Path) -> None:
    def edit(files: dict[str, bytes]) -> None:
        files[STUDY] += b"# mine\n"

    result = verified(edited(bundle, tmp_path / "changed.zip", edit))
    assert result.exit_code == 1
    assert "study.yaml was changed: 11 bytes when the bundle was made, 18 now." in result.output
    assert "NOT verified, 1 differences" in result.output


def test_a_changed_rating_is_found_even_if_its_hash_was_changed_too(bundle: Path, tmp_path: Path) -> None:
    def edit(files: dict[str, bytes]) -> None:
        told = json.loads(files[RUN])
        ratings = told["data"][0]["result"][0]["score"]
        label = next(iter(ratings))
        ratings[label] = 99.0 if ratings[label] != 99 else 1.0
        files[RUN] = json.dumps(told).encode()
        manifest = json.loads(files[MANIFEST])
        manifest["files"][RUN] = {
            "sha256": hashlib.sha256(files[RUN]).hexdigest(),
            "bytes": len(files[RUN]),
        }
        files[MANIFEST] = json.dumps(manifest).encode()

    result = verified(edited(bundle, tmp_path / "rating.zip", edit))
    assert result.exit_code == 1
    assert "Signature: data is sha256:" in result.output
    assert "report/report.json: systems[0].z is" in result.output
    assert f"{RUN} was changed" not in result.output


def test_a_report_of_levels_without_end_is_named(bundle: Path, tmp_path: Path) -> None:
    def edit(files: dict[str, bytes]) -> None:
        files["report/report.json"] = b"[" * 100_000

    result = verified(edited(bundle, tmp_path / "deep.zip", edit))
    assert result.exit_code == 1
    assert "report/report.json is no JSON any more." in result.output


def test_missing_and_added_files_are_named(bundle: Path, tmp_path: Path) -> None:
    def edit(files: dict[str, bytes]) -> None:
        del files["report/report.html"]
        files["report/extra.txt"] = b""

    output = verified(edited(bundle, tmp_path / "missing.zip", edit)).output
    assert "report/report.html is missing." in output
    assert "report/extra.txt was added" in output


def test_without_its_data_a_bundle_is_not_verified(bundle: Path, tmp_path: Path) -> None:
    result = verified(edited(bundle, tmp_path / "empty.zip", lambda files: files.pop(RUN) and None))
    assert result.exit_code == 1
    assert f"{RUN} is missing." in result.output
    assert "The data cannot be analysed" in result.output


def test_another_version_is_said(bundle: Path, tmp_path: Path) -> None:
    def edit(files: dict[str, bytes]) -> None:
        manifest = json.loads(files[MANIFEST])
        manifest |= {"candor": "0.0.1", "libraries": manifest["libraries"] | {"scipy": "1.0"}}
        manifest["signature"] = manifest["signature"].replace("candor=", "candor=0.0.1-was-")
        files[MANIFEST] = json.dumps(manifest).encode()

    result = verified(edited(bundle, tmp_path / "older.zip", edit))
    assert "The bundle was made by Candor 0.0.1, and this is " in result.output
    assert "It was made with scipy 1.0, and here is " in result.output
    assert "Signature: candor is " in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda manifest: manifest.update(version=2), "this bundle has version 2"),
        (lambda manifest: manifest.pop("signature"), "bundle.json is damaged (signature: "),
        (lambda manifest: manifest.update(format="zip"), "bundle.json is damaged (format: "),
    ],
)
def test_a_manifest_that_cannot_be_used(
    bundle: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    files = read_archive(bundle)
    manifest = json.loads(files[MANIFEST])
    edit(manifest)
    write_archive(tmp_path / "bad.zip", {**files, MANIFEST: json.dumps(manifest).encode()})
    result = verified(tmp_path / "bad.zip")
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/passwd", "a/../../b", "C:\\x", "a\\..\\b", "./a", "data/../data/run.jsonl"]
)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "slip.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(SourceError, match="is no name of a file inside a bundle"):
        read_archive(path)


def test_links_and_names_given_twice_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        archive.writestr(link, b"/etc/passwd")
    with pytest.raises(SourceError, match="'link' is no name"):
        read_archive(tmp_path / "link.zip")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", b"2")
    with pytest.raises(SourceError, match="it holds 'a' twice"):
        read_archive(tmp_path / "twice.zip")


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "many.zip", {str(number): b"" for number in range(MOST_FILES + 1)})
    with pytest.raises(SourceError, match=f"holds {MOST_FILES + 1} files"):
        read_archive(tmp_path / "many.zip")


def test_what_is_no_bundle(tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "text.zip").write_text("no", encoding="utf-8")
    write_archive(tmp_path / "other.zip", {"a": b""})
    cut = tmp_path / "cut.zip"
    cut.write_bytes(bundle.read_bytes()[:-100])
    for path, said in (
        (tmp_path / "text.zip", "cannot be read"),
        (tmp_path / "other.zip", "no bundle"),
        (cut, "cannot"),
    ):
        result = verified(path)
        assert result.exit_code == 2
        assert said in result.output


def test_a_run_of_transcripts_is_refused(tmp_path: Path) -> None:
    run = replace(awkward_run(), items=pd.DataFrame())
    with pytest.raises(OutputError, match="rates transcripts"):
        make_bundle(Bundled(run, None, False, None), OPTIONS, tmp_path / "no.zip")
    assert not (tmp_path / "no.zip").exists()


def test_a_bundle_that_is_there_is_kept(source: Path, bundle: Path) -> None:
    result = CliRunner().invoke(bundle_app, [str(source), str(bundle)])
    assert result.exit_code == 2
    assert "Give --force" in result.output


@given(st.dictionaries(st.text(min_size=1), st.just(""), max_size=5), st.text())
def test_no_id_is_left_as_a_word_of_its_own(ids: dict[str, str], around: str) -> None:
    names = {name: f"w{number}" for number, name in enumerate(ids)}
    replacing = _Replacing(names)
    for name, new in names.items():
        assert replacing(name) == new
    assert isinstance(replacing(around), str)


def test_names_keep_the_order_of_ids() -> None:
    workers = [*"cabdefghijk", "a", "b"]
    run = run_of(workers, ["s", "qc"] * 6 + ["s"], np.full((13, 4), 50.0), list(range(1, 14)), seconds=1.0)
    names = pseudonyms_for([run])
    assert [names[name] for name in "abk"] == ["w01", "w02", "w11"]


def test_a_study_that_the_run_was_not_opened_with_is_pointed_out(database: Any, tmp_path: Path) -> None:
    study, text = tmp_path / "study.yaml", b"name: tiny\n"
    study.write_bytes(text)
    database.execute("""
        CREATE VIEW v1_run_state AS
        SELECT run_id, run, 'open' AS status, 'researcher' AS cause, '' AS reason, NULL AS target_assignments,
               NULL AS target_conversations_per_system, NULL AS target_widest_interval
        FROM v1_run""")

    def packed(stored: str) -> str:
        database.execute("UPDATE v1_run SET study_hash = ?", stored)
        asked = [database.url, str(tmp_path / "run.zip"), "--study", str(study), "--bootstrap", "100"]
        result = CliRunner().invoke(bundle_app, [*asked, "--force"])
        assert result.exit_code == 0, result.output
        return result.output

    said = "The study in it is not, word for word, what the run was opened with"
    assert said in packed("0" * 16)
    assert said not in packed(hashlib.sha256(text).hexdigest()[:16])
