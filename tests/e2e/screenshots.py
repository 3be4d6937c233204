"""Takes a picture of every state of the pages: of the worker's, or of the desk's.

    python tests/e2e/screenshots.py [--who workers|desk] [--out DIR]
        [--width N …] [--shade light|dark …] [--only WORD …]

Starts a server of its own over fresh data. Each state is checked on the way: axe finds nothing, the
console is silent, nothing scrolls sideways, nothing is asked of another host. All pictures go into a folder
of their own; those that the documents show are copied into docs/screenshots. Ends with 1 where anything was
found.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page, expect, sync_playwright

from tests.chromium import launch
from tests.e2e.hands import HEIGHTS, context_of
from tests.e2e.pictures import desk, desk_states, instruments, workers
from tests.e2e.pictures.camera import Camera
from tests.e2e.pictures.desk_stage import DeskStage
from tests.e2e.stage import Stage

REPOSITORY = Path(__file__).parents[2]
OUT = REPOSITORY / "build" / "screenshots"
BOOK = REPOSITORY / "docs" / "screenshots"
Look = tuple[int, Literal["light", "dark"]]
SHADES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# The pictures of the book: each look of the worker's page in English, and some of the desk.
BOOK_WIDTHS = (1280, 360)
OF_DESK = ("sign-in", "runs", "run", "assignment", "study", "try-bot", "rehearsal-calls", "recruiting")
_OF_LANGUAGES = tuple(f"-{tag}" for tag in workers.TAGS)
IN_BOOK = {
    **{name: title for name, title in workers.TITLES.items() if not name.endswith(_OF_LANGUAGES)},
    **{f"desk-{name}": desk.TITLES[f"desk-{name}"] for name in OF_DESK},
}
Scene = Callable[[Page, Camera, Any], None]


def picture_book(pictures: Path) -> None:
    """Copy the pictures that the documents show, as far as they were taken, and write their page."""
    for name, width in product(IN_BOOK, BOOK_WIDTHS):
        picture = pictures / f"{name}-{width}.png"
        if picture.exists():
            shutil.copy(picture, BOOK)
    parts = [
        "# Every state of the pages",
        "Made by `make screenshots` from freshly started servers, at 1280 px and 360 px.",
        *chain.from_iterable(_pictures(name, title) for name, title in IN_BOOK.items()),
    ]
    (BOOK / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _pictures(name: str, title: str) -> list[str]:
    shown = [
        f'<img src="{name}-{width}.png" width="{drawn}" alt="{title}, {device}">'
        for width, drawn, device in ((1280, 640, "wide screen"), (360, 180, "phone"))
        if (BOOK / f"{name}-{width}.png").exists()
    ]
    return [f"## {title}", " ".join(shown)] if shown else []


def shoot(stage: Any, out: Path, looks: Sequence[Look], scenes: Sequence[Scene], troubles: list[str]) -> None:
    """Play every scene in every look."""
    taken: set[str] = set()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for width, shade in looks:
            camera = Camera(out, width, shade, stage.url, troubles, taken)
            for scene in scenes:
                context = context_of(browser, width, shade)
                camera.watch(context)
                scene(context.new_page(), camera, stage)
                context.close()
                sys.stderr.write(f"{scene.__name__} at {width} px, {shade}\n")
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", choices=("workers", "desk"), default="workers")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--width", type=int, choices=HEIGHTS, nargs="+", default=list(HEIGHTS))
    parser.add_argument("--shade", choices=SHADES, nargs="+", default=SHADES)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=60_000)
    of_workers, of_desk = workers.SCENES + instruments.SCENES, desk.SCENES + desk_states.SCENES
    every: list[Scene] = [*(of_desk if options.who == "desk" else of_workers)]
    scenes = [scene for scene in every if not options.only or scene.__name__ in options.only]
    troubles: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        stage = DeskStage(Path(folder)) if options.who == "desk" else Stage(Path(folder))
        stage.start()
        shoot(stage, options.out, list(product(options.width, options.shade)), scenes, troubles)
        stage.stop()
    picture_book(options.out)
    sys.stderr.writelines(f"{trouble}\n" for trouble in troubles)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
