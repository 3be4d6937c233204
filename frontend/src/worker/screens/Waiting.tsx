import { useOverdue, useSession, useTexts, useTitle } from "../hooks";

/** Nothing is known yet. */
export function Waiting() {
  const { say } = useTexts();
  useTitle(say("waiting.tab"));
  const { blocked, state } = useSession();
  const long = useOverdue(true, 6_000);
  if (blocked) {
    return (
      <div class="page page-still">
        <div class="panel flow" role="alert">
          <h1>{say("waiting.blocked_title")}</h1>
          <p>{say("waiting.blocked")}</p>
        </div>
      </div>
    );
  }
  return (
    <div class="page page-still">
      <div class="waiting" role="status">
        <span class="dots" aria-hidden="true">
          <span />
          <span />
          <span />
        </span>
        <h1>{say(long || state.connection === "lost" ? "waiting.long" : "waiting.title")}</h1>
      </div>
    </div>
  );
}
