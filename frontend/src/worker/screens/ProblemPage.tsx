import { Button } from "../../design/Button";
import { useSession } from "../hooks";
import type { Problem } from "../session/problem";
import { StaticPage } from "./StaticPage";

const BUTTONS: Record<NonNullable<Problem["remedy"]>, string> = {
  retry: "Try again",
  reload: "Load the page anew",
  start_anew: "Open the study again",
};

/** The session can't be opened: why, and what to do about it. */
export function ProblemPage({ problem: { title, text, remedy } }: { problem: Problem }) {
  const session = useSession();
  const press = () => (remedy === "start_anew" ? session.startAnew() : window.location.reload());
  return (
    <StaticPage title={title}>
      <p>{text}</p>
      {remedy && (
        <div class="actions">
          <Button onClick={press}>{BUTTONS[remedy]}</Button>
        </div>
      )}
    </StaticPage>
  );
}
