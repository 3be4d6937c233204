"""Certificates: claims worked out by hand, how often any is false, and every way to forge one."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from benchmarks.truth.certificates import false_claims
from qc.analysis import analyse
from qc.bundle.certificate import (
    BADGE,
    CERTIFICATE,
    LINE,
    OrderedPair,
    RankingClaims,
    RankRange,
    certificate,
    certificate_files,
    claims_of,
)
from qc.bundle.making import PREREGISTRATION, Bundled, make_bundle
from qc.bundle.verify import app as verify_app
from qc.bundle.verify import documents
from qc.convert import save
from qc.formats.archive import MANIFEST, read_archive, write_archive
from qc.loading import load
from qc.method.scores import score
from qc.options import AnalysisOptions
from qc.robustness.intervals import intervals
from qc.run import SIMULATED_NOTE
from tests.qc.bundle.test_bundles import RUN, storable
from tests.qc.support.analyses import SYSTEMS, awkward_run
from tests.qc.support.registrations import content
from tests.qc.support.samples import sample_of_arrays

OPTIONS = AnalysisOptions(bootstrap=100, sections=frozenset({"intervals", "forecast"}))
WORKERS = 12


def claims_on(z: Any, seed: int = 1, draws: int = 199) -> RankingClaims:
    """Return the claims of (workers, systems) z, one conversation of each worker with each system."""
    workers, systems = np.indices(z.shape)
    sample = sample_of_arrays(workers.ravel(), systems.ravel(), z.reshape(-1, 1))
    return claims_of(intervals(sample, score(sample), draws, seed))


def test_claims_worked_out_by_hand() -> None:
    # s0 and s1 have the same mean and differ by ±0.4; s2 is about 2 lower in every worker. So s2 is told
    # apart from both, and s0 from s1 is not: two pairs, two groups, ranks 1 to 2 twice and 3, and either of
    # the two may be the best.
    swing = np.where(np.arange(WORKERS) % 2, 0.2, -0.2)
    claims = claims_on(np.column_stack([0.7 + swing, 0.7 - swing, np.full(WORKERS, -1.4)]))
    assert claims == RankingClaims(
        familywise_error=0.05,
        told_apart=(OrderedPair("s0", "s2"), OrderedPair("s1", "s2")),
        groups=(("s0", "s1"), ("s2",)),
        ranks=(RankRange("s0", 1, 2), RankRange("s1", 1, 2), RankRange("s2", 3, 3)),
        best_among=("s0", "s1"),
    )
    # If s2 were truly the best, every kind of claim would be false.
    assert false_claims(claims, {"s0": 0.0, "s1": 0.0, "s2": 1.0}) == [
        "told_apart",
        "groups",
        "ranks",
        "best_among",
    ]
    # If s0 were truly better than s1, none would be.
    assert false_claims(claims, {"s0": 1.0, "s1": 0.0, "s2": -1.0}) == []


def test_certificates_of_equal_systems_are_seldom_false() -> None:
    # Of 25 runs 1.25 may be false, with a standard deviation of 1.1; three of them more is 5. If each of the
    # 15 pairs had 5 %, about 10 would be.
    runs, systems, false = 25, 6, 0
    true = {f"s{number}": 0.0 for number in range(systems)}
    for seed in range(runs):
        z = np.random.default_rng([31, seed]).normal(0, 1, (WORKERS, systems))
        false += bool(false_claims(claims_on(z - z.mean(axis=1, keepdims=True), seed), true))
    assert false <= 5


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with the preregistration of two hypotheses, the second against the order of the systems."""
    best, worst = SYSTEMS[3], SYSTEMS[0]
    registered = content(hypotheses=[{"higher": best, "lower": worst}, {"higher": worst, "lower": best}])
    folder = tmp_path_factory.mktemp("certified")
    source, target = folder / "run.json", folder / "run.zip"
    save(storable(awkward_run()), source, "hits")
    given = yaml.safe_dump(registered).encode()
    make_bundle(Bundled(load(source), None, True, None, preregistration=given), OPTIONS, target)
    return target


def of_bundle(bundle: Path) -> Any:
    return json.loads(read_archive(bundle)[CERTIFICATE])


def test_a_bundle_holds_its_certificate(bundle: Path) -> None:
    found, files = of_bundle(bundle), read_archive(bundle)
    assert {CERTIFICATE, BADGE, LINE, PREREGISTRATION} < set(files)
    manifest = json.loads(files[MANIFEST])
    assert found["signature"] == manifest["signature"]
    assert found["data"].startswith("sha256:")
    assert found["data"][:23] in found["signature"]
    registered = yaml.safe_load(files[PREREGISTRATION])
    assert found["preregistration"]["hash"] == registered["hash"]
    assert [one["claimed"] for one in found["preregistration"]["hypotheses"]] == [True, False]
    assert found["preregistration"]["followed"]["criteria"] is True
    line, digest = files[LINE].decode(), hashlib.sha256(files[CERTIFICATE]).hexdigest()[:16]
    assert f"Certificate sha256:{digest}, preregistered as {registered['hash']}" in line
    assert f"{len(found['claims']['told_apart'])} of 6 pairs told apart" in line
    assert digest in files[BADGE].decode()
    assert b"`certificate.json`" in files["README.md"]


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not isinstance(value, dict | list):
        yield path
    for key, each in inside:
        yield from leaves(each, (*path, key))


