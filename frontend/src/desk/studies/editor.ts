import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { toast } from "../../design/Toast";
import { inSessionStorage } from "../../shared/storage";
import { getJson, Refused, send, Unauthorised } from "../api";
import type { CheckedStudy, MistakeView, StudyDetail } from "../api_types";
import { ResearcherContext } from "../researcher";
import { type History, NO_HISTORY, redone, stepped, undone } from "./history";
import { type Change, type Path, samePath, withValue } from "./settings";

const QUIET_MS = 300;
const drafts = inSessionStorage("candor:desk:study:");

interface Draft {
  yaml: string;
  basedOn: number;
  /** What was changed in the form and is not in the text yet. */
  changes?: Change[];
}

/** A study as it stands on the page. */
export interface Editing {
  /** The version that was last saved, as far as this page knows. */
  saved: StudyDetail;
  text: string;
  /** The settings, as they will be once the server has written them; null where the text holds none. */
  content: Record<string, unknown> | null;
  mistakes: MistakeView[];
  /** What should be known of a study without mistakes before it is opened. */
  notes: string[];
  /** Texts that workers read where nothing is written, by path ("criteria.0.statement"). */
  shipped: Record<string, string>;
  /** How long it takes a worker, in minutes, and how many conversations; null where that is not known. */
  minutes: number | null;
  conversations: number | null;
  /** The last text without mistakes: the preview takes from it what this one lacks. */
  valid: string | null;
  /** The fields that were left: only these complain of being empty, until all are asked to. */
  left: ReadonlySet<string>;
  /** Whether the study was saved or reviewed, so that every field complains. */
  asked: boolean;
  /** Sections whose comments were lost, because a change could not be made in the text itself. */
  rewritten: string[];
  busy: boolean;
  failure: string | null;
  /** Somebody else's version that came in between. */
  conflict: StudyDetail | null;
  restored: boolean;
}

export interface Editor extends Editing {
  dirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  write: (text: string) => void;
  set: (path: Path, value: unknown) => void;
  remove: (path: Path) => void;
  undo: () => Promise<void>;
  redo: () => void;
  save: (basedOn?: number) => Promise<boolean>;
  /** Note that a field was left. */
  leave: (field: string) => void;
  /** Have every field complain that is empty and must not be. */
  ask: () => void;
  discard: () => void;
  closeConflict: () => void;
  take: (study: StudyDetail) => void;
  /** Note what has changed of the study beside its text, which stays as it is here. */
  note: (changed: Partial<StudyDetail>) => void;
}

/** What was left here without being saved; null where nothing was. */
function draftOf(study: StudyDetail): Draft | null {
  const kept = drafts.get<Draft>(study.name);
  return kept && (kept.yaml !== study.yaml || kept.changes?.length) ? kept : null;
}

