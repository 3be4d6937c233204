import { useState } from "preact/hooks";
import { apiAddress } from "../api";
import { JobForm } from "../jobs/JobForm";
import { FORMATS, type Format } from "./formats";

/** In which form a run is to be exported. */
export function ExportForm({ run }: { run: string }) {
  const [format, setFormat] = useState<Format>("jsonl");
  return (
    <JobForm
      address={apiAddress("/api/desk/runs/{run}/exports", { run })}
      body={() => ({ format })}
      ready={true}
      button="Export"
    >
      <p class="soft">
        Exports the run as it is now. Workers appear under their pseudonyms; their messages are not changed.
      </p>
      <fieldset class="export-formats">
        <legend class="label">Format</legend>
        {(Object.keys(FORMATS) as Format[]).map((each) => (
          <label key={each} class="job-tick">
            <input
              type="radio"
              name="format"
              value={each}
              checked={each === format}
              onChange={() => setFormat(each)}
            />
            <span>
              {FORMATS[each].name}
              <span class="soft small block">{FORMATS[each].about}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </JobForm>
  );
}
