import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { Toasts } from "../design/Toast";
import { Wordmark } from "../design/Wordmark";
import { brought, forgetToken, keepToken, keptToken } from "./access";
import { AccountContext } from "./account";
import { accountOf, askAgain } from "./api";
import type { Account } from "./api_types";
import { Confirmation } from "./Confirmation";
import { Link } from "./Link";
import { Breadcrumbs, Navigation } from "./Navigation";
import { NotFound } from "./NotFound";
import { Palette } from "./palette/Palette";
import { AuditView } from "./people/AuditView";
import { ChoosePassword } from "./people/ChoosePassword";
import { PeopleView } from "./people/PeopleView";
import { SignIn } from "./people/SignIn";
import { WhoIsHere } from "./people/WhoIsHere";
import { RunsView } from "./RunsView";
import { ResearcherContext } from "./researcher";
import { GoContext, type Route, useRoute } from "./route";
import { RunView } from "./run/RunView";
import { StudiesView } from "./studies/StudiesView";
import { StudyView } from "./studies/StudyView";

type Entry =
  | { at: "door"; refused: boolean }
  | { at: "link"; link: string }
  | { at: "desk"; account: Account; token: string };

/** The researcher's page: lets somebody in, and shows what they ask for. */
export function App() {
  const [entry, setEntry] = useState<Entry | null>(null);
  // Calls that wait until somebody has signed in again, over the page as it stands.
  const waiting = useRef<((token: string) => void)[]>([]);
  const [signedOut, setSignedOut] = useState(false);
  const [route, go] = useRoute();
  const refusedBy = useRef<string | null>(null);
  const main = useRef<HTMLElement>(null);
  const arrived = useRef(false);
  useEffect(() => {
    // What led to another page is gone with the former one: the new page takes the focus over.
    if (arrived.current && document.activeElement === document.body) {
      main.current?.focus({ preventScroll: true });
    }
    arrived.current = true;
  }, [route]);

  const enter = (account: Account, token: string) => {
    token ? keepToken(token) : forgetToken();
    setEntry({ at: "desk", account, token });
    setSignedOut(false);
    for (const goOn of waiting.current.splice(0)) {
      goOn(token);
    }
  };
  const tryToken = async (token: string) => {
    const account = await accountOf(token).catch(() => null);
    account ? enter(account, token) : setEntry({ at: "door", refused: token !== "" });
  };
  useEffect(() => {
    const { token, link, refused } = brought();
    refusedBy.current = refused;
    link ? setEntry({ at: "link", link }) : void tryToken(token ?? keptToken());
  }, []);
  const isIn = entry?.at === "desk";
  useEffect(() => {
    askAgain(
      isIn
        ? () =>
            new Promise((goOn) => {
              waiting.current.push(goOn);
              setSignedOut(true);
            })
        : null,
    );
  }, [isIn]);

  if (entry === null) {
    return <Door title="The researcher’s desk">{<p class="soft">Loading…</p>}</Door>;
  }
  if (entry.at === "link") {
    return (
      <Door title="Choose your password">
        <ChoosePassword link={entry.link} onPerson={(account) => enter(account, "")} />
      </Door>
    );
  }
  if (entry.at === "door") {
    return (
      <Door title="The researcher’s desk">
        <SignIn
          key={String(entry.refused)}
          refusedToken={entry.refused}
          refusedSignIn={refusedBy.current}
          onPerson={(account) => enter(account, "")}
          onToken={(token) => void tryToken(token)}
        />
      </Door>
    );
  }
  const { account, token } = entry;
  const renew = async () => {
    const now = await accountOf(token).catch(() => account);
    setEntry({ at: "desk", account: now, token });
  };
  const leave = () => {
    forgetToken();
    setSignedOut(false);
    setEntry({ at: "door", refused: false });
  };
  return (
    <AccountContext.Provider value={account}>
      <ResearcherContext.Provider value={{ token, onUnauthorised: leave, renew }}>
        <GoContext.Provider value={go}>
          <header class="desk-top">
            <span class="skip">
              <Button kind="secondary" onClick={() => main.current?.focus()}>
                Skip to content
              </Button>
            </span>
            <Link to={{ page: "runs" }} plain>
              <Wordmark />
            </Link>
            <Navigation route={route} />
            <Palette />
            <WhoIsHere account={account} token={token} onSignedOut={leave} />
          </header>
          <main class="desk-main" ref={main} tabIndex={-1}>
            <Breadcrumbs route={route} />
            <GuardedView route={route} />
          </main>
          <Confirmation />
          <Toasts />
          {signedOut && (
            <Dialog title="Sign in again" onClose={leave}>
              <SignIn
                why="Nothing on this page is lost. You continue where you left off."
                refusedToken={false}
                onPerson={(again) => enter(again, "")}
                onToken={(again) =>
                  void accountOf(again).then(
                    (who) => enter(who, again),
                    () => undefined,
                  )
                }
              />
            </Dialog>
          )}
        </GoContext.Provider>
      </ResearcherContext.Provider>
    </AccountContext.Provider>
  );
}

function Door({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <header class="desk-top">
        <Wordmark />
      </header>
      <main class="desk-main desk-narrow">
        <div class="box desk-token">
          <h1>{title}</h1>
          {children}
        </div>
      </main>
    </>
  );
}

/** A page of the desk, or a sentence where it cannot be drawn. The navigation goes on working. */
function GuardedView({ route }: { route: Route }) {
  const [error, forget] = useErrorBoundary((error: unknown) => console.error(error));
  useEffect(forget, [route]);
  if (!error) {
    return <View route={route} />;
  }
  return (
    <div role="alert">
      <h1>This page could not be shown</h1>
      <p>
        Drawing it failed in this browser: {String(error)}. Nothing is lost on the server. Reload the page; if
        that does not help, try another browser and tell whoever runs this server.
      </p>
      <div class="actions">
        <Button onClick={() => window.location.reload()}>Reload</Button>
      </div>
    </div>
  );
}

function View({ route }: { route: Route }) {
  if ("run" in route) {
    return <RunView key={route.run} route={route} />;
  }
  switch (route.page) {
    case "runs":
      return <RunsView />;
    case "studies":
      return <StudiesView />;
    case "study":
      return <StudyView key={route.study} study={route.study} step={route.step} />;
    case "people":
      return <PeopleView />;
    case "audit":
      return <AuditView />;
    case "unknown":
      return (
        <NotFound title="Page not found" back={{ page: "runs" }} backTo="Go to the runs">
          The desk has no page at <code>{route.path}</code>. Check the address, or start from the list of
          runs.
        </NotFound>
      );
  }
}
