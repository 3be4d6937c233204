import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { askFirst } from "./api";
import { piecesOf } from "./studies/checked";

interface Question {
  text: string;
  verb: string;
  answer: (meant: boolean) => void;
}

/** Asks whether somebody means what costs money, wherever on the desk the server wants to know. */
export function Confirmation() {
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => {
    askFirst((text, verb) => new Promise((answer) => setQuestion({ text, verb, answer })));
    return () => askFirst(null);
  }, []);
  if (question === null) {
    return null;
  }
  const [about = "", ...calls] = question.text.split("\n- ");
  const close = (meant: boolean) => {
    setQuestion(null);
    question.answer(meant);
  };
  return (
    <Dialog title={`${question.verb}?`} onClose={() => close(false)}>
      <p>{inWords(about)}</p>
      {calls.length > 0 && (
        <ul class="costs">
          {calls.map((each) => (
            <li key={each}>{inWords(each)}</li>
          ))}
        </ul>
      )}
      <div class="actions">
        <Button kind="secondary" onClick={() => close(false)}>
          Cancel
        </Button>
        <Button onClick={() => close(true)}>{question.verb}</Button>
      </div>
    </Dialog>
  );
}

function inWords(text: string): ComponentChildren {
  return piecesOf(text).map(({ text: piece, code }, index) =>
    code ? <code key={index}>{piece}</code> : piece,
  );
}
