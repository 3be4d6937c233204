import { Marked } from "./Marked";

/** Why an answer to a test question was right, or wrong. */
export function Explanation({ of, why }: { of: "tutorial.right" | "tutorial.wrong"; why: string }) {
  return (
    <div class={`panel panel-calm ${of === "tutorial.right" ? "panel-right" : ""}`} role="status">
      <p>
        <Marked of={of} values={{ why }} />
      </p>
    </div>
  );
}
