import { Archive, Copy, Redo2, Trash2, Undo2 } from "lucide";
import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { Icon } from "../../design/Icon";
import { Menu } from "../../design/Menu";
import { toast } from "../../design/Toast";
import { send } from "../api";
import type { RehearsalJob, RunRules, RunSummary, StudyDetail } from "../api_types";
import { ago } from "../format";
import { Link } from "../Link";
import { RehearsalCalls } from "../rehearsal/RehearsalCalls";
import { ResearcherContext } from "../researcher";
import { GoContext, type Route } from "../route";
import { Status } from "../Status";
import { checkInWords, piecesOf } from "./checked";
import { Ask, Conflict } from "./dialogs";
import type { Editor } from "./editor";
import { LeaveGuard } from "./LeaveGuard";
import { OpenRun } from "./OpenRun";

interface Props {
  editor: Editor;
  /** The review is shown, which has a button of its own that opens a run. */
  reviewing: boolean;
  /** Whether it is being asked which run to open. */
  opening: boolean;
  onOpening: (opening: boolean) => void;
}

/** What the study is called, how it stands, and what can be done with it. */
export function StudyHead({ editor, reviewing, opening, onOpening }: Props) {
  const { token, renew } = useContext(ResearcherContext);
  const go = useContext(GoContext);
  const [asking, setAsking] = useState<"copy" | "delete" | "rehearse" | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [saving, setSaving] = useState(false);
  const { saved, mistakes, notes, dirty, busy } = editor;
  const address = `/api/desk/studies/${encodeURIComponent(saved.name)}`;
  /** Do something and go where it leads, if anywhere; returns why it was refused. */
  const attempt = async (does: () => Promise<Route | null>): Promise<string | null> => {
    try {
      const next = await does();
      if (next) {
        go(next);
      }
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
      const opened = (await send("POST", "/api/desk/runs", body, token, "Open the run")) as RunSummary;
      return { page: "run", run: opened.run };
    });
  };
  const rehearse = async () => {
    if (dirty && !(await editor.save())) {
      return;
    }
    setAsking("rehearse");
  };
  const begin = async () => {
    setRefusal(
      await attempt(async () => {
        const body = { study: saved.name, confirmed: true };
        const begun = (await send("POST", "/api/desk/rehearsals", body, token, "Rehearse")) as RehearsalJob;
        return { page: "rehearsal", run: begun.run };
      }),
    );
  };
  const save = async () => {
    setSaving(true);
    await editor.save();
    setSaving(false);
  };
  const archive = async () => {
    setRefusal(
      await attempt(async () => {
        const after = (await send("PATCH", address, { archived: !saved.archived }, token)) as StudyDetail;
        editor.note({ archived: after.archived });
        toast(after.archived ? "Archived" : "Taken back from the archive");
        return null;
      }),
    );
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
            {busy ? "checking…" : checkInWords(mistakes, editor.content, notes)}
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
            You left this page with unsaved changes. They are restored.{" "}
            <Button kind="quiet" onClick={editor.discard}>
              Discard them
            </Button>
          </p>
        )}
        {notes.length > 0 && (
          <ul class="study-notes" aria-label="What you should know before you open a run">
            {notes.map((note) => (
              <li key={note}>
                {piecesOf(note).map(({ text, code }, index) =>
                  code ? <code key={index}>{text}</code> : text,
                )}
              </li>
            ))}
          </ul>
        )}
        {editor.rewritten.length > 0 && (
          <p class="soft small">
            Comments and layout in {editor.rewritten.map((name) => `“${name}”`).join(", ")} could not be kept.
          </p>
        )}
      </header>
      <div class="study-actions">
        <Button kind="quiet" off={!editor.canUndo} onClick={() => void editor.undo()}>
          <Icon of={Undo2} />
          <span class="only-wide-words">Undo</span>
        </Button>
        <Button kind="quiet" off={!editor.canRedo} onClick={editor.redo}>
          <Icon of={Redo2} />
          <span class="only-wide-words">Redo</span>
        </Button>
        <span class="study-apart" />
        <Button kind="secondary" off={!dirty} busy={saving} onClick={() => void save()}>
          Save
        </Button>
        <span class="study-leads">
          <Button kind="secondary" off={mistakes.length > 0 || busy} onClick={() => void rehearse()}>
            Rehearse
          </Button>
          {!reviewing && (
            <Button off={mistakes.length > 0 || busy} onClick={() => onOpening(true)}>
              Open a run
            </Button>
          )}
        </span>
        <Menu
          label="More"
          items={[
            { name: "Copy", icon: Copy, onChoose: () => setAsking("copy") },
            {
              name: saved.archived ? "Take back from the archive" : "Archive",
              icon: Archive,
              onChoose: () => void archive(),
            },
            ...(saved.runs.length === 0
              ? [{ name: "Delete", icon: Trash2, danger: true, onChoose: () => setAsking("delete") }]
              : []),
          ]}
        />
      </div>
      {asking === "copy" && (
        <Ask
          title="Copy the study"
          label="Name of the copy"
          hint="Lowercase letters, digits and _, starting with a letter."
          start={`${saved.name}_2`}
          button="Copy"
          onClose={() => setAsking(null)}
          onAnswer={(name) =>
            attempt(async () => {
              const copied = (await send("POST", `${address}/copy`, { name }, token)) as StudyDetail;
              await renew();
              return { page: "study", study: copied.name };
            })
          }
        />
      )}
      {asking === "rehearse" && (
        <RehearsalCalls
          path="/api/desk/studies/{study}/rehearsal-plan"
          values={{ study: saved.name }}
          workers={40}
          onBegin={() => void begin()}
          onClose={() => setAsking(null)}
        />
      )}
      {opening && <OpenRun study={saved} onClose={() => onOpening(false)} onOpen={open} />}
      {asking === "delete" && (
        <Dialog title={`Delete ${saved.name}?`} onClose={() => setAsking(null)}>
          <p>
            {saved.version === 1 ? "Its only version is" : `All ${saved.version} versions are`} deleted. You
            can’t undo this. No run uses this study.
          </p>
          <div class="actions">
            <Button kind="secondary" onClick={() => setAsking(null)}>
              Cancel
            </Button>
            <Button
              kind="danger"
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
              Delete
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
