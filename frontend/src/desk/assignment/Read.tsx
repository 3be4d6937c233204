import { Fragment } from "preact";
import type { MessageReportRow, ShownItemRow } from "../api_types";
import { Reports } from "./Reports";

const KINDS = { ordinary: "as it is", bad: "bad twin", repeat: "repeat", reference: "reference" };

/** Which kind of item it is, and whose twin. */
export function placeOf({ kind, twin_of }: ShownItemRow) {
  return twin_of === null ? KINDS[kind] : `${KINDS[kind]} of number ${twin_of}`;
}

interface Props {
  item: ShownItemRow;
  reports: MessageReportRow[];
  assignment: string;
}

/** What the worker was to read and rate, and how they have improved it. */
export function Read({ item: { content, edited_text }, reports, assignment }: Props) {
  const reported = (line: number) => <Reports assignment={assignment} reports={reports} line={line} />;
  return (
    <>
      {content.context && <p class="said soft">{content.context}</p>}
      {content.text && <p class="said">{content.text}</p>}
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
            <p>{line.text}</p>
          </div>
          {reported(index)}
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
