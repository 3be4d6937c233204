import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { inSessionStorage } from "../../shared/storage";
import { getJson, send, Unauthorised } from "../api";
import type { CheckedStudy, MistakeView, StudyDetail } from "../api_types";
import { ResearcherContext } from "../researcher";
import { type Path, samePath, withValue } from "./settings";

const QUIET_MS = 300;
const MOST_STEPS = 200;
const drafts = inSessionStorage("candor:desk:study:");

interface Change {
  path: Path;
  value?: unknown;
  remove?: boolean;
}

interface Draft {
  yaml: string;
  basedOn: number;
}

/** A study as it stands on the page. */
export interface Editing {
  /** The version that was last saved, as far as this page knows. */
  saved: StudyDetail;
  text: string;
  /** The settings, as they will be once the server has written them; null where the text holds none. */
  content: Record<string, unknown> | null;
  mistakes: MistakeView[];
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
  undo: () => void;
  redo: () => void;
  save: (basedOn?: number) => Promise<boolean>;
  discard: () => void;
  closeConflict: () => void;
  take: (study: StudyDetail) => void;
}

/** The text, its settings and its mistakes: kept together by the server, checked while they are written. */
export function useEditor(study: StudyDetail): Editor {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const kept = drafts.get<Draft>(study.name);
  const [now, setNow] = useState<Editing>(() => ({
    saved: kept ? { ...study, version: kept.basedOn } : study,
    text: kept?.yaml ?? study.yaml,
    content: null,
    mistakes: [],
    rewritten: [],
    busy: true,
    failure: null,
    conflict: null,
    restored: kept !== null && kept.yaml !== study.yaml,
  }));
  const state = useRef(now);
  const pending = useRef<Change[]>([]);
  const past = useRef<string[]>([]);
  const future = useRef<string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const checking = useRef<Promise<void> | null>(null);

  const show = (change: Partial<Editing>) => {
    state.current = { ...state.current, ...change };
    setNow(state.current);
    const { text, saved } = state.current;
    if (text === saved.yaml) {
      drafts.remove(saved.name);
    } else {
      drafts.set(saved.name, { yaml: text, basedOn: saved.version } satisfies Draft);
    }
  };

  const refused = (error: unknown) => {
    if (error instanceof Unauthorised) {
      onUnauthorised(); // what was written is kept in this tab, and comes back after signing in
    }
    show({ busy: false, failure: error instanceof Error ? error.message : String(error) });
  };

  const check = async () => {
    const text = state.current.text;
    const changes = pending.current;
    pending.current = [];
    try {
      const checked = (await send(
        "POST",
        "/api/desk/study-check",
        { yaml: text, changes },
        token,
      )) as CheckedStudy;
      if (state.current.text !== text) {
        return; // more was written meanwhile: it is checked next
      }
      if (checked.yaml !== text) {
        past.current = [...past.current, text].slice(-MOST_STEPS);
        future.current = [];
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
        rewritten,
        busy: pending.current.length > 0,
        failure: null,
      });
    } catch (error) {
      refused(error);
    }
  };

  const settle = async (): Promise<void> => {
    clearTimeout(timer.current);
    while (checking.current) {
      await checking.current;
    }
    checking.current = check();
    await checking.current;
    checking.current = null;
    if (pending.current.length > 0) {
      await settle();
    }
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

  const go = (text: string) => {
    pending.current = [];
    show({ text, busy: true });
    soon();
  };

  useEffect(() => {
    void settle();
    return () => clearTimeout(timer.current);
  }, []);

  const dirty = now.text !== now.saved.yaml || pending.current.length > 0;
  return {
    ...now,
    dirty,
    canUndo: past.current.length > 0,
    canRedo: future.current.length > 0,
    write: (text) => {
      if (text === state.current.text) {
        return; // a browser may say so twice
      }
      past.current = [...past.current, state.current.text].slice(-MOST_STEPS);
      future.current = [];
      go(text);
    },
    set: (path, value) => change({ path, value }),
    remove: (path) => change({ path, remove: true }),
    undo: () => {
      const before = past.current.pop();
      if (before !== undefined) {
        future.current = [...future.current, state.current.text];
        go(before);
      }
    },
    redo: () => {
      const after = future.current.pop();
      if (after !== undefined) {
        past.current = [...past.current, state.current.text];
        go(after);
      }
    },
    save: async (basedOn) => {
      await settle();
      const { text, saved } = state.current;
      const based_on = basedOn ?? saved.version;
      const address = `/api/desk/studies/${encodeURIComponent(saved.name)}`;
      try {
        const stored = (await send("PUT", address, { yaml: text, based_on }, token)) as StudyDetail;
        show({ saved: stored, conflict: null, failure: null, restored: false });
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
      past.current = [...past.current, state.current.text];
      go(saved.yaml);
    },
    closeConflict: () => show({ conflict: null }),
    take: (newest) => {
      past.current = [...past.current, state.current.text];
      show({ saved: newest, conflict: null });
      go(newest.yaml);
    },
  };
}
