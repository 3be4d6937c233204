/** Says that the newest data could not be had, or that the first is on its way. */
export function Trouble({ trouble, empty }: { trouble: string | null; empty: boolean }) {
  return (
    <div role="status">
      {trouble ? <p class="trouble">{trouble}</p> : empty ? <p class="soft">Loading…</p> : null}
    </div>
  );
}
