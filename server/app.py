"""Create the server's application from its parts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, FastAPI
from fastapi.staticfiles import StaticFiles
from limits import parse

from bots import load_offensive_words
from candor.common.network import BodyLimit
from candor.common.telemetry import start_tracing
from server.access.auth import Auth
from server.access.openid import OpenIdProvider
from server.access.rate_limit import OpenSockets, RateLimits
from server.access.sign_ins import StoredDirectory
from server.bots import api as bots_api
from server.bots.fitness import BackgroundChecks
from server.bots.host_socket import HostSocket
from server.bots.lineup import OpenRun
from server.bots.opened_bots import OpenedBots
from server.bots.opening import OpenRuns, RunChanges, StoredChanges
from server.bots.registered_bots import CORPORA, ApiLimits, RegisteredBots
from server.config import Settings
from server.db.engine.engines import DatabaseLimits
from server.db.store.store import Store
from server.desk import api as desk_api
from server.desk.assignments import forgetting, wizard, worker_actions
from server.desk.listed import ListedStore
from server.desk.metrics import Metrics
from server.desk.people import audit_log, people, study_people
from server.desk.people.accounts import AccountsApi
from server.desk.people.openid_sign_in import CALLBACK, OpenIdSignIn
from server.desk.runs import credits as run_credits
from server.desk.runs import personal_links, run_actions, worker_ids
from server.desk.runs.personal_links import LISTS_MOST_BYTES, LISTS_PATH
from server.desk.runs.run_actions import RULES_MOST_BYTES, RULES_PATH
from server.desk.streams.job_watch import JobWatch
from server.desk.streams.list_watch import ListWatch
from server.desk.streams.watch import RunViewSources, Watch
from server.desk.studies import studies as studies_api
from server.errors import ErrorBody
from server.jobs.api import JobsApi
from server.jobs.background import BackgroundJobs, FileLinks
from server.jobs.child import ChildLimits
from server.jobs.credits import CreditJob
from server.jobs.exports import Exports, KeptExports
from server.jobs.moderation import ModerationJob
from server.jobs.rehearsals import Crowd, Rehearsals
from server.jobs.reports import Reports, RunningAnalyses
from server.jobs.retention import RetentionJob
from server.live.arrive.admission import RunEnds
from server.live.arrive.join import WORKER_PAGES, JoinApi
from server.live.arrive.signed_arrivals import SignedArrivals
from server.live.converse.interventions import Interventions
from server.live.converse.newcomers import Newcomers
from server.live.converse.own_data import OwnDataApi
from server.live.converse.page_trouble import PageTroubleApi
from server.live.converse.sessions import LiveSessions
from server.live.converse.socket import WorkerSocket
from server.news import News, open_news
from server.process.lifecycle import Lifecycle
from server.process.middleware import (
    DirectSocket,
    NoNullCharacters,
    RequestIds,
    ResponseHeaders,
    add_errors,
    null_character,
    too_long,
)
from server.process.readiness import ServerHealth
from server.recruiters.sona import SonaClient
from server.recruiting import api as recruiting_api
from server.recruiting.listening import Listening, Polling
from server.recruiting.platform import Platform, platform_of
from server.recruiting.studies import PlatformStudies
from server.recruiting.webhooks import Webhooks
from server.session.protocol import SOCKET_PATH
from server.site.templates import STATIC, STATIC_PATH, ApiDocs, StartPage

PAGES = Path(__file__).parent / "pages"
API_VERSION = "1"
_MOST_BYTES = 65_536  # of a request


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of the server that endpoints get as dependencies, held in `app.state.parts`."""

    store: Store
    auth: Auth
    lists: ListedStore
    live: LiveSessions
    interventions: Interventions
    sources: RunViewSources
    bots: RegisteredBots
    changes: RunChanges
    platform: Platform
    platform_studies: PlatformStudies
    reach: ApiLimits
    pages: Path
    public_url: str


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
    lifecycle = lifecycle or Lifecycle()
    store = Store(
        settings.resolved_database_url,
        DatabaseLimits(settings.database_connections, settings.database_seconds),
    )
    auth = replace(auth, directory=StoredDirectory(store))
    metrics = Metrics()
    news = open_news(settings.redis_url)
    served = OpenRuns(runs, partial(_prepared, store, metrics))
    live = LiveSessions(store, served, auth, news, settings.prolific_site.rstrip("/"))
    lifecycle.on_drain(live.drain)
    open_sockets = OpenSockets(settings.open_sockets_per_address, frozenset(settings.exempt_addresses))
    metrics.watch(live, store, open_sockets, opened_bots)
    limits = RateLimits(frozenset(settings.exempt_addresses), settings.redis_url)
    checks = BackgroundChecks(store, news)
    bots = RegisteredBots(store, opened_bots, checks, _reach(settings), news)
    changes = StoredChanges(store, served, bots, opened_bots, news)
    ends = RunEnds(store, served, news)
    analyses = RunningAnalyses(store, settings.resolved_database_url, _job_limits(settings))
    jobs = BackgroundJobs(store, news)
    platform = platform_of(settings)
    studies = PlatformStudies(store, platform, settings.resolved_public_url)
    by_itself = (
        RetentionJob(store, _kept_exports(store, settings)),
        CreditJob(store, auth.ids, SonaClient(settings.sona_url)),
        ModerationJob(store, opened_bots.moderation),
        _listening(store, settings, platform, studies),
    )
    polling = Polling(store, platform, studies)
    webhooks = Webhooks(
        store=store,
        studies=studies,
        limits=limits,
        per_address=parse(settings.attempts_per_address),
        secret=settings.prolific_hook_secret,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        end_tracing = start_tracing()
        store.start()
        opened_bots.start(store, news)
        for part in (news, live, changes, ends, *by_itself):
            part.start()
        if settings.running_analysis:
            analyses.start()
        polling.start()
        lifecycle.begin_serving()
        yield
        await asyncio.gather(
            analyses.close(),
            jobs.close(),
            ends.close(),
            *(job.close() for job in by_itself),
            polling.close(),
            webhooks.close(),
        )
        await changes.close()
        await news.close()
        await limits.close()
        await checks.close()
        await live.close()  # before the bots' connections, so that no conversation fails because of the stop
        await opened_bots.close()
        store.stop()
        await asyncio.to_thread(end_tracing)

    newcomers = Newcomers(
        store=store,
        live=live,
        auth=auth,
        runs=served,
        limits=limits,
        per_address=parse(settings.joins_per_address),
        signed_links=settings.signed_links,
    )
    lifecycle.on_drain(newcomers.drain)
    worker_socket = WorkerSocket(
        live=live,
        newcomers=newcomers,
        auth=auth,
        limits=limits,
        per_session=parse(settings.messages_per_session),
        per_address=parse(settings.connections_per_address),
        open_sockets=open_sockets,
    )
    app = _new_app(lifespan, worker_socket, settings.resolved_public_url)
    parts = app.state.parts = Parts(
        store=store,
        auth=auth,
        lists=ListedStore(store, news),
        live=live,
        interventions=Interventions(live, store, news),
        sources=RunViewSources(store, auth, live, opened_bots, settings.resolved_public_url),
        bots=bots,
        changes=RunChanges(
            store,
            news,
            refuse_private=settings.refuse_private_bots,
            reach=_reach(settings),
            moderation=opened_bots.moderation,
            ids=auth.ids,
        ),
        platform=platform,
        platform_studies=studies,
        reach=_reach(settings),
        pages=pages,
        public_url=settings.resolved_public_url,
    )
    for router in (
        ServerHealth(store, lifecycle, settings.redis_url).router,
        JoinApi(
            store=store,
            auth=auth,
            runs=served,
            limits=limits,
            per_address=parse(settings.attempts_per_address),
            signed_links=settings.signed_links,
            signed_arrivals=SignedArrivals(store, settings.prolific_api, settings.resolved_public_url),
            prolific_site=settings.prolific_site.rstrip("/"),
            pages=pages,
        ).router,
        metrics.router,
        *_desk(parts.sources, news, lifecycle),
        *_jobs_api(store, auth, jobs, served, news, lifecycle, settings),
        *_ways_in(store, parts.lists, auth, limits, settings),
        *_lists(parts, news, lifecycle),
        recruiting_api.router,
        run_credits.router,
        webhooks.router,
        worker_ids.router,
        personal_links.router,
        OwnDataApi(
            store=store,
            auth=auth,
            live=live,
            limits=limits,
            per_address=parse(settings.attempts_per_address),
        ).router,
        PageTroubleApi(
            store=store,
            auth=auth,
            run_news=live.run_news,
            limits=limits,
            per_address=parse(settings.attempts_per_address),
        ).router,
        forgetting.router,
        wizard.router,
        audit_log.router,
        bots_api.router,
        HostSocket(auth=auth, bots=bots).router,
        ApiDocs(app.openapi).router,
        StartPage(store, served).router,
    ):
        app.include_router(router)
    app.mount(STATIC_PATH, StaticFiles(directory=STATIC), name="static")
    app.mount("/assets", StaticFiles(directory=pages / "assets", check_dir=False), name="assets")
    return app


def _new_app(
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    worker_socket: WorkerSocket,
    public_url: str,
) -> FastAPI:
    """Return an application with middleware, error responses and workers' WebSockets, but no other routes.

    `public_url`: its path is used for cookies and redirects; requests that change data must have its origin.
    """
    app = FastAPI(
        title="Candor",
        version=API_VERSION,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load scripts from another host; `ApiDocs` serves ours
        redoc_url=None,
        openapi_url=None,
        separate_input_output_schemas=False,  # one schema per model, for requests and responses
        responses={"default": {"model": ErrorBody, "description": "An error. All errors have this shape"}},
        generate_unique_id_function=lambda route: route.name,
    )
    public = urlsplit(public_url)
    app.state.public_path, app.state.public_origin = public.path, f"{public.scheme}://{public.netloc}"
    add_errors(app)
    longer = {LISTS_PATH: LISTS_MOST_BYTES, RULES_PATH: RULES_MOST_BYTES}
    app.add_middleware(DirectSocket, path=SOCKET_PATH, serve=worker_socket.serve)
    app.add_middleware(NoNullCharacters, refusal=null_character(), except_below=WORKER_PAGES)
    app.add_middleware(BodyLimit, most=_MOST_BYTES, refusal=too_long, elsewhere=longer)
    app.add_middleware(ResponseHeaders)
    app.add_middleware(RequestIds)
    return app


def _listening(store: Store, settings: Settings, platform: Platform, studies: PlatformStudies) -> Listening:
    return Listening(
        store=store,
        platform=platform,
        studies=studies,
        public_url=settings.resolved_public_url,
        workspace=settings.prolific_workspace,
        secret=settings.prolific_hook_secret,
    )


def _reach(settings: Settings) -> ApiLimits:
    return ApiLimits(settings.bot_keys, settings.data / CORPORA)


def _job_limits(settings: Settings) -> ChildLimits:
    return ChildLimits(settings.job_megabytes, settings.job_minutes * 60)


def _kept_exports(store: Store, settings: Settings) -> KeptExports:
    return KeptExports(store, settings.data / "exports")


def _jobs_api(
    store: Store,
    auth: Auth,
    jobs: BackgroundJobs,
    served: OpenRuns,
    news: News,
    lifecycle: Lifecycle,
    settings: Settings,
) -> list[APIRouter]:
    """Return the routers of background jobs and their progress."""
    database, limits = settings.resolved_database_url, _job_limits(settings)
    crowd = Crowd(settings.own_url, auth.researcher_token)
    reports = Reports(store, jobs, database, settings.data / "reports", limits, settings.kept_reports)
    rehearsals = Rehearsals(store, jobs, served, news, database, crowd, limits)
    exports = Exports(store, jobs, database, _kept_exports(store, settings), limits)
    links = FileLinks(auth.secret)
    watch = JobWatch(
        store=store,
        reports=reports,
        rehearsals=rehearsals,
        exports=exports,
        links=links,
        news=news,
    )
    lifecycle.on_drain(watch.drain)
    api = JobsApi(
        store=store,
        auth=auth,
        jobs=jobs,
        reports=reports,
        rehearsals=rehearsals,
        exports=exports,
        links=links,
        reach=_reach(settings),
    )
    return [api.router, watch.router]


def _ways_in(
    store: Store, listed: ListedStore, auth: Auth, limits: RateLimits, settings: Settings
) -> list[APIRouter]:
    """Return the routers that sign people in at the desk."""
    tries = parse(settings.sign_ins)
    by_password = AccountsApi(store=store, listed=listed, auth=auth, limits=limits, tries=tries)
    by_provider = OpenIdSignIn(
        store=store, provider=_provider(settings), secret=auth.secret, limits=limits, tries=tries
    )
    return [by_password.router, by_provider.router]


def _lists(parts: Parts, news: News, lifecycle: Lifecycle) -> list[APIRouter]:
    """Return the routers for studies, accounts and tokens, and for changes to their lists."""
    watch = ListWatch(store=parts.lists, bots=parts.bots, news=news)
    lifecycle.on_drain(watch.drain)
    return [studies_api.router, people.router, study_people.router, watch.router]


def _provider(settings: Settings) -> OpenIdProvider | None:
    if settings.oidc_issuer is None or settings.oidc_client_id is None:
        return None
    return OpenIdProvider(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        f"{settings.resolved_public_url}{CALLBACK}",
        settings.oidc_name,
    )


def _desk(outlook: RunViewSources, news: News, lifecycle: Lifecycle) -> list[APIRouter]:
    """Return the routers of the desk: its page, views of runs and their changes, and actions on runs."""
    watch = Watch(outlook, news)
    lifecycle.on_drain(watch.drain)
    return [desk_api.router, watch.router, run_actions.router, worker_actions.router]


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
