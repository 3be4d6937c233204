import { Heading } from "../Heading";
import type { StudyCard } from "../session/protocol";

/** What a study asks of somebody who rates what others have said or written. */
export function ReadingInstructions({ study }: { study: StudyCard }) {
  return (
    <>
      <div>
        <p class="kicker">{study.title}</p>
        <Heading>Welcome. Here is how it works</Heading>
      </div>
      <p class="lead">
        You will read {study.conversations} short pieces, one after the other, and tell us right after each
        one what you think of it.
      </p>
      <ol class="way">
        <li>
          <h2>Read</h2>
          <p>Each page shows one piece: a conversation with a chatbot, or a text. Read all of it.</p>
        </li>
        <li>
          <h2>Say what you think</h2>
          <p>
            Below it are a few statements. Say on a slider how far you agree. There are no right answers, only
            your honest ones.
          </p>
        </li>
        {study.post_edit !== null && (
          <li>
            <h2>Make it better</h2>
            <p>If a text could be better, you are asked to improve it. Change only what is wrong.</p>
          </li>
        )}
        <li>
          <h2>Go on</h2>
          <p>
            You can’t go back, so take your time. Some pieces may be like ones you have seen: just rate each
            as you find it.
          </p>
        </li>
      </ol>
    </>
  );
}
