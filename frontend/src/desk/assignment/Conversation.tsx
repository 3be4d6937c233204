import type { ConversationDetail } from "../api_types";
import { incidentName } from "../incidents";
import { StatusHead } from "../Status";
import { AnswerList } from "./Answers";
import { placeOf, Read } from "./Read";
import { Talk } from "./Talk";

/** A conversation that stands by itself. */
export function Conversation({ record, assignment }: { record: ConversationDetail; assignment: string }) {
  const id = `conversation-${record.position}-${record.attempt}`;
  return (
    <section class="box" aria-labelledby={id}>
      <StatusHead status={record.status}>
        <h2 id={id}>
          {record.number}. {systemOf(record)}
        </h2>
        <About record={record} />
      </StatusHead>
      <Scenario record={record} />
      <Incidents record={record} />
      {isBegun(record) ? (
        <div class="record">
          <div class="talk">
            {record.item ? (
              <Read
                item={record.item}
                reports={record.reports}
                answers={record.answers}
                assignment={assignment}
              />
            ) : (
              <Talk record={record} assignment={assignment} />
            )}
          </div>
          <aside class="record-side">
            <Rated record={record} />
          </aside>
        </div>
      ) : (
        <p class="soft">Not begun yet.</p>
      )}
    </section>
  );
}

export function systemOf({ is_qc, system }: ConversationDetail): string {
  return is_qc ? "Quality control" : system;
}

export function isBegun({ item, turns, topic_marks }: ConversationDetail): boolean {
  return item !== null || turns.length > 0 || topic_marks.length > 0;
}

/** The family of a system, and what else marks its conversation. */
export function About({ record }: { record: ConversationDetail }) {
  return (
    <p class="soft small">
      family {record.family}
      {record.attempt > 1 && ` · attempt ${record.attempt}`}
      {record.item && ` · ${placeOf(record.item)}`}
    </p>
  );
}

/** The situation or task that the worker was given; nothing where the study has none. */
export function Scenario({ record: { scenario } }: { record: ConversationDetail }) {
  return (
    scenario && (
      <div class="scenario">
        <p class="label">
          Scenario <code class="soft">{scenario.label}</code>
        </p>
        <p class="said">{scenario.text}</p>
      </div>
    )
  );
}

/** What went wrong. */
export function Incidents({ record: { incidents } }: { record: ConversationDetail }) {
  return (
    incidents.length > 0 && (
      <ul class="incidents">
        {incidents.map(({ kind, text }, index) => (
          <li key={index}>
            {incidentName(kind)}: {text}
          </li>
        ))}
      </ul>
    )
  );
}

/** How a conversation was rated, what else was asked about it, and whom the system played. */
export function Rated({ record }: { record: ConversationDetail }) {
  return (
    <>
      {record.ratings.length > 0 && <Ratings ratings={record.ratings} />}
      {record.answers.length > 0 && (
        <div>
          <h3>Answers</h3>
          <AnswerList answers={record.answers} />
        </div>
      )}
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
    </>
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
