import { Marked } from "./Marked";
import type { StudyCard } from "./session/protocol";

/** What is done with a worker's words beside storing them: they read it before they agree. */
export function Recorded({ study }: { study: StudyCard }) {
  return (
    <>
      {study.records_writing && (
        <p>
          <Marked of="instructions.writing" />
        </p>
      )}
      {study.moderation === "classifier" && (
        <p>
          <Marked of="instructions.moderation" />
        </p>
      )}
    </>
  );
}
