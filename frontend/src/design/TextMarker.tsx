import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "./Button";
import { piecesOf, type Span, type TextLine, withMark, wordsOf } from "./marks";

/** What the marker says. */
export interface MarkerWords {
  how: string;
  keys: string;
  end: string;
  cancel: string;
  none: string;
  remove: string;
  removeOf: (words: string) => string;
  category: MarkerKind;
  severity: MarkerKind;
}

interface MarkerKind {
  choose: string;
  of: (words: string) => string;
}

interface Props {
  /** The id of the element that says what is marked. */
  labelledBy: string;
  lines: readonly TextLine[];
  /** The language of the texts, which says where words end. */
  language: string;
  marks: readonly Span[];
  onChange: (marks: Span[]) => void;
  categories: readonly string[];
  severities: readonly string[];
  words: MarkerWords;
}

interface Word {
  line: number;
  start: number;
  end: number;
}

/** The most marks that an answer may have. */
const MOST = 50;

/**
 * A text in which spans are marked, and the list of the marks. Spans begin and end with a word: two taps or clicks, a
 * drag of the mouse, or Enter on both. To assistive technology the text is a list of words, of which some are selected.
 */
export function TextMarker(props: Props) {
  const { labelledBy, lines, language, marks, onChange, words } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const dragged = useRef<number | null>(null);
  const [begun, setBegun] = useState<number | null>(null);
  const [at, setAt] = useState(0);
  const [reach, setReach] = useState<number | null>(null);
  const [added, setAdded] = useState<Span | null>(null);
  const pieces = useMemo(
    () => lines.map((line) => ({ ...line, pieces: piecesOf(line.text, language) })),
    [lines, language],
  );
  const all = useMemo(
    () =>
      pieces.flatMap(({ line, markable, pieces: own }): Word[] =>
        markable ? own.filter(({ isWord }) => isWord).map(({ start, end }) => ({ line, start, end })) : [],
      ),
    [pieces],
  );
  // Whoever has marked something says what it is before they go on.
  useEffect(() => {
    box.current?.querySelector<HTMLElement>("[data-added] select")?.focus();
  }, [added]);

  const span = (one: number, other: number): Word | null => {
    const [first, last] = [all[Math.min(one, other)], all[Math.max(one, other)]];
    return first && last && first.line === last.line ? { ...first, end: last.end } : null;
  };
  const finish = (one: number, other: number) => {
    const mark = span(one, other);
    setReach(null);
    setBegun(mark ? null : other); // in another line it begins again
    if (mark && marks.length < MOST) {
      onChange(withMark(marks, mark));
      setAdded(mark);
    }
  };
  const choose = (word: number) => {
    setAt(word);
    begun === null ? setBegun(word) : finish(begun, word);
  };
  const focus = (word: number) => {
    setAt(word);
    box.current?.querySelector<HTMLElement>(`[data-word="${word}"]`)?.focus();
  };
  const key = (event: KeyboardEvent) => {
    const right = box.current && getComputedStyle(box.current).direction === "rtl" ? -1 : 1;
    const steps: Record<string, () => number> = {
      ArrowRight: () => at + right,
      ArrowLeft: () => at - right,
      ArrowDown: () => wordBelow(box.current, at, 1),
      ArrowUp: () => wordBelow(box.current, at, -1),
      Home: () => 0,
      End: () => all.length - 1,
    };
    const step = steps[event.key];
    if (step) {
      focus(Math.min(Math.max(step(), 0), all.length - 1));
    } else if (event.key === "Enter" || event.key === " ") {
      choose(at);
    } else if (event.key === "Escape" && begun !== null) {
      setBegun(null);
    } else {
      return;
    }
    event.preventDefault();
  };
  const pending = span(begun ?? dragged.current ?? at, reach ?? at);
  const isPending = begun !== null || reach !== null;
  const covers = (one: Word | null, line: number, start: number, end: number) =>
    one !== null && one.line === line && one.start <= start && end <= one.end;

  let count = 0;
  return (
    <div class="marker" ref={box}>
      <p class="soft small marker-how" role="status" id={`${id}-how`}>
        {begun === null ? words.how : words.end}
        <span class="unseen"> {words.keys}</span>
        {begun !== null && (
          <button type="button" class="marker-cancel" onClick={() => setBegun(null)}>
            {words.cancel}
          </button>
        )}
      </p>
      <div
        class="marker-text"
        role="listbox"
        aria-multiselectable="true"
        aria-labelledby={labelledBy}
        aria-describedby={`${id}-how`}
        translate={false}
        onKeyDown={key}
        onPointerDown={(event) => {
          dragged.current =
            event.pointerType === "mouse" && event.button === 0 ? wordUnder(event.target) : null;
        }}
        onPointerMove={(event) => {
          const word = wordUnder(event.target);
          if (word !== null && (dragged.current !== null || begun !== null) && word !== reach) {
            setReach(word);
          }
        }}
        onPointerUp={(event) => {
          const [from, to] = [dragged.current, wordUnder(event.target)];
          dragged.current = null;
          if (from !== null && to !== null && from !== to) {
            finish(from, to);
          } else if (begun === null) {
            setReach(null);
          }
        }}
        onPointerLeave={() => {
          dragged.current = null;
          setReach(null);
        }}
        onClick={(event) => {
          const word = wordUnder(event.target);
          word !== null && choose(word);
        }}
      >
        {pieces.map(({ line, markable, pieces: own }) => (
          <p key={line} class={markable ? "marker-line" : "marker-line marker-read"} dir="auto">
            {own.map(({ start, end, text, isWord }) => {
              const marked = marks.some((mark) => covers(mark, line, start, end));
              const face = `${marked ? "marker-marked" : ""} ${isPending && covers(pending, line, start, end) ? "marker-pending" : ""}`;
              if (!isWord || !markable) {
                return (
                  <span key={start} class={markable ? face : undefined}>
                    {text}
                  </span>
                );
              }
              const word = count++;
              return (
                <span
                  key={start}
                  class={`marker-word ${face}`}
                  role="option"
                  aria-selected={marked}
                  data-word={word}
                  tabIndex={word === at ? 0 : -1}
                  onFocus={() => setAt(word)}
                >
                  {text}
                </span>
              );
            })}
          </p>
        ))}
      </div>
      {marks.length === 0 ? (
        <p class="soft small">{words.none}</p>
      ) : (
        <ol class="marker-list">
          {marks.map((mark) => (
            <MarkRow
              {...props}
              key={`${mark.line} ${mark.start} ${mark.end}`}
              mark={mark}
              isNew={mark === added}
              onRemove={() => {
                onChange(marks.filter((one) => one !== mark));
                box.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
              }}
            />
          ))}
        </ol>
      )}
    </div>
  );
}

