"""Takes a picture of every state of the pages into docs/screenshots: of the worker's, or of the desk's.

    python tests/e2e/screenshots.py [--who workers|desk] [--out DIR] [--only WORD …]

Starts a server of its own over fresh data. Each state is checked on the way: axe finds nothing, the
console is silent, nothing scrolls sideways, nothing is asked of another host. The worker's page is pictured
at 1280, 390 and 360 px; the desk at 1280 and 360 px, light and dark. Ends with 1 where anything was found.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page, expect, sync_playwright

from tests.chromium import launch
from tests.e2e.hands import HEIGHTS, context_of
from tests.e2e.pictures import desk, workers
from tests.e2e.pictures.camera import Camera
from tests.e2e.pictures.desk_stage import DeskStage
from tests.e2e.stage import Stage

OUT = Path(__file__).parents[2] / "docs" / "screenshots"
_SHADES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS: dict[str, list[tuple[int, Literal["light", "dark"]]]] = {
    "workers": [(width, "light") for width in HEIGHTS],
    "desk": [(width, shade) for shade in _SHADES for width in (1280, 360)],
}
Scene = Callable[[Page, Camera, Any], None]


def picture_book(out: Path, taken: set[str]) -> None:
    """Write the page that shows all states of the worker's page, and those of the desk that lie there."""
    parts = [
        "# Every state of the pages",
        "Made by `python tests/e2e/screenshots.py` from a freshly started server, at 1280 px and 360 px.",
    ]
    parts += _pictures({name: title for name, title in workers.TITLES.items() if name in taken})
    parts.append(
        "The desk is pictured by `python tests/e2e/screenshots.py --who desk`, light and dark; "
        "some of its pages:"
    )
    parts += _pictures({n: title for n, title in desk.TITLES.items() if (out / f"{n}-360.png").exists()})
    (out / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _pictures(titles: Mapping[str, str]) -> list[str]:
    return [
        line
        for name, title in titles.items()
        for line in (
            f"## {title}",
            f'<img src="{name}-1280.png" width="640" alt="{title}, wide screen"> '
            f'<img src="{name}-360.png" width="180" alt="{title}, phone">',
        )
    ]


def shoot(who: str, stage: Any, out: Path, scenes: Sequence[Scene], troubles: list[str]) -> set[str]:
    """Play every scene in every look; return the names of the pictures that were taken."""
    taken: set[str] = set()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for width, shade in LOOKS[who]:
            camera = Camera(out, width, shade, stage.url, troubles, taken)
            for scene in scenes:
                context = context_of(browser, width, shade)
                camera.watch(context)
                scene(context.new_page(), camera, stage)
                context.close()
                sys.stderr.write(f"{scene.__name__} at {width} px, {shade}\n")
        browser.close()
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", choices=LOOKS, default="workers")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=60_000)
    every: list[Scene] = [*(desk.SCENES if options.who == "desk" else workers.SCENES)]
    scenes = [scene for scene in every if not options.only or scene.__name__ in options.only]
    troubles: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        stage = DeskStage(Path(folder)) if options.who == "desk" else Stage(Path(folder))
        stage.start()
        taken = shoot(options.who, stage, options.out, scenes, troubles)
        stage.stop()
    if taken == set(workers.TITLES):
        picture_book(options.out, taken)
    sys.stderr.writelines(f"{trouble}\n" for trouble in troubles)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
