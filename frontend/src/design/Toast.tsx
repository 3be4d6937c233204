import { CircleAlert, CircleCheck } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./Icon";

interface Told {
  text: string;
  failed: boolean;
  number: number;
}

const SHOWN_MS = 5_000;
let show: ((text: string, failed: boolean) => void) | null = null;

/** Say what has happened, for some seconds, at the foot of the page. */
export function toast(text: string, { failed = false } = {}): void {
  show?.(text, failed);
}

/** Shows what `toast` says: the newest, until it has been read. Stands once on a page. */
export function Toasts() {
  const [told, setTold] = useState<Told | null>(null);
  useEffect(() => {
    show = (text, failed) => setTold((before) => ({ text, failed, number: (before?.number ?? 0) + 1 }));
    return () => {
      show = null;
    };
  }, []);
  useEffect(() => {
    const timer = told ? setTimeout(() => setTold(null), SHOWN_MS) : undefined;
    return () => clearTimeout(timer);
  }, [told]);
  return (
    <div class="toasts" aria-live="polite">
      {told && <Toast key={told.number} text={told.text} failed={told.failed} />}
    </div>
  );
}

/** A sentence that says what has happened. */
export function Toast({ text, failed }: { text: string; failed: boolean }) {
  return (
    <p class={failed ? "toast toast-failed" : "toast"}>
      <Icon of={failed ? CircleAlert : CircleCheck} />
      {text}
    </p>
  );
}
