import { Fragment } from "preact";
import { markedPieces } from "../../design/marks";
import type { AnswerRow, MessageReportRow, ShownItemRow } from "../api_types";
import { Reports } from "./Reports";

const KINDS = { ordinary: "as it is", bad: "bad twin", repeat: "repeat", reference: "reference" };

/** Which kind of item it is, and whose twin. */
export function placeOf({ kind, twin_of }: ShownItemRow) {
  return twin_of === null ? KINDS[kind] : `${KINDS[kind]} of number ${twin_of}`;
}

interface Props {
  item: ShownItemRow;
  reports: MessageReportRow[];
  /** The answers of the worker, whose marks are shown in the texts. */
  answers: AnswerRow[];
  assignment: string;
}

/** What the worker was to read and rate, and how they have improved it. */
export function Read({ item: { content, edited_text }, reports, answers, assignment }: Props) {
  const marksIn = (marked: AnswerRow["marked"], line: number) =>
    answers
      .filter((one) => one.marked === marked)
      .flatMap(({ marks }) => marks ?? [])
      .filter((mark) => mark.line === line);
  const reported = (line: number) => <Reports assignment={assignment} reports={reports} line={line} />;
  return (
    <>
      {content.context && (
        <p class="said soft">
          <Evidence text={content.context} marks={content.paragraphs?.length ? [] : marksIn("context", 0)} />
        </p>
      )}
      {content.text && (
        <p class="said">
          <Evidence text={content.text} marks={marksIn("output", 0)} />
        </p>
      )}
      {content.text && reported(0)}
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
            <p>
              <Evidence text={line.text} marks={marksIn("output", index)} />
            </p>
          </div>
          {reported(index)}
        </Fragment>
      ))}
      {content.paragraphs?.map((paragraph, line) => (
        <p key={line} class="said soft">
          <Evidence text={paragraph} marks={marksIn("context", line)} />
        </p>
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

/** A text in which what the worker has marked is highlighted; what it was marked as is read out, too. */
export function Evidence({ text, marks }: { text: string; marks: NonNullable<AnswerRow["marks"]> }) {
  return (
    <>
      {markedPieces(text, marks).map(({ text: piece, mark }, index) => {
        const kind = [mark?.category, mark?.severity].filter(Boolean).join(", ");
        return mark === null ? (
          piece
        ) : (
          <mark key={index} class="evidence" title={kind || undefined}>
            {piece}
            {kind && <span class="unseen"> ({kind})</span>}
          </mark>
        );
      })}
    </>
  );
}
