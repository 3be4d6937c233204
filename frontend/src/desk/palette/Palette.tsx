import { Search } from "lucide";
import { useContext, useEffect, useId, useState } from "preact/hooks";
import { Dialog } from "../../design/Dialog";
import { Icon } from "../../design/Icon";
import { AccountContext, may } from "../account";
import { getJson } from "../api";
import { useFetched } from "../fetched";
import { placesFor } from "../places";
import { ResearcherContext } from "../researcher";
import { GoContext } from "../route";
import { type Entry, matching, pageEntries, runEntries, studyEntries, workerEntries } from "./entries";
import "./palette.css";

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A button, and Ctrl+K or Cmd+K, that open a search for a run, a study or a worker. */
export function Palette() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey) && !event.shiftKey) {
        event.preventDefault();
        setOpen(true);
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  return (
    <>
      <button
        type="button"
        class="button button-secondary palette-button"
        aria-haspopup="dialog"
        aria-keyshortcuts={isMac ? "Meta+K" : "Control+K"}
        onClick={() => setOpen(true)}
      >
        <Icon of={Search} />
        <span class="palette-word">Search</span>
        <span class="palette-key" aria-hidden="true">
          {isMac ? "⌘K" : "Ctrl K"}
        </span>
      </button>
      {open && (
        <Dialog title="Search" onClose={() => setOpen(false)}>
          <Finder onClose={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  );
}

/** A field to type in, and the places that match: arrows choose one, Enter goes there. */
function Finder({ onClose }: { onClose: () => void }) {
  const go = useContext(GoContext);
  const account = useContext(AccountContext);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const runs = useFetched("/api/desk/runs", {}, null).data?.runs ?? [];
  const studies = useFetched("/api/desk/studies", {}, null).data?.studies ?? [];
  const workers = useWorkers(typed);
  const pages = pageEntries(placesFor((permission) => may(account, permission)));
  const found = [
    ...matching([...pages, ...runEntries(runs), ...studyEntries(studies)], typed),
    ...workerEntries(workers),
  ];
  const chosen = found[Math.min(at, found.length - 1)];
  const open = (entry: Entry) => {
    onClose();
    go(entry.to);
  };
  const press = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
    if (to !== undefined && found.length > 0) {
      event.preventDefault();
      const next = (to + found.length) % found.length;
      setAt(next);
      document.getElementById(`${id}-${found[next]?.id}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && chosen) {
      event.preventDefault();
      open(chosen);
    }
  };
  return (
    <div class="palette">
      <input
        class="input palette-field"
        role="combobox"
        aria-label="Run, study or worker"
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen && `${id}-${chosen.id}`}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder="Run, study or worker"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div class="palette-list" id={`${id}-list`} role="listbox" aria-label="Places found">
        {found.map((entry) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the chosen one
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
          <div
            key={entry.id}
            id={`${id}-${entry.id}`}
            class="palette-entry"
            role="option"
            aria-selected={entry === chosen}
            onClick={() => open(entry)}
          >
            <span class="palette-name">{entry.name}</span>
            <span class="soft small palette-about">{entry.about}</span>
            <span class="tag">{entry.kind}</span>
          </div>
        ))}
      </div>
      <p class="soft small" role="status">
        {found.length === 0 ? "Nothing matches. Workers are found by their pseudonym." : ""}
      </p>
    </div>
  );
}

const PAUSE_MS = 150;
/** Fewer letters would match nearly everybody. */
const FEWEST_LETTERS = 2;

/** The workers whose pseudonym holds what is typed, asked for once somebody pauses. */
function useWorkers(typed: string) {
  const { token } = useContext(ResearcherContext);
  const [found, setFound] = useState<Parameters<typeof workerEntries>[0]>([]);
  const text = typed.trim();
  useEffect(() => {
    setFound([]);
    if (text.length < FEWEST_LETTERS) {
      return;
    }
    const control = new AbortController();
    const timer = setTimeout(() => {
      getJson("/api/desk/workers", {}, token, control.signal, { text })
        .then(({ workers }) => setFound(workers))
        .catch(() => undefined); // the rest of the palette still helps
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [text, token]);
  return found;
}
