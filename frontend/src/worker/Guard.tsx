import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button } from "../design/Button";
import { useSession, useTexts } from "./hooks";

interface Props {
  /** What is drawn, as the server is told. */
  part: string;
  fallback: ComponentChildren;
  children: ComponentChildren;
}

/** Draws `fallback` where drawing the children fails, and tells the server. What is around it goes on working. */
export function Guard({ part, fallback, children }: Props) {
  const session = useSession();
  const [error] = useErrorBoundary((error: unknown) => session.failedToDraw(part, error));
  return <>{error ? fallback : children}</>;
}

/** In place of a screen that could not be drawn. */
export function BrokenScreen() {
  const { say } = useTexts();
  return (
    <div class="page page-still">
      <div class="panel flow" role="alert">
        <h1>{say("broken.title")}</h1>
        <p>{say("broken.text")}</p>
        <div class="actions">
          <Button onClick={() => window.location.reload()}>{say("problem.reload")}</Button>
        </div>
      </div>
    </div>
  );
}
