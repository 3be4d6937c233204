"""Tests of the containers, the documented commands, and the progress that `make run` shows."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def test_containers_are_started_again_and_web_processes_get_the_keys_of_bots() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {service.get("restart") for service in services.values()} == {"unless-stopped"}
    for name in ("web-1", "web-2"):
        assert services[name]["env_file"] == [{"path": "bots.env", "required": False}]


def test_no_environment_and_no_key_goes_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".venv", ".venv-*", "frontend/.node", "frontend/node_modules", ".env", "bots.env"} <= set(ignored)


def test_a_command_in_the_documents_works_as_it_is_typed() -> None:
    """Without an environment of one's own, `python` is none that has what Candor needs."""
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    assert len(documents) > 10
    bare = re.compile(r"(?<!\.venv/bin/)\bpython3? -m(?! venv)")
    found = [
        (path.name, line) for path in documents for line in path.read_text().splitlines() if bare.search(line)
    ]
    assert not found


def test_installing_shows_that_it_goes_on() -> None:
    recipes = re.findall(r"^\t@?\$\(PIP\).*$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(recipes) == 5
    assert all("| $(SHOWN)" in recipe for recipe in recipes if "--no-deps" not in recipe)
    assert "--quiet" not in next(
        line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("PIP :=")
    )


def test_an_old_python_is_refused_before_an_environment_is_made_of_it(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\n[ $# = 2 ] && echo 3.9.2 || exit 1\n")
    old.chmod(0o755)
    command = ["make", "install-wheel", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"{old} is Python 3.9.2, and Candor needs 3.11.5 or newer." in done.stderr
    assert not (tmp_path / "venv").exists()


def test_what_is_cited_is_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == project["version"]


def test_the_list_for_language_models_names_pages_that_there_are() -> None:
    pages = re.findall(r"\]\((\S+)\.html\)", (ROOT / "docs" / "llms.txt").read_text())
    assert len(pages) > 10
    assert all((ROOT / "docs" / f"{page}.md").is_file() for page in pages)


def test_the_space_listens_where_its_card_says() -> None:
    folder = ROOT / "deploy" / "huggingface-space"
    card = next(yaml.safe_load_all((folder / "README.md").read_text(encoding="utf-8")))
    dockerfile = (folder / "Dockerfile").read_text(encoding="utf-8")
    assert card["sdk"] == "docker"
    assert f"CANDOR_PORT={card['app_port']} CANDOR_DATA=/data " in dockerfile
    assert f"EXPOSE {card['app_port']}\n" in dockerfile
