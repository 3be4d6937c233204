const WIDTHS = ["92%", "78%", "85%", "64%"];

/** Lines where text will be, while it is on its way. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} style={{ width: WIDTHS[index % WIDTHS.length] }} />
      ))}
    </div>
  );
}
