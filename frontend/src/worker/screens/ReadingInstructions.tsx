import { judgedOn } from "../answer_kinds";
import { useTexts } from "../hooks";
import type { StudyCard } from "../session/protocol";

/** What a study asks of somebody who rates what others have said or written. */
export function ReadingInstructions({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  return (
    <>
      <p class="lead">{say("instructions.read_lead", { n: study.conversations })}</p>
      <ol class="way">
        <li>
          <h2>{say("instructions.read_title")}</h2>
          <p>{say("instructions.read")}</p>
        </li>
        <li>
          <h2>{say("instructions.say_title")}</h2>
          {study.correctness && <p>{say("instructions.say_correctness")}</p>}
          {study.criteria.length > 0 && (
            <p>{say("instructions.say", { how: say(`instructions.on_${judgedOn(study.criteria)}`) })}</p>
          )}
        </li>
        {study.post_edit !== null && (
          <li>
            <h2>{say("instructions.improve_title")}</h2>
            <p>{say("instructions.improve")}</p>
          </li>
        )}
        <li>
          <h2>{say("instructions.on_title")}</h2>
          <p>{say("instructions.on")}</p>
        </li>
      </ol>
    </>
  );
}
