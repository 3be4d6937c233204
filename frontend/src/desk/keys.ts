import { useEffect, useRef } from "preact/hooks";

/** Have single keys do something while this is shown; not where somebody writes, chooses, or answers a dialog. */
export function useKeys(actions: Record<string, () => void>): void {
  const newest = useRef(actions);
  newest.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const action = newest.current[event.key];
      const element = event.target as HTMLElement;
      const isTaken =
        event.ctrlKey || event.metaKey || event.altKey || element.closest("input, textarea, select, dialog");
      if (action && !isTaken) {
        event.preventDefault();
        action();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
