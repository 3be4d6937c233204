import { useOverdue, useSession, useTitle } from "../hooks";

/** Nothing is known yet. */
export function Waiting() {
  useTitle("Connecting");
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
        <h1>{long || connection === "lost" ? "Still connecting. We keep trying…" : "Connecting…"}</h1>
      </div>
    </div>
  );
}
