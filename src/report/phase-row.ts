import { crowd } from './crowd.ts';
import { visible } from './visible.ts';

/** Hosts of a phase that have a row each; a phase of more is a crowd. */
const ROWS = 8;

/** Draws one row. */
interface Drawing {
  readonly start: () => void;
  readonly title: (text: string) => void;
  /** Lines below the title. */
  readonly below: (lines: readonly string[]) => void;
}

/** Something that one row of the tree waits for. */
export interface Row {
  readonly name: string;
  /** Rejects if it failed or was cut off. */
  readonly settled: Promise<'done' | 'not begun'>;
  /** Draws the row from now on; what it shows already is drawn at once. */
  readonly drawBy: (drawing: Drawing) => void;
}

interface OpenRow extends Row, Drawing {
  readonly done: () => void;
  readonly fail: (reason: string) => void;
  /** The run is over: a row that has begun and not ended was cut off. */
  readonly close: () => void;
}

function openRow(name: string): OpenRow {
  let settle!: (how: 'done' | 'not begun') => void;
  let reject!: (error: Error) => void;
  const settled = new Promise<'done' | 'not begun'>((resolve, refuse) => {
    settle = resolve;
    reject = refuse;
  });
  settled.catch(() => undefined);
  let drawing: Drawing | undefined;
  let isStarted = false;
  let text: string | undefined;
  let under: readonly string[] = [];
  return {
    name,
    settled,
    start: () => {
      isStarted = true;
      drawing?.start();
    },
    title: (shown) => {
      text = visible(shown);
      drawing?.title(text);
    },
    below: (lines) => {
      under = lines.map(visible);
      drawing?.below(under);
    },
    done: () => settle('done'),
    fail: (reason) => reject(new Error(reason)),
    close: () => (isStarted ? reject(new Error('not finished')) : settle('not begun')),
    drawBy: (by) => {
      drawing = by;
      if (isStarted) by.start();
      if (text !== undefined) by.title(text);
      if (under.length > 0) by.below(under);
    },
  };
}

/** One host in a phase: its own row, or a part of a crowd. */
export interface HostRow {
  readonly start: () => void;
  readonly show: (text: string) => void;
  readonly done: (text: string) => void;
  readonly fail: () => void;
}

/** A phase, its row and the rows of its hosts. */
export interface PhaseRow {
  readonly row: Row;
  /** The rows of its hosts; none for a crowd, or a phase that does not begin. */
  readonly begun: Promise<readonly Row[]>;
  readonly begin: (hosts: readonly string[]) => void;
  /** Undefined for a host that is not of this phase. */
  readonly host: (name: string) => HostRow | undefined;
  /** All of its hosts have ended. */
  readonly done: () => void;
  readonly close: () => void;
}

type MakeRow = (name: string) => HostRow;

/** A row for each host; `rows` gets them. */
const ofTheirOwn =
  (rows: Map<string, OpenRow>, onFail: () => void): MakeRow =>
  (name) => {
    const row = openRow(name);
    rows.set(name, row);
    return {
      start: row.start,
      show: (text) => row.title(`${name}: ${text}`),
      done: (text) => {
        row.title(`${name}: ${text}`);
        row.done();
      },
      fail: () => {
        onFail();
        row.fail('failed');
      },
    };
  };

/** All hosts in the row of their phase. */
function together(own: OpenRow, title: string, count: number, onFail: () => void): MakeRow {
  const all = crowd(title, count);
  const redrawn = (change: () => void): void => {
    change();
    own.title(all.title());
    own.below(all.lines());
  };
  return (name) => ({
    start: () => redrawn(() => all.start(name)),
    show: (text) => redrawn(() => all.show(name, text)),
    done: () => redrawn(() => all.end(name, 'well')),
    fail: () => {
      onFail();
      redrawn(() => all.end(name, 'failed'));
    },
  });
}

/** The rows of one phase; before it begins it has only its own. */
export function phaseRow(title: string): PhaseRow {
  const own = openRow(title);
  let show!: (rows: readonly Row[]) => void;
  const begun = new Promise<readonly Row[]>((resolve) => (show = resolve));
  const rows = new Map<string, OpenRow>();
  const hosts = new Map<string, HostRow>();
  let anyFailed = false;
  const onFail = (): void => {
    anyFailed = true;
  };
  return {
    row: own,
    begun,
    begin: (names) => {
      // The phase is verified again after its row has ended.
      if (hosts.size > 0) return;
      const make = names.length > ROWS ? together(own, title, names.length, onFail) : ofTheirOwn(rows, onFail);
      for (const name of names) hosts.set(name, make(name));
      own.start();
      show([...rows.values()]);
    },
    host: (name) => hosts.get(name),
    done: () => (anyFailed ? own.fail('some hosts failed') : own.done()),
    close: () => {
      show([]);
      for (const row of rows.values()) row.close();
      own.close();
    },
  };
}