interface RowProps extends Props {
  mark: Span;
  isNew: boolean;
  onRemove: () => void;
}

/** A mark: its words, what it is, and its removal. */
function MarkRow({ mark, marks, lines, categories, severities, words, isNew, onChange, onRemove }: RowProps) {
  const own = wordsOf(lines.find(({ line }) => line === mark.line)?.text ?? "", mark);
  const kinds = [
    { name: "category", choices: categories },
    { name: "severity", choices: severities },
  ] as const;
  return (
    <li class="marker-row" data-added={isNew ? "" : undefined}>
      <q class="marker-quote" dir="auto">
        {own}
      </q>
      <span class="marker-kinds">
        {kinds.map(
          ({ name, choices }) =>
            choices.length > 0 && (
              <select
                key={name}
                class="input"
                aria-label={words[name].of(own)}
                value={mark[name] ?? ""}
                required
                onChange={({ currentTarget }) =>
                  onChange(marks.map((one) => (one === mark ? { ...one, [name]: currentTarget.value } : one)))
                }
              >
                <option value="" disabled>
                  {words[name].choose}
                </option>
                {choices.map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </select>
            ),
        )}
        <Button kind="quiet" onClick={onRemove}>
          <span aria-hidden="true">{words.remove}</span>
          <span class="unseen">{words.removeOf(own)}</span>
        </Button>
      </span>
    </li>
  );
}

function wordUnder(target: EventTarget | null): number | null {
  const word = target instanceof Element ? target.closest<HTMLElement>("[data-word]") : null;
  return word ? Number(word.dataset.word) : null;
}

/** The word that is nearest below word `at`, or above it; the same word in the last row. */
function wordBelow(box: HTMLElement | null, at: number, way: 1 | -1): number {
  const words = [...(box?.querySelectorAll<HTMLElement>("[data-word]") ?? [])];
  const here = words[at]?.getBoundingClientRect();
  let [found, distance] = [at, Number.POSITIVE_INFINITY];
  let row: number | null = null;
  for (let next = at + way; here && next >= 0 && next < words.length; next += way) {
    const there = words[next]?.getBoundingClientRect();
    const middle = there ? (there.top + there.bottom) / 2 : 0;
    const isBeyond = way > 0 ? middle > here.bottom : middle < here.top;
    if (there && isBeyond) {
      row ??= middle;
      if (Math.abs(middle - row) > here.height / 2) {
        break;
      }
      const off = Math.abs(there.left - here.left);
      [found, distance] = off < distance ? [next, off] : [found, distance];
    }
  }
  return found;
}
