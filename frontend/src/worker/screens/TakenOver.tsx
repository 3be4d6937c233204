import { Button } from "../../design/Button";
import { useSession } from "../hooks";
import { StaticPage } from "./StaticPage";

/** The session was opened elsewhere. */
export function TakenOver() {
  const session = useSession();
  return (
    <StaticPage title="This session is open in another tab">
      <p>It can only be used in one place at a time. Everything you wrote is there, nothing is lost.</p>
      <div class="actions">
        <Button onClick={() => session.takeBack()}>Use it here instead</Button>
      </div>
    </StaticPage>
  );
}
