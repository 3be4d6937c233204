import { Button } from "../../design/Button";
import { useSession } from "../hooks";
import type { Problem } from "../session/problem";
import { StaticPage } from "./StaticPage";

/** The session can't be opened: why, and what to do about it. */
export function ProblemPage({ problem }: { problem: Problem }) {
  const session = useSession();
  return (
    <StaticPage title={problem.title}>
      <p>{problem.text}</p>
      {problem.remedy === "retry" && (
        <div class="actions">
          <Button onClick={() => window.location.reload()}>Try again</Button>
        </div>
      )}
      {problem.remedy === "start_anew" && (
        <div class="actions">
          <Button onClick={() => session.startAnew()}>Open the study again</Button>
        </div>
      )}
    </StaticPage>
  );
}
