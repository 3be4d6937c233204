import { inFull } from "../design/dates";

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

/** A date and time as the researcher's locale writes it, with the zone that it is in. */
export function when(text: string | null): string {
  return text ? inFull(moment(text)) : "–";
}

/** How long something has lasted, roughly: "12 min". */
export function lasting(text: string | null, now: Date): string {
  return text ? ago(text, now).replace(" ago", "").replace("just now", "< 1 min") : "–";
}

/** Minutes in words: "40 min", "3 h 20 min". */
export function inMinutes(number: number): string {
  const hours = Math.floor(number / 60);
  const rest = number % 60;
  return [hours ? `${hours} h` : "", rest || !hours ? `${rest} min` : ""].filter(Boolean).join(" ");
}

/** Minutes from a moment to a later one; none where the page's clock has not come so far yet. */
export function minutes(from: string | null, to: string | null): string {
  if (!from || !to) {
    return "–";
  }
  const passed = Math.max(0, moment(to).getTime() - moment(from).getTime());
  return `${(passed / 60_000).toFixed(1)} min`;
}

/** Milliseconds for a reader. */
export function latency(ms: number | null): string {
  if (ms === null) {
    return "–";
  }
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** A score with its sign. */
export function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

/** A text that begins with a capital letter. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
