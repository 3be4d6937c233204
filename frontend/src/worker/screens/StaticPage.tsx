import type { ComponentChildren } from "preact";
import { Brand } from "../Brand";
import { Heading } from "../Heading";
import { useTitle } from "../hooks";

/** A page on which nothing more happens by itself: a heading, a few words, at most a button. */
export function StaticPage({ title, children }: { title: string; children: ComponentChildren }) {
  useTitle(title);
  return (
    <div class="frame">
      <header class="top">
        <Brand />
      </header>
      <main class="main">
        <div class="page page-still">
          <div class="panel flow">
            <Heading>{title}</Heading>
            {children}
          </div>
        </div>
      </main>
    </div>
  );
}