/** The text, its settings and its mistakes: kept together by the server, checked while they are written. */
export function useEditor(study: StudyDetail): Editor {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [kept] = useState(() => draftOf(study));
  const [now, setNow] = useState<Editing>(() => ({
    saved: kept ? { ...study, version: kept.basedOn } : study,
    text: kept?.yaml ?? study.yaml,
    content: null,
    mistakes: [],
    notes: [],
    shipped: {},
    minutes: null,
    conversations: null,
    valid: null,
    left: new Set(),
    asked: false,
    rewritten: [],
    busy: true,
    failure: null,
    conflict: null,
    restored: kept !== null,
  }));
  const state = useRef(now);
  const pending = useRef<Change[]>(kept?.changes ?? []);
  const sent = useRef<Change[]>([]);
  const history = useRef<History>(NO_HISTORY);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const checking = useRef<Promise<boolean> | null>(null);
  const left = useRef(false);

  const unsettled = () => [...sent.current, ...pending.current];

  const show = (change: Partial<Editing>) => {
    state.current = { ...state.current, ...change };
    setNow(state.current);
    const { text, saved } = state.current;
    const changes = unsettled();
    if (text === saved.yaml && changes.length === 0) {
      drafts.remove(saved.name);
    } else {
      drafts.set(saved.name, { yaml: text, basedOn: saved.version, changes } satisfies Draft);
    }
  };

  const refused = (error: unknown) => {
    if (error instanceof Unauthorised) {
      onUnauthorised(); // what was written is kept in this tab, and comes back after signing in
    }
    show({ busy: false, failure: error instanceof Error ? error.message : String(error) });
  };

  /** Put the changes into the text and have it checked; returns whether the server did. */
  const check = async (): Promise<boolean> => {
    const text = state.current.text;
    const changes = pending.current;
    sent.current = changes;
    pending.current = [];
    // Another text is checked next; what is under way when the page is left lies in the draft.
    const superseded = () => left.current || sent.current !== changes;
    try {
      const checked = (await send(
        "POST",
        "/api/desk/study-check",
        { yaml: text, changes },
        token,
      )) as CheckedStudy;
      if (superseded()) {
        return true;
      }
      sent.current = [];
      if (checked.yaml !== text) {
        history.current = stepped(history.current, text);
      }
      const content = pending.current.reduce<unknown>(
        (before, { path, value }) => withValue(before, path, value),
        checked.content,
      );
      const rewritten = [...new Set([...state.current.rewritten, ...checked.rewritten])];
      show({
        text: checked.yaml,
        content: content as Editing["content"],
        mistakes: checked.mistakes,
        notes: checked.notes,
        shipped: checked.shipped,
        minutes: checked.minutes,
        conversations: checked.conversations,
        valid: checked.mistakes.length === 0 ? checked.yaml : state.current.valid,
        rewritten,
        busy: pending.current.length > 0,
        failure: null,
      });
      return true;
    } catch (error) {
      if (superseded()) {
        return true;
      }
      sent.current = [];
      pending.current = error instanceof Refused ? pending.current : [...changes, ...pending.current];
      refused(error);
      return false;
    }
  };

  const settle = async (): Promise<boolean> => {
    clearTimeout(timer.current);
    while (checking.current) {
      await checking.current;
    }
    checking.current = check();
    const settled = await checking.current;
    checking.current = null;
    return settled && pending.current.length > 0 ? settle() : settled;
  };

  const soon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void settle(), QUIET_MS);
  };

  const change = (next: Change) => {
    const last = pending.current.at(-1);
    const again = last && !last.remove && !next.remove && samePath(last.path, next.path);
    pending.current = [...(again ? pending.current.slice(0, -1) : pending.current), next];
    const content = withValue(state.current.content ?? {}, next.path, next.value) as Editing["content"];
    show({ content, busy: true });
    soon();
  };

  const goTo = (text: string) => {
    sent.current = [];
    pending.current = [];
    show({ text, busy: true });
    soon();
  };

  /** Show another text, as a step that can be undone. */
  const step = (text: string) => {
    if (text !== state.current.text) {
      history.current = stepped(history.current, state.current.text);
    }
    goTo(text);
  };

  useEffect(() => {
    void settle();
    return () => {
      left.current = true;
      clearTimeout(timer.current);
    };
  }, []);

  const changing = unsettled().length > 0;
  return {
    ...now,
    dirty: changing || now.text !== now.saved.yaml,
    canUndo: changing || history.current.past.length > 0,
    canRedo: history.current.future.length > 0,
    write: (text) => {
      if (text === state.current.text) {
        return; // a browser may say so twice
      }
      step(text);
    },
    set: (path, value) => change({ path, value }),
    remove: (path) => change({ path, remove: true }),
    undo: async () => {
      // What was changed last becomes a step, which can be undone and done again.
      if (unsettled().length > 0 && !(await settle())) {
        return;
      }
      const before = undone(history.current, state.current.text);
      if (before) {
        history.current = before.history;
        goTo(before.text);
      }
    },
    redo: () => {
      const after = redone(history.current, state.current.text);
      if (after) {
        history.current = after.history;
        goTo(after.text);
      }
    },
    leave: (field) => {
      if (!state.current.left.has(field)) {
        show({ left: new Set([...state.current.left, field]) });
      }
    },
    ask: () => {
      if (!state.current.asked) {
        show({ asked: true });
      }
    },
    save: async (basedOn) => {
      show({ asked: true });
      if (!(await settle()) || left.current) {
        return false;
      }
      const { text, saved } = state.current;
      const based_on = basedOn ?? saved.version;
      const address = `/api/desk/studies/${encodeURIComponent(saved.name)}`;
      try {
        const stored = (await send("PUT", address, { yaml: text, based_on }, token)) as StudyDetail;
        show({ saved: stored, conflict: null, failure: null, restored: false });
        toast(`Saved as version ${stored.version}`);
        return true;
      } catch (error) {
        const newest = await getJson(
          "/api/desk/studies/{study}",
          { study: saved.name },
          token,
          new AbortController().signal,
        ).catch(() => null);
        if (newest && newest.version !== based_on) {
          show({ conflict: newest });
        } else {
          refused(error);
        }
        return false;
      }
    },
    discard: () => {
      const { saved } = state.current;
      show({ restored: false });
      step(saved.yaml);
    },
    closeConflict: () => show({ conflict: null }),
    take: (newest) => {
      show({ saved: newest, conflict: null });
      step(newest.yaml);
    },
    note: (changed) => show({ saved: { ...state.current.saved, ...changed } }),
  };
}
