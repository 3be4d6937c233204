import { Table } from "../../design/Table";
import type { AssignmentDetail } from "../api_types";

type WritingRow = AssignmentDetail["writing"][number];

const share = (value: number) => `${Math.round(100 * value)} %`;
const MEASURES: Record<WritingRow["measure"], [name: string, written: (value: number) => string]> = {
  pasted: ["Characters pasted", share],
  typed: ["Characters typed one at a time", share],
  pace: ["Characters a minute, without pasted ones", (value) => value.toFixed(0)],
  pause: ["Longest pause", (value) => `${value.toFixed(1)} s`],
  away: ["Times away from the page", (value) => value.toFixed(0)],
  away_seconds: ["Time away from the page", (value) => `${value.toFixed(0)} s`],
};
const COLUMNS = [
  { name: "Measure" },
  { name: "This worker", kind: "number" },
  { name: "Middle half of workers", kind: "number" },
  { name: "Median", kind: "number" },
] as const;

/** How a worker wrote, beside all of the run; nothing where it was not recorded. */
export function Writing({ writing }: { writing: WritingRow[] }) {
  const [first] = writing;
  return (
    first !== undefined && (
      <section aria-labelledby="how-they-wrote">
        <h2 id="how-they-wrote">How they wrote</h2>
        <p class="soft small">
          Beside {first.workers === 1 ? "nobody else" : `the ${first.workers} workers`} of this run of whom it
          is known. A paste is no proof of a language model; nothing is decided by these numbers.
        </p>
        <Table label="How they wrote" columns={COLUMNS} cards>
          {writing.map(({ measure, value, low, median, high }) => {
            const [name, written] = MEASURES[measure];
            const told = (number: number | null) => (number === null ? "–" : written(number));
            return (
              <tr key={measure}>
                <th scope="row">{name}</th>
                <td class="number" data-name="This worker">
                  {told(value)}
                </td>
                <td class="number" data-name="Middle half of workers">
                  {low === null ? "–" : `${told(low)} to ${told(high)}`}
                </td>
                <td class="number" data-name="Median">
                  {told(median)}
                </td>
              </tr>
            );
          })}
        </Table>
      </section>
    )
  );
}
