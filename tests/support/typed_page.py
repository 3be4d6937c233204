"""A page of the documents, typed: its files are saved, its commands run, and what it shows is compared.

In a page, a block in `bash` is typed, a block in `text` is what the commands of the block before it print,
and any other block is a file, whose name ends the line before it. In a block of `text` a line `…` stands for
any lines, and `…` within a line for any words.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import ENOUGH, wait_until
from tests.support.warm_process import WarmProcess

REPOSITORY = Path(__file__).parents[2]
_BLOCK = re.compile(r"(?:`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Programs that go on until they are stopped, and what they print when they are ready.
_SERVERS = {
    "candor serve": "Stop with Ctrl+C",
    "candor host": "Ready: ",
    "python bot.py": "Uvicorn running on",
}


@dataclass(frozen=True)
class Block:
    """A block of a page: what is in it, in which language, and the file that it is, if it is one."""

    text: str
    language: str
    file: str | None


def blocks(page: Path, begin: str = "") -> Iterator[Block]:
    """Yield the blocks of a page, from the text `begin` on."""
    written = page.read_text(encoding="utf-8")
    for file, language, text in _BLOCK.findall(written, written.index(begin)):
        yield Block(text, language, file or None)


def is_shown(expected: str, printed: str) -> bool:
    """Return whether `printed` has the lines of `expected`, whatever its blanks are."""
    lines = [" ".join(line.split()) for line in expected.splitlines() if line.strip()]
    pattern = "".join(
        r"(?:.*\n)*?"
        if line == "…"
        else ".*".join(re.escape(part.strip()) for part in line.split("…")) + "\n"
        for line in lines
    )
    found = "".join(f"{' '.join(line.split())}\n" for line in printed.splitlines() if line.strip())
    return re.search(rf"^{pattern}", found, re.MULTILINE) is not None


class Typist:
    """Types pages in a folder.

    Args:
        folder: an empty one.
        port: where the server of the pages listens, instead of 8000.
        replaced: what to type in place of what: addresses and ports.
        environment: variables besides the test's own.
    """

    def __init__(
        self, folder: Path, port: int, replaced: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._address = f"127.0.0.1:{port}"
        self._replaced = {"127.0.0.1:8000": self._address, **replaced}
        self._environment = {**os.environ, "CANDOR_PORT": str(port), **environment}
        self._servers: list[subprocess.Popen[bytes] | WarmProcess] = []
        self._commands = 0
        self.printed = ""  # by all commands so far

    def follow(self, page: Path, begin: str = "") -> None:
        """Do what a page says, from the text `begin` on.

        Fail where a command does, or does not print what the page shows.
        """
        printed = ""
        for block in blocks(page, begin):
            text = self._in_place(block.text)
            if block.language == "bash":
                printed = self._type(text)
                self.printed += printed
            elif block.language == "text":
                assert is_shown(text, printed), f"{text}\nis not in\n{printed}"
            elif block.file is not None:
                (self._folder / block.file).write_text(text, encoding="utf-8")
            else:
                raise AssertionError(f"No line says where to save this:\n{block.text}")

    def stop(self) -> None:
        """Stop the servers that were started, the latest first."""
        for server in reversed(self._servers):
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
                server.wait(ENOUGH)

    def _in_place(self, text: str) -> str:
        for written, here in self._replaced.items():
            text = text.replace(written, here)
        return text

    def _type(self, block: str) -> str:
        """Type lines into a new terminal; return what they print."""
        environment, printed = dict(self._environment), ""
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if words[0] == "mkdir":
                (self._folder / words[1]).mkdir()
            elif words[0] == "cd":
                self._folder /= words[1]
            elif words[0] == "export":
                name, _, value = words[1].partition("=")
                environment[name] = self._meant(value)
            else:
                printed += self._run(words, environment)
        return printed

    def _meant(self, value: str) -> str:
        """Return a value; of one that ends in `…`, the latest word printed that begins so."""
        return re.findall(rf"{value[:-1]}\S+", self.printed)[-1] if value.endswith("…") else value

    def _run(self, words: list[str], environment: Mapping[str, str]) -> str:
        self._commands += 1
        log = self._folder / f".printed-{self._commands}"
        running: subprocess.Popen[bytes] | WarmProcess
        if words[0] == "candor":
            elsewhere = ["--server", f"http://{self._address}"] if words[1] == "bots" else []
            running = WarmProcess([*words[1:], *elsewhere], environment, log, self._folder)
        else:
            program = [sys.executable if words[0] == "python" else words[0], *words[1:]]
            with log.open("wb") as out:
                running = subprocess.Popen(program, cwd=self._folder, env=environment, stdout=out, stderr=out)
        ready = _SERVERS.get(" ".join(words[:2]))
        if ready is None:
            assert running.wait(ENOUGH) == 0, f"{words}:\n{log.read_text()}"
        else:
            self._servers.append(running)
            wait_until(
                lambda: running.poll() is not None or (log.exists() and ready in log.read_text()),
                f"{words}",
                ENOUGH,
            )
            assert running.poll() is None, log.read_text()
        return log.read_text()
