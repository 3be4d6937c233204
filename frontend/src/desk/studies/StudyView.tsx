import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { AccountContext, owns } from "../account";
import { getJson, send, Unauthorised } from "../api";
import type { RehearsalJob, RunRules, RunSummary, StudyDetail, StudySettings } from "../api_types";
import { ago } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { StudyPeople } from "../people/StudyPeople";
import { ResearcherContext } from "../polled";
import { addressOf, GoContext, type Route, routeOf } from "../route";
import { Status } from "../Status";
import { Bots } from "./Bots";
import { Ask, Changes, Conflict } from "./dialogs";
import { type Editor, useEditor } from "./editor";
import { Form } from "./Form";
import { OpenRun } from "./OpenRun";
import { Preview } from "./Preview";
import "./studies.css";
import { YamlEditor } from "./YamlEditor";

/** One study: its settings as a form and as the file that they are stored as, and what workers will see. */
export function StudyView({ study }: { study: string }) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [found, setFound] = useState<{ study: StudyDetail; settings: StudySettings } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    const control = new AbortController();
    Promise.all([
      getJson("/api/desk/studies/{study}", { study }, token, control.signal),
      getJson("/api/desk/study-settings", {}, token, control.signal),
    ]).then(
      ([detail, settings]) => setFound({ study: detail, settings }),
      (error: unknown) => {
        if (!control.signal.aborted) {
          if (error instanceof Unauthorised) {
            onUnauthorised();
          }
          setFailure(error instanceof Error ? error.message : String(error));
        }
      },
    );
    return () => control.abort();
  }, [study, token]);
  return (
    <>
      <LoadStatus failure={failure} empty={found === null} />
      {found && <Opened study={found.study} settings={found.settings} />}
    </>
  );
}

type Tab = "form" | "yaml" | "preview" | "bots" | "versions" | "people";
const TABS: { tab: Tab; name: string }[] = [
  { tab: "form", name: "Form" },
  { tab: "yaml", name: "YAML" },
  { tab: "preview", name: "Preview" },
  { tab: "bots", name: "Bots" },
  { tab: "versions", name: "Versions" },
  { tab: "people", name: "People" },
];

function Opened({ study, settings }: { study: StudyDetail; settings: StudySettings }) {
  const editor = useEditor(study);
  const [tab, setTab] = useState<Tab>("form");
  const [beside, setBeside] = useState<Tab>("preview");
  const wide = useWide();
  const mine = owns(useContext(AccountContext), study.name);
  const tabs = TABS.filter(({ tab }) => mine || tab !== "people");
  const left = wide ? "form" : tab;
  const panels = (shown: Tab) => {
    switch (shown) {
      case "form":
        return <Form editor={editor} settings={settings} />;
      case "yaml":
        return <YamlEditor editor={editor} />;
      case "preview":
        return <Preview editor={editor} />;
      case "bots":
        return <Bots editor={editor} builtin={settings.builtin_bots} registered={settings.registered_bots} />;
      case "versions":
        return <Versions editor={editor} />;
      case "people":
        return <StudyPeople study={study.name} />;
    }
  };
  useKeys(editor);
  return (
    <div class="study">
      <Head editor={editor} />
      <div class="study-panes">
        <div>
          {!wide && <Tabs tabs={tabs} now={tab} onChoose={setTab} />}
          {panels(left)}
        </div>
        {wide && (
          <aside class="study-beside" aria-label="Beside the form">
            <Tabs tabs={tabs.filter((each) => each.tab !== "form")} now={beside} onChoose={setBeside} />
            {panels(beside)}
          </aside>
        )}
      </div>
    </div>
  );
}

/** Ctrl+Z, Ctrl+Shift+Z and Ctrl+S, wherever the focus is: a field's own undo knows only that field. */
function useKeys({ undo, redo, save }: Editor) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const key = event.ctrlKey || event.metaKey ? event.key.toLowerCase() : "";
      const does = key === "s" ? () => void save() : key === "z" ? (event.shiftKey ? redo : undo) : null;
      if (does && !document.querySelector("dialog[open]")) {
        event.preventDefault();
        does();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [undo, redo, save]);
}

/** Whether there is room for the form and something beside it. */
function useWide(): boolean {
  const query = "(min-width: 60rem)";
  const [wide, setWide] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const hear = () => setWide(media.matches);
    media.addEventListener("change", hear);
    return () => media.removeEventListener("change", hear);
  }, []);
  return wide;
}

