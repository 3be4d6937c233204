/** A span of a text: its characters from `start` to before `end`, in code points, of one line of several. */
export interface Span {
  line: number;
  start: number;
  end: number;
  category?: string;
  severity?: string;
}

/** A line of a text. Lines that are not `markable` are there to be read. */
export interface TextLine {
  line: number;
  text: string;
  markable: boolean;
}

/** A piece of a text, in code points: a word or a mark that can be chosen, or a gap between such. */
export interface Piece {
  start: number;
  end: number;
  text: string;
  isWord: boolean;
}

/** The words and marks of a text, and the gaps between them. Old browsers split at blanks. */
export function piecesOf(text: string, language: string): Piece[] {
  const segments =
    "Segmenter" in Intl
      ? Array.from(new Intl.Segmenter(language, { granularity: "word" }).segment(text), (one) => one.segment)
      : text.split(/(\s+)/u).filter((one) => one !== "");
  let start = 0;
  return segments.map((segment) => {
    const piece = { start, end: start + [...segment].length, text: segment, isWord: /\S/u.test(segment) };
    start = piece.end;
    return piece;
  });
}

/** The words of a span. */
export function wordsOf(text: string, { start, end }: Pick<Span, "start" | "end">): string {
  return [...text].slice(start, end).join("");
}

/** The marks with one more, in the order of the text; the same marks if it is there. */
export function withMark<T extends Span>(marks: readonly T[], mark: T): T[] {
  const same = ({ line, start, end }: T) => line === mark.line && start === mark.start && end === mark.end;
  return marks.some(same)
    ? [...marks]
    : [...marks, mark].sort((a, b) => a.line - b.line || a.start - b.start || a.end - b.end);
}

/** A text in pieces: those that are marked, with what they are, and those between. Where marks overlap, the first counts. */
export function markedPieces(text: string, marks: readonly Span[]): { text: string; mark: Span | null }[] {
  const ends = [0, [...text].length, ...marks.flatMap(({ start, end }) => [start, end])];
  const edges = [...new Set(ends)].sort((a, b) => a - b);
  return edges.slice(0, -1).flatMap((start, index) => {
    const end = edges[index + 1] ?? start;
    const mark = marks.find((one) => one.start <= start && end <= one.end) ?? null;
    const piece = wordsOf(text, { start, end });
    return piece ? [{ text: piece, mark }] : [];
  });
}
