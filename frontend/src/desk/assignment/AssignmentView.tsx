import type { ConversationDetail } from "../api_types";
import { useFetched } from "../fetched";
import { LoadStatus } from "../LoadStatus";
import { usePushed } from "../pushed";
import { changedRun } from "../run/changes";
import { WorkerActions } from "../run/WorkerActions";
import { StatusHead } from "../Status";
import { Answers } from "./Answers";
import { Conversation } from "./Conversation";
import { Pair } from "./Pair";
import { Writing } from "./Writing";
import "./assignment.css";

/** One assignment as it goes on: every conversation with its transcript, topics and ratings. */
export function AssignmentView({ run, assignment }: { run: string; assignment: string }) {
  const watched = usePushed("/api/desk/watch/runs/{run}", { run }, changedRun);
  const row = watched.data?.workers.find((other) => other.assignment === assignment);
  const { data, failure } = useFetched("/api/desk/assignments/{assignment}", { assignment }, row);
  return (
    <>
      {(failure ?? watched.failure) && !data && <h1>{assignment}</h1>}
      <LoadStatus failure={failure ?? watched.failure} empty={data === null} />
      {data && (
        <>
          <StatusHead status={data.status}>
            <h1>
              {data.worker}
              {data.simulated && <span class="tag">simulated</span>}
            </h1>
            <p class="soft small">Assignment {data.assignment}</p>
          </StatusHead>
          {row?.excluded && <p class="failure">Left out of every analysis: {row.excluded}</p>}
          {row && <WorkerActions row={row} />}
          <Answers title="Questionnaire before" answers={data.before} />
          {together(data.conversations).map((records) =>
            records.length === 2 ? (
              <Pair key={keyOf(records)} records={records} assignment={assignment} />
            ) : (
              records.map((record) => (
                <Conversation key={keyOf([record])} record={record} assignment={assignment} />
              ))
            ),
          )}
          <Writing writing={data.writing} />
          <Answers title="Questionnaire after" answers={data.after} />
          {data.feedback && (
            <section class="box" aria-labelledby="feedback">
              <h2 id="feedback">Feedback</h2>
              <p class="said">{data.feedback}</p>
            </section>
          )}
        </>
      )}
    </>
  );
}

/** Conversations by the number under which the worker knew them: two side by side are together. */
export function together(conversations: ConversationDetail[]): ConversationDetail[][] {
  const groups = new Map<string, ConversationDetail[]>();
  for (const record of conversations) {
    const key = keyOf([record]);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()];
}

function keyOf(records: ConversationDetail[]): string {
  return records
    .slice(0, 1)
    .map(({ number, attempt }) => `${number}.${attempt}`)
    .join();
}
