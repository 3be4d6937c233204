import { useState } from "preact/hooks";
import { Button } from "../design/Button";
import { useSession, useTexts } from "./hooks";

const READ = "words-read";

/** What the researchers have to tell, until the worker has put it away. */
export function ResearchersWords() {
  const { state, drafts } = useSession();
  const { say } = useTexts();
  const [readNow, setRead] = useState<number[]>([]);
  const read = [...(drafts.get<number[]>(READ) ?? []), ...readNow];
  const putAway = (notice: number) => {
    drafts.set(READ, [...read, notice]);
    setRead([...read, notice]);
  };
  return (
    <div class="words" role="status">
      {state.words
        .filter(({ notice }) => !read.includes(notice))
        .map(({ notice, text }) => (
          <div key={notice} class="words-card">
            <p class="label small">{say("frame.words")}</p>
            <p class="words-text" dir="auto">
              {text}
            </p>
            <Button kind="secondary" onClick={() => putAway(notice)}>
              {say("frame.put_away")}
            </Button>
          </div>
        ))}
    </div>
  );
}
