import { useOverdue, useSession, useTexts, useTitle } from "../hooks";

/** Nothing is known yet. */
export function Waiting() {
  const { say } = useTexts();
  useTitle(say("waiting.tab"));
  const { connection } = useSession().state;
  const long = useOverdue(true, 6_000);
  return (
    <div class="page page-still">
      <div class="waiting" role="status">
        <span class="dots" aria-hidden="true">
          <span />
          <span />
          <span />
        </span>
        <h1>{say(long || connection === "lost" ? "waiting.long" : "waiting.title")}</h1>
      </div>
    </div>
  );
}