function Tabs({ tabs, now, onChoose }: { tabs: typeof TABS; now: Tab; onChoose: (tab: Tab) => void }) {
  return (
    <div class="preview-steps study-tabs">
      {tabs.map(({ tab, name }) => (
        <button
          key={tab}
          type="button"
          class="preview-step"
          aria-pressed={tab === now}
          onClick={() => onChoose(tab)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

/** What the study is called, how it stands, and what can be done with it. */
function Head({ editor }: { editor: Editor }) {
  const { token } = useContext(ResearcherContext);
  const go = useContext(GoContext);
  const [asking, setAsking] = useState<"copy" | "open" | "delete" | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const { saved, mistakes, dirty, busy } = editor;
  const address = `/api/desk/studies/${encodeURIComponent(saved.name)}`;
  const attempt = async (does: () => Promise<Route>): Promise<string | null> => {
    try {
      go(await does());
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const open = async (run: string, rules: RunRules, despite: boolean) => {
    if (dirty && !(await editor.save())) {
      return "The study could not be saved.";
    }
    return attempt(async () => {
      const body = { run, study: saved.name, despite_failing_bots: despite, rules };
      const opened = (await send("POST", "/api/desk/runs", body, token)) as RunSummary;
      return { page: "run", run: opened.run };
    });
  };
  const rehearse = async () => {
    if (dirty && !(await editor.save())) {
      return;
    }
    setRefusal(
      await attempt(async () => {
        const body = { study: saved.name };
        const begun = (await send("POST", "/api/desk/rehearsals", body, token)) as RehearsalJob;
        return { page: "rehearsal", run: begun.run };
      }),
    );
  };
  const archive = async () => {
    const after = (await send("PATCH", address, { archived: !saved.archived }, token)) as StudyDetail;
    editor.take({ ...after, yaml: editor.saved.yaml });
  };
  return (
    <>
      <header class="study-head">
        <div>
          <h1>
            {saved.name} {saved.archived && <span class="tag">archived</span>}
          </h1>
          <p class="soft small" role="status">
            {dirty
              ? "Unsaved changes"
              : `Version ${saved.version}, saved ${ago(saved.saved_at)} by ${saved.saved_by}`}
            {" · "}
            {busy ? "checking…" : mistakes.length === 0 ? "no mistakes" : `${mistakes.length} to mend`}
          </p>
          {saved.runs.length > 0 && (
            <ul class="study-runs small">
              {saved.runs.map((run) => (
                <li key={run.run}>
                  <Link to={{ page: "run", run: run.run }}>{run.run}</Link> <Status status={run.status} />{" "}
                  {run.version !== null && <span class="soft">version {run.version}</span>}
                </li>
              ))}
            </ul>
          )}
        </div>
        {editor.failure && <p class="failure">{editor.failure}</p>}
        {refusal && (
          <p class="failure" role="alert">
            {refusal}
          </p>
        )}
        {editor.restored && (
          <p class="failure">
            These changes were not saved when this page was left.{" "}
            <Button kind="plain" onClick={editor.discard}>
              Discard them
            </Button>
          </p>
        )}
        {editor.rewritten.length > 0 && (
          <p class="soft small">
            Comments and layout in {editor.rewritten.map((name) => `“${name}”`).join(", ")} could not be kept.
          </p>
        )}
      </header>
      <div class="study-actions">
        <Button kind="quiet" off={!editor.canUndo} onClick={editor.undo}>
          Undo
        </Button>
        <Button kind="quiet" off={!editor.canRedo} onClick={editor.redo}>
          Redo
        </Button>
        <Button kind="quiet" off={!dirty} onClick={() => void editor.save()}>
          Save
        </Button>
        <Button kind="quiet" off={mistakes.length > 0 || busy} onClick={() => void rehearse()}>
          Rehearse
        </Button>
        <Button off={mistakes.length > 0 || busy} onClick={() => setAsking("open")}>
          Open a run
        </Button>
        <details class="study-menu">
          <summary class="button button-plain">More</summary>
          <div class="box">
            <Button kind="plain" onClick={() => setAsking("copy")}>
              Copy
            </Button>
            <Button kind="plain" onClick={() => void archive()}>
              {saved.archived ? "Take back from the archive" : "Archive"}
            </Button>
            {saved.runs.length === 0 && (
              <Button kind="plain" onClick={() => setAsking("delete")}>
                Delete
              </Button>
            )}
          </div>
        </details>
      </div>
      {asking === "copy" && (
        <Ask
          title="Copy the study"
          label="Name of the copy"
          hint="Small letters, digits and _, the first one a letter."
          start={`${saved.name}_2`}
          button="Copy"
          onClose={() => setAsking(null)}
          onAnswer={(name) =>
            attempt(async () => {
              const copied = (await send("POST", `${address}/copy`, { name }, token)) as StudyDetail;
              return { page: "study", study: copied.name };
            })
          }
        />
      )}
      {asking === "open" && <OpenRun study={saved} onClose={() => setAsking(null)} onOpen={open} />}
      {asking === "delete" && (
        <Dialog title={`Delete ${saved.name}?`} onClose={() => setAsking(null)}>
          <p>All {saved.version} versions of it are forgotten. No run was opened of it.</p>
          <div class="actions">
            <Button kind="quiet" onClick={() => setAsking(null)}>
              Keep it
            </Button>
            <Button
              onClick={() =>
                void attempt(async () => {
                  await send("DELETE", address, undefined, token);
                  return { page: "studies" };
                }).then((refused) => {
                  setRefusal(refused);
                  setAsking(null);
                })
              }
            >
              Delete it
            </Button>
          </div>
        </Dialog>
      )}
      {editor.conflict && (
        <Conflict
          theirs={editor.conflict}
          since={saved.version}
          onMine={() => void editor.save(editor.conflict?.version)}
          onTheirs={() => editor.conflict && editor.take(editor.conflict)}
          onClose={editor.closeConflict}
        />
      )}
      <LeaveGuard editor={editor} />
    </>
  );
}

/** Asks before this page is left with changes that are not saved. */
function LeaveGuard({ editor }: { editor: Editor }) {
  const go = useContext(GoContext);
  const [to, setTo] = useState<Route | null>(null);
  const { dirty } = editor;
  useEffect(() => {
    if (!dirty) {
      return undefined;
    }
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    const ask = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.("a");
      const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
      if (link && plain && link.origin === window.location.origin) {
        event.preventDefault();
        event.stopPropagation();
        setTo(routeOf(link.pathname));
      }
    };
    window.addEventListener("beforeunload", warn);
    document.addEventListener("click", ask, true);
    return () => {
      window.removeEventListener("beforeunload", warn);
      document.removeEventListener("click", ask, true);
    };
  }, [dirty]);
  if (!to) {
    return null;
  }
  return (
    <Dialog title="Leave without saving?" onClose={() => setTo(null)}>
      <p>What you changed is kept in this tab until you come back or close it.</p>
      <div class="actions">
        <Button kind="quiet" onClick={() => setTo(null)}>
          Stay
        </Button>
        <Button kind="quiet" onClick={() => go(to)}>
          Leave
        </Button>
        <Button
          onClick={() => {
            void editor.save().then((done) => (done ? go(to) : setTo(null)));
          }}
        >
          Save and leave
        </Button>
      </div>
      <p class="soft small">To: {addressOf(to)}</p>
    </Dialog>
  );
}

/** Every version, and what was changed in it. */
function Versions({ editor }: { editor: Editor }) {
  const { token } = useContext(ResearcherContext);
  const [shown, setShown] = useState<number | null>(null);
  const { name, versions } = editor.saved;
  const restore = async (version: number) => {
    const values = { study: name, version: String(version) };
    const path = "/api/desk/studies/{study}/versions/{version}";
    const found = await getJson(path, values, token, new AbortController().signal);
    editor.write(found.yaml);
  };
  return (
    <ol class="study-versions">
      {versions.map((each) => (
        <li key={each.version}>
          <p>
            <strong>Version {each.version}</strong>{" "}
            <span class="soft small">
              {ago(each.saved_at)} by {each.saved_by} · {each.hash}
            </span>
          </p>
          <div class="actions">
            {each.version > 1 && (
              <Button kind="plain" onClick={() => setShown(shown === each.version ? null : each.version)}>
                {shown === each.version ? "Hide what was changed" : "What was changed"}
              </Button>
            )}
            {each.version < editor.saved.version && (
              <Button kind="plain" onClick={() => void restore(each.version)}>
                {`Go on from version ${each.version}`}
              </Button>
            )}
          </div>
          {shown === each.version && <Changes study={name} since={each.version - 1} version={each.version} />}
        </li>
      ))}
    </ol>
  );
}
