import type { Narrowing, RunAnalysis } from "../api_types";

type Look = Narrowing["points"][number];

/** How the interval of one system has narrowed: at how many ratings, from where to where. */
export interface Band {
  system: string;
  ratings: number[];
  low: (number | null)[];
  high: (number | null)[];
  z: (number | null)[];
}

/** Looks with the newest one, which was pushed. */
export function withNewest(looks: Look[], newest: RunAnalysis | null): Look[] {
  const { ratings, scores } = newest ?? { ratings: 0, scores: [] };
  const last = looks.at(-1)?.ratings ?? 0;
  return ratings > last ? [...looks, { ratings, scores }] : looks;
}

/** The bands of the systems that have a score in the last look, the highest score first. */
export function bandsOf(looks: Look[]): Band[] {
  const last = [...(looks.at(-1)?.scores ?? [])].sort((one, other) => (other.z ?? -9) - (one.z ?? -9));
  const ratings = looks.map((look) => look.ratings);
  return last.map(({ system }) => {
    const scores = looks.map((look) => look.scores.find((score) => score.system === system));
    return {
      system,
      ratings,
      low: scores.map((score) => score?.low ?? null),
      high: scores.map((score) => score?.high ?? null),
      z: scores.map((score) => score?.z ?? null),
    };
  });
}

/** The width of the widest interval at each look; null as long as a system has none. */
export function widestOf(bands: Band[]): (number | null)[] {
  const [first] = bands;
  return (first?.ratings ?? []).map((_, at) => {
    const widths = bands.map(({ low, high }) => widthAt(low[at], high[at]));
    return widths.some((width) => width === null) ? null : Math.max(...(widths as number[]));
  });
}

function widthAt(low: number | null | undefined, high: number | null | undefined): number | null {
  return low === null || low === undefined || high === null || high === undefined ? null : high - low;
}

/** So many of the positions from 0 to `length`, the first and the last among them. */
export function someOf(length: number, most: number): number[] {
  const wanted = Math.min(length, most);
  const at = (k: number) => (wanted === 1 ? length - 1 : Math.round((k * (length - 1)) / (wanted - 1)));
  return Array.from({ length: wanted }, (_, k) => at(k));
}
