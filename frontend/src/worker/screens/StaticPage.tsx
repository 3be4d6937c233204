import type { ComponentChildren } from "preact";
import { Wordmark } from "../../design/Wordmark";
import { useHeading, useTitle } from "../hooks";

interface Props {
  title: string;
  children: ComponentChildren;
}

/** A page on which nothing more happens by itself: a heading, a few words, at most a button. */
export function StaticPage({ title, children }: Props) {
  useTitle(title);
  const heading = useHeading();
  return (
    <div class="frame">
      <header class="top">
        <Wordmark />
      </header>
      <main class="main">
        <div class="page page-still">
          <div class="panel flow">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {children}
          </div>
        </div>
      </main>
    </div>
  );
}
