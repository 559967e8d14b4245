/** The kinds of spans. `host`: a host in a phase. */
type SpanKind = 'run' | 'observation' | 'phase' | 'host' | 'change' | 'wait' | 'command';

/** `cut off`: the run ended, or its record does, before it did. */
export type Outcome = 'done' | 'failed' | 'cut off';

export type Attributes = Readonly<Record<string, string | number>>;

/** Something of a run that lasted. Times in ms since the epoch. */
export interface Span {
  /** 0 is the run itself. */
  readonly id: number;
  /** Undefined for the run itself. */
  readonly parent: number | undefined;
  /** Missing: it is about the whole run. */
  readonly host?: string;
  readonly kind: SpanKind;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: Outcome;
  readonly attributes: Attributes;
}

/** Something of a run that happened at once. */
export interface Moment {
  readonly atMs: number;
  readonly host?: string;
  /** As that of its event. */
  readonly kind: string;
  readonly name: string;
}

/** A span that has begun. */
export type OpenSpan = Omit<Span, 'endMs' | 'outcome'>;

type Opened = Omit<OpenSpan, 'id' | 'attributes' | 'parent'> & Partial<Pick<OpenSpan, 'attributes' | 'parent'>>;

/** The spans of a run, as they begin and end. */
export interface SpanList {
  /** Begins a span. The first one is the run; without `parent`, others are parts of it. */
  readonly open: (given: Opened) => OpenSpan;
  /**
   * Ends a span that has begun and not ended; anything else is left as it is. It may turn out to have begun earlier.
   */
  readonly close: (
    span: OpenSpan | undefined,
    endMs: number,
    outcome: Outcome,
    more?: { readonly startMs?: number; readonly attributes?: Attributes },
  ) => void;
  /** All spans by their ids; those that have not ended are cut off. */
  readonly all: (endMs: number) => readonly Span[];
}

/** No spans yet. */
export function spanList(): SpanList {
  const begun = new Map<number, OpenSpan>();
  const done: Span[] = [];
  let next = 0;
  const close: SpanList['close'] = (span, endMs, outcome, { startMs = span?.startMs, attributes } = {}) => {
    if (span === undefined || startMs === undefined || !begun.delete(span.id)) return;
    done.push({
      ...span,
      startMs,
      endMs: Math.max(endMs, startMs),
      outcome,
      attributes: { ...span.attributes, ...attributes },
    });
  };
  return {
    open(given) {
      const id = next++;
      const span = { parent: id === 0 ? undefined : 0, attributes: {}, ...given, id };
      begun.set(id, span);
      return span;
    },
    close,
    all(endMs) {
      for (const span of [...begun.values()]) close(span, endMs, 'cut off');
      return done.toSorted((a, b) => a.id - b.id);
    },
  };
}