def test_every_field_that_is_changed_is_named(bundle: Path) -> None:
    right = read_archive(bundle)[CERTIFICATE]
    paths = list(leaves(json.loads(right)))
    assert len(paths) > 40
    for path in paths:
        forged = json.loads(right)
        place = forged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = "another" if isinstance(place[path[-1]], str) else 77
        (said,) = documents(CERTIFICATE, json.dumps(forged).encode(), right)
        assert said.startswith(f"{CERTIFICATE}: {path[0]}"), path


def forged(bundle: Path, target: Path, **contents: bytes) -> str:
    """Verify a bundle in which files and their hashes were replaced, and return what is said."""
    files = read_archive(bundle)
    manifest = json.loads(files[MANIFEST])
    for name, changed in contents.items():
        files[name] = changed
        manifest["files"][name] = {"sha256": hashlib.sha256(changed).hexdigest(), "bytes": len(changed)}
    files[MANIFEST] = json.dumps(manifest).encode()
    write_archive(target, files)
    result = CliRunner().invoke(verify_app, [str(target)])
    assert result.exit_code == 1, result.output
    assert "NOT verified" in result.output
    return result.output


def test_a_forged_claim_is_refused(bundle: Path, tmp_path: Path) -> None:
    claimed = of_bundle(bundle)
    claimed["claims"]["best_among"] = [SYSTEMS[0]]
    output = forged(
        bundle, tmp_path / "claim.zip", **{CERTIFICATE: json.dumps(claimed).encode(), LINE: b"We win.\n"}
    )
    assert "certificate.json: claims.best_among" in output
    assert "certificate.txt is not what the data give." in output


def test_a_changed_rating_is_refused(bundle: Path, tmp_path: Path) -> None:
    told = json.loads(read_archive(bundle)[RUN])
    ratings = told["data"][0]["result"][0]["score"]
    label = next(iter(ratings))
    ratings[label] = 99.0 if ratings[label] != 99 else 1.0
    output = forged(bundle, tmp_path / "data.zip", **{RUN: json.dumps(told).encode()})
    assert "certificate.json: data is " in output


def test_a_file_that_the_data_do_not_give_is_refused_even_if_the_manifest_names_it(
    bundle: Path, tmp_path: Path
) -> None:
    said = forged(bundle, tmp_path / "more.zip", **{"report/more.csv": b"a", "more.txt": b"b"})
    assert "report/more.csv is in the bundle, and its data do not give it." in said
    assert "more.txt is in the bundle, and its data do not give it." in said
    assert "2 differences" in said


@pytest.mark.parametrize(("made_by", "status"), [("0.1.0", 0), ("0.2.0", 1)])
def test_only_a_bundle_of_before_certificates_needs_none(
    bundle: Path, tmp_path: Path, made_by: str, status: int
) -> None:
    files = read_archive(bundle)
    manifest = json.loads(files[MANIFEST]) | {"candor": made_by}
    for name in (CERTIFICATE, BADGE, LINE):
        del files[name], manifest["files"][name]
    files[MANIFEST] = json.dumps(manifest).encode()
    write_archive(tmp_path / "old.zip", files)
    result = CliRunner().invoke(verify_app, [str(tmp_path / "old.zip")])
    assert result.exit_code == status, result.output
    assert ("There is no certificate in it" in result.output) == (status == 0)
    assert (f"{CERTIFICATE} is not in the bundle, but its data give it." in result.output) == (status == 1)
    assert "Its certificate" not in result.output


def test_a_changed_preregistration_is_refused(bundle: Path, tmp_path: Path) -> None:
    registered = yaml.safe_load(read_archive(bundle)[PREREGISTRATION])
    later = registered | {"hypotheses": registered["hypotheses"][:1]}
    output = forged(bundle, tmp_path / "a.zip", **{PREREGISTRATION: yaml.safe_dump(later).encode()})
    assert "its content does not match its hash" in output.replace("\n", " ")
    again = content(hypotheses=later["hypotheses"])
    output = forged(bundle, tmp_path / "b.zip", **{PREREGISTRATION: yaml.safe_dump(again).encode()})
    assert "certificate.json: preregistration.hash is " in output


def test_a_published_certificate_is_compared_with_the_bundle(bundle: Path, tmp_path: Path) -> None:
    outside = tmp_path / "published.json"
    outside.write_bytes(read_archive(bundle)[CERTIFICATE])
    result = CliRunner().invoke(verify_app, [str(bundle), "--certificate", str(outside)])
    assert result.exit_code == 0, result.output
    assert "Its certificate: 4 systems: " in result.output
    outside.write_text(json.dumps(of_bundle(bundle) | {"candor": "9.9"}), encoding="utf-8")
    result = CliRunner().invoke(verify_app, [str(bundle), "--certificate", str(outside)])
    assert result.exit_code == 1
    assert 'candor is "9.9", and the data give' in result.output


def test_a_certificate_of_simulated_workers_says_so() -> None:
    run = awkward_run()
    found = certificate(analyse(replace(run, notes=(SIMULATED_NOTE,)), OPTIONS))
    assert found is not None
    assert found.simulated
    files = certificate_files(found)
    assert files[LINE].startswith(b"Simulated workers. 4 systems: ")
    assert b"Simulated ranking" in files[BADGE]
    assert b"Certified" not in files[BADGE]
    assert asdict(found)["preregistration"] is None
    assert b"not preregistered" in files[LINE]


def test_there_is_no_certificate_where_nothing_is_claimed() -> None:
    assert certificate(analyse(awkward_run(), replace(OPTIONS, sections=frozenset()))) is None
    chatted = analyse(awkward_run(), OPTIONS)
    transcripts = replace(chatted, run=replace(chatted.run, items=pd.DataFrame()))
    assert transcripts.intervals is not None
    assert certificate(transcripts) is None  # its groups take the items as given
