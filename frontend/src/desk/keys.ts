import { useEffect, useRef, useState } from "preact/hooks";
import { inLocalStorage } from "../shared/storage";

const kept = inLocalStorage("candor-desk:");
const OFF = "single-keys-off";
const changed = new EventTarget();

/** Whether single keys do something, and a way to switch them: spoken words would press them, too (WCAG 2.1.4). */
export function useSingleKeys(): { on: boolean; turn: (on: boolean) => void } {
  const [on, setOn] = useState(isOn);
  useEffect(() => {
    const hear = () => setOn(isOn());
    changed.addEventListener("change", hear);
    return () => changed.removeEventListener("change", hear);
  }, []);
  const turn = (wanted: boolean) => {
    kept.set(OFF, !wanted);
    changed.dispatchEvent(new Event("change"));
  };
  return { on, turn };
}

function isOn(): boolean {
  return kept.get<boolean>(OFF) !== true;
}

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
      if (action && !isTaken && isOn()) {
        event.preventDefault();
        action();
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
