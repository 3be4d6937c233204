import { Fragment } from "preact";
import type { ConversationDetail, Mark, PointRow, TopicRow, TurnRow } from "../api_types";
import { latency } from "../format";
import { Flags } from "./Flags";
import { Evidence } from "./Read";
import { Reports } from "./Reports";

/** The lines in order, each topic mark before the input of the round after it. */
export function Talk({ record, assignment }: { record: ConversationDetail; assignment: string }) {
  const marksAt = (round: number) => record.topic_marks.filter((mark) => mark.round === round);
  const marksIn = (line: number) =>
    record.answers
      .filter(({ marked }) => marked === "output")
      .flatMap(({ marks }) => marks ?? [])
      .filter((mark) => mark.line === line);
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
            <Line turn={turn} marks={marksIn(turn.turn_index)} />
            <Flags assignment={assignment} record={record} turn={turn} />
            <Reports assignment={assignment} reports={record.reports} line={turn.turn_index} />
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

function Line({ turn, marks }: { turn: TurnRow; marks: Mark[] }) {
  return (
    <div class={`line line-${turn.author}`}>
      <span class="unseen">{turn.author === "worker" ? "Worker: " : "Chatbot: "}</span>
      <p>
        <Evidence text={turn.text} marks={marks} />
      </p>
      {turn.latency_ms !== null && <span class="soft line-time">{latency(turn.latency_ms)}</span>}
      {turn.pasted !== null && turn.pasted > 0 && (
        <span class="line-rating">{turn.pasted} characters pasted</span>
      )}
      {turn.flags
        .filter(({ by }) => by === "words")
        .map(({ reason }) => (
          <span key={reason} class="line-flag">
            Offensive words: {reason}
          </span>
        ))}
      {turn.rating !== null && (
        <span class="line-rating">
          <span class="unseen">rated </span>
          {inWords(turn.rating)}
        </span>
      )}
    </div>
  );
}

/** How the worker rated a reply, as it was asked. */
function inWords({ point, points }: PointRow): string {
  if (points === 2) return point === 2 ? "thumb up" : "thumb down";
  return `${point} of ${points}`;
}
