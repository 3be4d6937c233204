/** A moment that the server sent. Its times are UTC, with or without saying so. */
export function moment(text: string): Date {
  return new Date(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

const AGES: [seconds: number, name: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
];

/** How long ago, roughly: "12 min ago". */
export function ago(text: string | null, now: Date = new Date()): string {
  if (!text) {
    return "–";
  }
  const seconds = Math.max(0, (now.getTime() - moment(text).getTime()) / 1000);
  for (const [length, name] of AGES) {
    if (seconds >= length) {
      return `${Math.floor(seconds / length)} ${name} ago`;
    }
  }
  return "just now";
}

/** A date and time as the researcher's locale writes it. */
export function when(text: string | null): string {
  return text ? moment(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "–";
}

/** Minutes between two moments. */
export function minutes(from: string | null, to: string | null): string {
  if (!from || !to) {
    return "–";
  }
  return `${((moment(to).getTime() - moment(from).getTime()) / 60_000).toFixed(1)} min`;
}

/** Milliseconds for a reader. */
export function latency(ms: number | null): string {
  if (ms === null) {
    return "–";
  }
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
