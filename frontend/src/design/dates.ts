const FULL: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
};

/** A moment as the reader's locale writes it, with the zone that it is in. */
export function inFull(at: Date): string {
  return at.toLocaleString(undefined, FULL);
}

/** A moment in few letters: the time of day today, with the day this year, and the date alone before. */
export function compact(at: Date, now: Date = new Date()): string {
  const time = { hour: "2-digit", minute: "2-digit" } as const;
  const day = { month: "short", day: "numeric" } as const;
  if (at.getFullYear() !== now.getFullYear()) {
    return at.toLocaleDateString(undefined, { ...day, year: "numeric" });
  }
  return at.toDateString() === now.toDateString()
    ? at.toLocaleTimeString(undefined, time)
    : at.toLocaleString(undefined, { ...day, ...time });
}
