import { useContext, useEffect, useState } from "preact/hooks";
import { backoff } from "../shared/backoff";
import { Failed, getStream, Unauthorised } from "./api";
import type { Pushed } from "./api_types";
import { ResearcherContext } from "./polled";

export interface Watched<T> {
  data: T | null;
  /** Why nothing new comes; what came before stays. */
  failure: string | null;
}
