import { Button } from "../../design/Button";
import type { Problem } from "../../problem";
import { useSession } from "../hooks";
import { Still } from "./Still";

/** The session can't be opened: why, and what to do about it. */
export function ProblemPage({ problem }: { problem: Problem }) {
  const session = useSession();
  return (
    <Still title={problem.title}>
      <p>{problem.text}</p>
      {problem.remedy === "retry" && (
        <div class="actions">
          <Button onClick={() => window.location.reload()}>Try again</Button>
        </div>
      )}
      {problem.remedy === "afresh" && (
        <div class="actions">
          <Button onClick={() => session.afresh()}>Open the study again</Button>
        </div>
      )}
    </Still>
  );
}
