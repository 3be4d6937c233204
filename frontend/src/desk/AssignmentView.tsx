import { Fragment } from "preact";
import type { ConversationDetail, ShownItemRow, TopicRow, TurnRow } from "./api_types";
import { useFetched } from "./fetched";
import { latency } from "./format";
import { LoadStatus } from "./LoadStatus";
import { usePushed } from "./pushed";
import { changedRun } from "./run/changes";
import { WorkerActions } from "./run/WorkerActions";
import { StatusHead } from "./Status";

/** One assignment as it goes on: every conversation with its transcript, topics and ratings. */
export function AssignmentView({ run, assignment }: { run: string; assignment: string }) {
  const watched = usePushed("/api/desk/watch/runs/{run}", { run }, changedRun);
  const row = watched.data?.workers.find((other) => other.assignment === assignment);
  const { data, failure } = useFetched("/api/desk/assignments/{assignment}", { assignment }, row);
  return (
    <>
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
          {data.feedback && (
            <section class="box" aria-labelledby="feedback">
              <h2 id="feedback">Feedback</h2>
              <p class="said">{data.feedback}</p>
            </section>
          )}
          {data.conversations.map((record) => (
            <Conversation key={`${record.position}.${record.attempt}`} record={record} />
          ))}
        </>
      )}
    </>
  );
}

function Conversation({ record }: { record: ConversationDetail }) {
  const id = `conversation-${record.position}-${record.attempt}`;
  return (
    <section class="box" aria-labelledby={id}>
      <StatusHead status={record.status}>
        <h2 id={id}>
          {record.position}. {record.is_qc ? "Quality control" : record.system}
        </h2>
        <p class="soft small">
          family {record.family}
          {record.attempt > 1 && ` · attempt ${record.attempt}`}
          {record.item && ` · ${placeOf(record.item)}`}
        </p>
      </StatusHead>
      {record.incidents.length > 0 && (
        <ul class="incidents">
          {record.incidents.map((incident, index) => (
            <li key={index}>{incident}</li>
          ))}
        </ul>
      )}
      {record.item || record.turns.length > 0 || record.topic_marks.length > 0 ? (
        <div class="record">
          <div class="talk">{record.item ? <Read item={record.item} /> : <Talk record={record} />}</div>
          <aside class="record-side">
            {record.ratings.length > 0 && <Ratings ratings={record.ratings} />}
            {record.persona.length > 0 && (
              <div>
                <h3>Persona</h3>
                <ul class="persona">
                  {record.persona.map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                  ))}
                </ul>
              </div>
            )}
          </aside>
        </div>
      ) : (
        <p class="soft">Not begun yet.</p>
      )}
    </section>
  );
}

const KINDS = { ordinary: "as it is", bad: "bad twin", repeat: "repeat", reference: "reference" };

function placeOf({ kind, twin_of }: ShownItemRow) {
  return twin_of === null ? KINDS[kind] : `${KINDS[kind]} of number ${twin_of}`;
}

/** What the worker was to read and rate, and how they have improved it. */
function Read({ item: { content, edited_text } }: { item: ShownItemRow }) {
  return (
    <>
      {content.context && <p class="said soft">{content.context}</p>}
      {content.text && <p class="said">{content.text}</p>}
      {content.lines?.map((line, index) => (
        <Fragment key={index}>
          {content.topics
            ?.filter((mark) => mark.line === index)
            .map(({ topic }) => (
              <p key={topic} class="mark">
                <strong>{topic}</strong>
              </p>
            ))}
          <div class={`line line-${line.author}`}>
            <span class="unseen">{line.author === "worker" ? "Person: " : "Chatbot: "}</span>
            <p>{line.text}</p>
          </div>
        </Fragment>
      ))}
      {edited_text && (
        <div>
          <h3>As the worker improved it</h3>
          <p class="said">{edited_text}</p>
        </div>
      )}
    </>
  );
}

/** The lines in order, each topic mark before the input of the round after it. */
function Talk({ record }: { record: ConversationDetail }) {
  const marksAt = (round: number) => record.topic_marks.filter((mark) => mark.round === round);
  const inputs = record.turns.filter((turn) => turn.author === "worker").length;
  let round = 0;
  return (
    <>
      {record.turns.map((turn) => {
        const marks = turn.author === "worker" ? marksAt(round) : [];
        round += turn.author === "worker" ? 1 : 0;
        return (
          <Fragment key={turn.turn_index}>
            <Marks marks={marks} />
            <Line turn={turn} />
          </Fragment>
        );
      })}
      <Marks marks={marksAt(inputs)} />
    </>
  );
}

function Marks({ marks }: { marks: TopicRow[] }) {
  return marks.map((mark, index) => (
    <p key={index} class="mark">
      <strong>{mark.topic}</strong>
      <span class="soft">
        {mark.how ?? "opening topic"} · worker: {mark.opinion}
        {mark.bot_opinion && `, chatbot: ${mark.bot_opinion}`}
      </span>
    </p>
  ));
}

function Line({ turn }: { turn: TurnRow }) {
  return (
    <div class={`line line-${turn.author}`}>
      <span class="unseen">{turn.author === "worker" ? "Worker: " : "Chatbot: "}</span>
      <p>{turn.text}</p>
      {turn.latency_ms !== null && <span class="soft line-time">{latency(turn.latency_ms)}</span>}
    </div>
  );
}

function Ratings({ ratings }: { ratings: ConversationDetail["ratings"] }) {
  return (
    <div>
      <h3>Ratings</h3>
      <dl class="ratings">
        {ratings.map(({ criterion, statement, value }) => (
          <div key={criterion} title={statement}>
            <dt>{criterion}</dt>
            <dd>
              <span class="rating-bar" aria-hidden="true">
                <span style={{ width: `${value}%` }} />
              </span>
              <span class="number">{value}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
