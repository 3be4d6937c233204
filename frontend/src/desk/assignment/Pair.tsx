import type { ConversationDetail } from "../api_types";
import { StatusHead } from "../Status";
import { About, Incidents, isBegun, Rated, Scenario, systemOf } from "./Conversation";
import { Talk } from "./Talk";

/** Two conversations that the worker held side by side, and which of them they preferred. */
export function Pair({ records, assignment }: { records: ConversationDetail[]; assignment: string }) {
  const [left, right] = records as [ConversationDetail, ConversationDetail];
  const id = `pair-${left.number}-${left.attempt}`;
  return (
    <section class="box" aria-labelledby={id}>
      <StatusHead status={left.status}>
        <h2 id={id}>
          {left.number}. {systemOf(left)} and {systemOf(right)}
        </h2>
      </StatusHead>
      <Scenario record={left} />
      {left.choices.length > 0 && <Choices left={left} right={right} />}
      {isBegun(left) ? (
        <div class="pair">
          {records.map((record) => (
            <div key={record.position}>
              <h3>
                {record.side === "left" ? "Left" : "Right"}: {systemOf(record)}
              </h3>
              <About record={record} />
              <Incidents record={record} />
              <div class="talk">
                <Talk record={record} assignment={assignment} />
              </div>
              <Rated record={record} />
            </div>
          ))}
        </div>
      ) : (
        <p class="soft">Not begun yet.</p>
      )}
    </section>
  );
}

/** What the worker preferred, choice by choice. */
function Choices({ left, right }: { left: ConversationDetail; right: ConversationDetail }) {
  const names = { left: systemOf(left), right: systemOf(right), tie: "both about the same" };
  const whole = left.choices.length === 1;
  return (
    <div class="scenario">
      <p class="label">The worker preferred</p>
      <ul class="choices-made">
        {left.choices.map(({ turn_index, preference }) => (
          <li key={turn_index}>
            {!whole && <span class="soft small">after message {Math.floor(turn_index / 2) + 1} </span>}
            <strong>{names[preference]}</strong>
            {preference !== "tie" && <span class="soft small"> ({preference})</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
