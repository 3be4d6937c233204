import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { GoContext, type Route, routeOf } from "../route";
import type { Editor } from "./editor";

/** Asks before this page is left with changes that are not saved. */
export function LeaveGuard({ editor }: { editor: Editor }) {
  const go = useContext(GoContext);
  const [to, setTo] = useState<Route | null>(null);
  const { dirty } = editor;
  useEffect(() => {
    if (!dirty) {
      return undefined;
    }
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    const ask = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.("a");
      const next = link ? routeOf(link.pathname) : null;
      if (next?.page === "study" && next.study === editor.saved.name) {
        return; // another step of it: nothing is left
      }
      const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
      if (link && plain && link.origin === window.location.origin) {
        event.preventDefault();
        event.stopPropagation();
        setTo(next);
      }
    };
    window.addEventListener("beforeunload", warn);
    document.addEventListener("click", ask, true);
    return () => {
      window.removeEventListener("beforeunload", warn);
      document.removeEventListener("click", ask, true);
    };
  }, [dirty]);
  if (!to) {
    return null;
  }
  return (
    <Dialog title="Leave without saving?" onClose={() => setTo(null)}>
      <p>What you changed is kept in this tab until you come back or close it.</p>
      <div class="actions">
        <Button kind="secondary" onClick={() => setTo(null)}>
          Stay
        </Button>
        <Button kind="secondary" onClick={() => go(to)}>
          Leave
        </Button>
        <Button
          onClick={() => {
            void editor.save().then((done) => (done ? go(to) : setTo(null)));
          }}
        >
          Save and leave
        </Button>
      </div>
    </Dialog>
  );
}
