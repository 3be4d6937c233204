import type { ComponentChildren } from "preact";
import { Link } from "./Link";
import type { Route } from "./route";

interface Props {
  title: string;
  /** Where to go on from here, and what that is called. */
  back: Route;
  backTo: string;
  children: ComponentChildren;
}

/** A page that does not exist, with a way back. */
export function NotFound({ title, back, backTo, children }: Props) {
  return (
    <>
      <h1>{title}</h1>
      <p>{children}</p>
      <p>
        <Link to={back}>{backTo}</Link>
      </p>
    </>
  );
}
