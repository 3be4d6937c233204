import { useEffect, useState } from "preact/hooks";

const EVERY_MS = 10_000;

/** The time, anew every few seconds, for what tells how long something has lasted. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
