"""Create the server's application from its parts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI
from fastapi.staticfiles import StaticFiles
from limits import parse

from bots.serving import load_offensive_words
from candor.common.network import BodyLimit
from candor.common.telemetry import start_tracing
from server.access.auth import Auth
from server.access.parts import Parts
from server.access.rate_limit import OpenSockets, RateLimits
from server.access.sign_ins import StoredDirectory
from server.bots import api as bots_api
from server.bots import host_socket
from server.bots.drafted_bots import DraftedBots
from server.bots.fitness import BackgroundChecks
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.bots.opening import OpenRuns, RunChanges, StoredChanges
from server.bots.registered_bots import CORPORA, ApiLimits, RegisteredBots
from server.config import Settings
from server.db.engine import DatabaseLimits
from server.db.store import Store
from server.desk import metrics, trials
from server.desk.assignments import forgetting, search, simulation, transcript, wizard, worker_actions
from server.desk.listed import ListedStore
from server.desk.metrics import Metrics
from server.desk.people import accounts, audit_log, openid, people, study_people
from server.desk.people.mail import InvitationMail
from server.desk.people.openid import SignInProvider
from server.desk.runs import api as runs_api
from server.desk.runs import worker_lists
from server.desk.runs.api import RULES_MOST_BYTES, RULES_PATH
from server.desk.runs.run_view import RunViewSources
from server.desk.runs.worker_lists import LISTS_MOST_BYTES, LISTS_PATH
from server.desk.streams import job_watch, list_watch, watch
from server.desk.streams.job_watch import JobFeeds
from server.desk.streams.list_watch import ListFeeds
from server.desk.streams.watch import RunFeeds
from server.desk.studies import studies as studies_api
from server.errors import ErrorBody
from server.jobs import api as jobs_api
from server.jobs.background import BackgroundJobs, FileLinks
from server.jobs.child import ChildLimits
from server.jobs.credits import CreditJob
from server.jobs.exports import Exports, KeptExports
from server.jobs.moderation import ModerationJob
from server.jobs.rehearsals import Crowd, Rehearsals
from server.jobs.reports import Reports, RunningAnalyses
from server.jobs.retention import RetentionJob
from server.live.arrive import join
from server.live.arrive.admission import RunEnds
from server.live.arrive.join import JoinRequests
from server.live.arrive.signed_arrivals import SignedArrivals
from server.live.converse import own_data, page_trouble
from server.live.converse.interventions import Interventions
from server.live.converse.newcomers import Newcomers
from server.live.converse.sessions import LiveSessions
from server.live.converse.socket import WorkerSocket
from server.news import News, open_news
from server.process import readiness
from server.process.middleware import (
    DirectSocket,
    NoNullCharacters,
    RequestIds,
    ResponseHeaders,
    add_errors,
    null_character,
    too_long,
)
from server.process.readiness import Lifecycle
from server.recruiters.sona import SonaClient
from server.recruiting import api as recruiting_api
from server.recruiting import webhooks
from server.recruiting.listening import Listening, Polling
from server.recruiting.platform import platform_of
from server.recruiting.studies import PlatformStudies
from server.recruiting.webhooks import Webhooks
from server.session.protocol import SOCKET_PATH
from server.site import pages as site_pages
from server.site.pages import STATIC, STATIC_PATH, WORKER_PAGES, BuiltAssets

PAGES = Path(__file__).parent / "pages"
API_VERSION = "1"
_MOST_BYTES = 65_536  # of a request
_LONGER = {LISTS_PATH: LISTS_MOST_BYTES, RULES_PATH: RULES_MOST_BYTES}
_ROUTERS = (
    readiness.router,
    join.router,
    metrics.router,
    runs_api.router,
    search.router,
    transcript.router,
    simulation.router,
    watch.router,
    worker_actions.router,
    jobs_api.router,
    job_watch.router,
    accounts.router,
    openid.router,
    studies_api.router,
    people.router,
    study_people.router,
    trials.router,
    list_watch.router,
    recruiting_api.router,
    webhooks.router,
    worker_lists.router,
    own_data.router,
    page_trouble.router,
    forgetting.router,
    wizard.router,
    audit_log.router,
    bots_api.router,
    host_socket.router,
    site_pages.router,
)
# Built once: to build each endpoint's validators takes longer than all else of an application.
API = APIRouter(
    responses={"default": {"model": ErrorBody, "description": "An error. All errors have this shape"}},
    generate_unique_id_function=lambda route: route.name,
)
for _router in _ROUTERS:
    API.include_router(_router)


def create_app(
    settings: Settings,
    auth: Auth,
    runs: dict[int, OpenRun],
    opened_bots: OpenedBots,
    pages: Path = PAGES,
    lifecycle: Lifecycle | None = None,
) -> FastAPI:
    """Return the server's application.

    Args:
        settings: locate the database, which must be migrated, and set the limits of requests.
        auth: the installation's secrets; tokens are also looked up in the database.
        runs: the runs that are open at the start, by id; runs opened later are found in the database.
        opened_bots: the opened bots of `runs`; closed when the server stops.
        pages: the folder of the built pages.
        lifecycle: is notified when everything has started, and drains connections before the end.
    """
    parts = _parts(settings, auth, runs, opened_bots, lifecycle or Lifecycle())
    app = FastAPI(
        title="Candor",
        version=API_VERSION,
        lifespan=lambda _app: _served(parts),
        docs_url=None,  # FastAPI's own pages load scripts from another host; `site` serves ours
        redoc_url=None,
        openapi_url=None,
        separate_input_output_schemas=False,  # one schema per model, for requests and responses
    )
    app.state.parts, app.state.pages = parts, pages
    app.state.public_url = settings.resolved_public_url
    public = urlsplit(app.state.public_url)
    app.state.public_path, app.state.public_origin = public.path, f"{public.scheme}://{public.netloc}"
    add_errors(app)
    app.add_middleware(DirectSocket, path=SOCKET_PATH, serve=parts[WorkerSocket].serve)
    app.add_middleware(NoNullCharacters, refusal=null_character(), except_below=WORKER_PAGES)
    app.add_middleware(BodyLimit, most=_MOST_BYTES, refusal=too_long, elsewhere=_LONGER)
    app.add_middleware(ResponseHeaders)
    app.add_middleware(RequestIds)
    app.router.routes.extend(API.routes)
    app.mount(STATIC_PATH, StaticFiles(directory=STATIC), name="static")
    app.mount("/assets", BuiltAssets(directory=pages / "assets", check_dir=False), name="assets")
    return app


def _parts(
    settings: Settings,
    auth: Auth,
    runs: dict[int, OpenRun],
    opened_bots: OpenedBots,
    lifecycle: Lifecycle,
) -> Parts:
    """Build the parts of a server, each from those before it."""
    limits = DatabaseLimits(settings.database_connections, settings.database_seconds)
    store = Store(settings.resolved_database_url, limits)
    exempt = frozenset(settings.exempt_addresses)
    parts = Parts(
        settings,
        lifecycle,
        store,
        replace(auth, directory=StoredDirectory(store)),
        open_news(settings.redis_url),
        RateLimits(exempt, settings.redis_url),
        OpenSockets(settings.open_sockets_per_address, exempt),
        opened_bots,
    )
    _add_runs(parts, runs)
    _add_sessions(parts)
    _add_recruiting(parts)
    _add_jobs(parts)
    _add_desk(parts)
    return parts


def _add_runs(parts: Parts, runs: dict[int, OpenRun]) -> None:
    """Add the registered bots and the open runs, with the metrics that measure their bots."""
    settings, store, news, opened_bots = parts[Settings], parts[Store], parts[News], parts[OpenedBots]
    measures = Metrics()
    served = OpenRuns(runs, partial(_prepared, store, measures))
    reach = ApiLimits(settings.bot_keys, settings.data / CORPORA)
    checks = BackgroundChecks(store, news)
    drafted = DraftedBots(store, opened_bots, reach)
    bots = RegisteredBots(store, opened_bots, checks, reach, news)
    changes = RunChanges(
        store,
        news,
        refuse_private=settings.refuse_private_bots,
        reach=reach,
        moderation=opened_bots.moderation,
        ids=parts[Auth].ids,
    )
    followed = StoredChanges(store, served, bots, opened_bots, news)
    parts.add(measures, served, reach, checks, drafted, bots, changes, followed, RunEnds(store, served, news))


def _add_sessions(parts: Parts) -> None:
    """Add the sessions of workers, and what admits and connects them."""
    settings, store, auth, news = parts[Settings], parts[Store], parts[Auth], parts[News]
    served, limits, open_sockets = parts[OpenRuns], parts[RateLimits], parts[OpenSockets]
    live = LiveSessions(store, served, auth, news, settings.prolific_site.rstrip("/"))
    newcomers = Newcomers(
        store=store,
        live=live,
        auth=auth,
        runs=served,
        limits=limits,
        per_address=parse(settings.joins_per_address),
        signed_links=settings.signed_links,
    )
    socket = WorkerSocket(
        live=live,
        newcomers=newcomers,
        auth=auth,
        limits=limits,
        per_session=parse(settings.messages_per_session),
        per_address=parse(settings.connections_per_address),
        open_sockets=open_sockets,
    )
    apis = {kind: access.api for kind, access in settings.recruiter_access.items()}
    arrivals = SignedArrivals(store, apis, settings.resolved_public_url)
    requests = JoinRequests(store, auth, served, limits, arrivals, settings)
    parts[Metrics].watch(live, store, open_sockets, parts[OpenedBots])
    parts[Lifecycle].on_drain(live.drain, newcomers.drain)
    parts.add(live, Interventions(live, store, news), socket, requests)


def _add_recruiting(parts: Parts) -> None:
    """Add the platforms that recruit and pay, and what learns of their changes."""
    settings, store = parts[Settings], parts[Store]
    platform = platform_of(settings)
    studies = PlatformStudies(store, platform, settings.resolved_public_url)
    listening = Listening(store, platform, studies, settings.resolved_public_url)
    parts.add(platform, studies, listening, Polling(store, platform, studies), Webhooks(store, studies))


def _add_jobs(parts: Parts) -> None:
    """Add the background jobs: those that researchers start, and those that run by themselves."""
    settings, store, auth, news = parts[Settings], parts[Store], parts[Auth], parts[News]
    database, limits = (
        settings.resolved_database_url,
        ChildLimits(settings.job_megabytes, settings.job_minutes * 60),
    )
    jobs, kept_exports = BackgroundJobs(store, news), KeptExports(store, settings.data / "exports")
    crowd = Crowd(settings.own_url, auth.researcher_token)
    parts.add(
        jobs,
        Reports(store, jobs, database, settings.data / "reports", limits, settings.kept_reports),
        Rehearsals(store, jobs, parts[OpenRuns], news, database, crowd, limits),
        Exports(store, jobs, database, kept_exports, limits),
        FileLinks(auth.secret),
        RunningAnalyses(store, database, limits),
        RetentionJob(store, kept_exports),
        CreditJob(store, auth.ids, SonaClient(settings.sona_url)),
        ModerationJob(store, parts[OpenedBots].moderation),
    )


def _add_desk(parts: Parts) -> None:
    """Add what researchers see at the desk, and the feeds of its changes."""
    settings, store, auth, news = parts[Settings], parts[Store], parts[Auth], parts[News]
    live, opened_bots = parts[LiveSessions], parts[OpenedBots]
    lists = ListedStore(store, news)
    sources = RunViewSources(store, auth, live, opened_bots, settings.resolved_public_url)
    run_feeds, list_feeds = RunFeeds(sources, news), ListFeeds(lists, parts[RegisteredBots], news)
    job_feeds = JobFeeds(store, parts[Reports], parts[Rehearsals], parts[Exports], news)
    parts[Lifecycle].on_drain(run_feeds.drain, list_feeds.drain, job_feeds.drain)
    provider, mail = SignInProvider(settings, auth.secret), InvitationMail(settings)
    parts.add(lists, sources, run_feeds, list_feeds, job_feeds, provider, mail)


@asynccontextmanager
async def _served(parts: Parts) -> AsyncIterator[None]:
    """Start the parts of a server, and close them at its end."""
    store, news, opened_bots, live = parts[Store], parts[News], parts[OpenedBots], parts[LiveSessions]
    changes, ends, polling = parts[StoredChanges], parts[RunEnds], parts[Polling]
    by_itself = (parts[RetentionJob], parts[CreditJob], parts[ModerationJob], parts[Listening])
    end_tracing = start_tracing()
    store.start()
    opened_bots.start(store, news)
    for part in (news, live, changes, ends, *by_itself):
        part.start()
    if parts[Settings].running_analysis:
        parts[RunningAnalyses].start()
    polling.start()
    parts[Lifecycle].begin_serving()
    yield
    await asyncio.gather(
        *(each.close() for each in (parts[RunningAnalyses], parts[BackgroundJobs], ends, *by_itself)),
        polling.close(),
        parts[Webhooks].close(),
    )
    await changes.close()
    await news.close()
    await parts[RateLimits].close()
    await parts[BackgroundChecks].close()
    await live.close()  # before the bots' connections, so that no conversation fails because of the stop
    await opened_bots.close()
    store.stop()
    await asyncio.to_thread(end_tracing)


def _prepared(store: Store, metrics: Metrics, run: OpenRun) -> OpenRun:
    """Return a run ready for workers: with metrics, and with earlier replies and word lists loaded."""
    if run.earlier is not None:
        run.earlier.read_through(store)
    load_offensive_words(run.study.language)
    return metrics.measured(run)


def api_schema() -> dict[str, Any]:
    """Return the OpenAPI schema of the researcher's API. It does not depend on settings."""
    settings = Settings.model_construct(database_url="sqlite://")  # ignores the environment
    return create_app(settings, Auth("", "", 0), {}, OpenedBots(refuse_private=False)).openapi()
