import { useEffect, useState } from "preact/hooks";

/** Where tables become cards; the style sheets have the same width. */
const NARROW = "(max-width: 46rem)";

/** Whether the page is as narrow as on a phone. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => window.matchMedia(NARROW).matches);
  useEffect(() => {
    const media = window.matchMedia(NARROW);
    const hear = () => setNarrow(media.matches);
    media.addEventListener("change", hear);
    return () => media.removeEventListener("change", hear);
  }, []);
  return narrow;
}
