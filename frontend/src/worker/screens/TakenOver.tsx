import { Button } from "../../design/Button";
import { useSession, useTexts } from "../hooks";
import { StaticPage } from "./StaticPage";

/** The session was opened elsewhere. */
export function TakenOver() {
  const session = useSession();
  const { say } = useTexts();
  return (
    <StaticPage title={say("taken_over.title")}>
      <p>{say("taken_over.text")}</p>
      <div class="actions">
        <Button onClick={() => session.takeBack()}>{say("taken_over.back")}</Button>
      </div>
    </StaticPage>
  );
}
