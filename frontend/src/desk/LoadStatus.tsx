import { Skeleton } from "../design/Skeleton";

/** Says that the newest data could not be had, or that the first is on its way. */
export function LoadStatus({ failure, empty }: { failure: string | null; empty: boolean }) {
  return (
    <div role="status">
      {failure ? (
        <p class="failure">{failure}</p>
      ) : empty ? (
        <>
          <span class="unseen">Loading…</span>
          <Skeleton />
        </>
      ) : null}
    </div>
  );
}
