import { Fragment } from "preact";
import { useTexts } from "./hooks";
import type { TextKey, Values } from "./texts/words";

/** A text of the page with its stressed words in bold. */
export function Marked({ of, values }: { of: TextKey; values?: Values }) {
  return (
    <>
      {useTexts()
        .pieces(of, values)
        .map((piece, index) =>
          index % 2 === 1 ? (
            <strong key={index} dir="auto">
              {piece}
            </strong>
          ) : (
            <Fragment key={index}>{piece}</Fragment>
          ),
        )}
    </>
  );
}
