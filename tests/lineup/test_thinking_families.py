"""Models that think, one of each family, through the real host and server: what a worker's page receives."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from bots import Chat, Reply, Turn
from bots.core.failures import ThoughtsOnly
from bots.endpoints import open_endpoint
from bots.endpoints.http import HttpEndpoint
from bots.host.model import HfOptions, MicroBatch
from server.db.engine import migrate
from tests.bots.support.chats import as_request
from tests.bots.support.host_process import running
from tests.bots.support.thinking_models import FAMILIES, SAID, SECRET, save_thinking_model
from tests.needs import need_hf
from tests.server.support.database import make_run
from tests.server.support.server import House, stored
from tests.server.support.study import study_text
from tests.support.waiting import PATIENCE

need_hf()
from bots.host.hf import HfModel  # noqa: E402

pytestmark = pytest.mark.hf
CHAT = Chat("c", 1, (), (Turn("worker", "Hello!"),))
# What would show of a thought, of a template or of another speaker, in a payload of JSON.
LEAKS = re.compile(
    "<\\||\\|>|<\uff5c|</?think|\\[/?THINK|\\[/?INST|</?reasoning|analysis|assistantfinal|</s>|I plan this"
    "|I should be|I am the person here|And I am the bot|[AB]: "
)


class Hosted:
    """A model of the host at `url`, asked over a connection of its own each time."""

    def __init__(self, url: str) -> None:
        self._endpoint = HttpEndpoint(kind="http", urls=[url])

    async def reply(self, chat: Chat) -> Reply:
        bot = open_endpoint(self._endpoint)
        try:
            return await bot.reply(chat)
        finally:
            await bot.close()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("thinking")
    return {name: save_thinking_model(family, root / name) for name, family in FAMILIES.items()}


@pytest.fixture(scope="module")
def urls(models: dict[str, Path]) -> Iterator[dict[str, str]]:
    """Where the models are hosted: those that want options of their own in a process of their own."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, family in FAMILIES.items():
        groups.setdefault(family.options, []).append(name)
    with ExitStack() as stack:
        found = {}
        for options, names in groups.items():
            hosted = [f"--model={name}=hf:{models[name]}" for name in names]
            _, url = stack.enter_context(
                running(*hosted, *options, "--device", "cpu", "--max-new-tokens", "24", ready=len(names))
            )
            found |= {name: f"{url}/{name}" for name in names}
        yield found


@pytest.fixture(scope="module")
def house(urls: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server over a run whose systems are the families, all of which a worker meets."""
    folder = tmp_path_factory.mktemp("candor")
    url = f"sqlite:///{folder / 'candor.db'}"
    migrate(url)
    systems = [{"name": f"system_{at}", "family": f"family_{at}", "bot": "x"} for at in range(len(urls))]
    study = study_text(
        systems=systems,
        systems_per_assignment=len(systems),
        simulate={"quality": {each["name"]: 0.5 for each in systems}},
        timeouts={"bot_try": 600, "bot_total": 900},
    )
    bots = {f"system_{at}": Hosted(hosted) for at, hosted in enumerate(urls.values())}
    house = House(url, [make_run(url, study, bots)], folder, {"messages_per_session": "1000/10second"})
    house.start()
    yield house
    house.stop()


def test_every_family_says_its_line_and_nothing_else_reaches_the_worker(house: House) -> None:
    """The worker's page is drawn anew in every conversation, from what is stored."""
    joined = house.join("ann")
    token, payloads, said = joined.json()["token"], [joined.text], []
    with house.open(token) as page:
        page.agree()
        payloads += page.frames
    for number in range(len(FAMILIES) + 1):
        with house.open(token) as page:
            page.open_topic()
            said += [page.say(line)["text"] for line in ("Hello!", "What is [THINK] <think> for?")]
            payloads += page.frames
        with house.open(token) as page:
            page.send("end_conversation")
            page.until("rating_due")
            page.rate("topic_due" if number < len(FAMILIES) else "feedback_due")
            payloads += page.frames
    assert said.count(SAID) == 2 * len(FAMILIES)
    own = '"author":"worker"'
    found = [leak for payload in payloads for leak in LEAKS.findall(payload.replace("[THINK] <think>", ""))]
    assert found == []
    assert sum(own in payload for payload in payloads) >= len(FAMILIES)


def test_what_the_models_wrote_is_kept_for_the_analyst(house: House) -> None:
    """The one that does not think wrote a turn for the worker."""
    outputs = [output for (output,) in stored(house, "SELECT output FROM reply_output")]
    assert sum(SECRET in output for output in outputs) == 2 * (len(FAMILIES) - 1)
    assert sum("I am the person here" in output for output in outputs) == 2


def test_an_answer_of_the_host_holds_its_line_apart_from_what_was_written(urls: dict[str, str]) -> None:
    for name, url in urls.items():
        answer = httpx2.post(f"{url}/reply", json=as_request(CHAT), timeout=PATIENCE).json()
        assert answer["text"] == SAID, name
        assert not LEAKS.search(answer["text"]), name


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"base"}))
async def test_thoughts_that_use_up_their_budget_are_no_reply(name: str, models: dict[str, Path]) -> None:
    thinking = True if "--thinking" in FAMILIES[name].options else None
    options = HfOptions(max_new_tokens=8, thinking_tokens=1, thinking=thinking, device="cpu")
    with pytest.raises(ThoughtsOnly, match="raise its budget for thinking"):
        await MicroBatch(HfModel(str(models[name]), options)).reply(CHAT)
