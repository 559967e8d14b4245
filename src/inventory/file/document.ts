import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { InventoryError, type Problem } from '../../errors.ts';
import { type Path, showPath } from '../schema/rule.ts';
import { syntaxProblem } from './syntax.ts';

/** One value of the inventory with its place in the text. */
export interface Located {
  readonly path: Path;
  /** Characters from the beginning of the text to the value. */
  readonly offset: number;
  /** The same for the setting's name; of a list item, the item itself. */
  readonly keyOffset: number;
  /** A scalar's text as it was written, without quotes; undefined for lists and mappings. */
  readonly source: string | undefined;
  readonly value: unknown;
  /** Settings of a mapping or items of a list. */
  readonly children: ReadonlyMap<string | number, Located>;
}

/** A parsed inventory: its tree, and the places of its settings. */
interface InventoryDocument {
  readonly root: Located;
  /** `file:line:column` of an offset. */
  readonly at: (offset: number) => string;
  /** Problems that do not prevent validation of the rest: duplicates, anchors, numbers that lose digits. */
  readonly problems: readonly Found[];
}

/** A problem before it is printed: its place is still an offset, so that problems can be put in order. */
export interface Found {
  readonly offset: number;
  readonly path: Path;
  readonly message: string;
}

const MAX_DEPTH = 32;
const MAX_SYNTAX_PROBLEMS = 10;
const NOTHING: ReadonlyMap<string | number, Located> = new Map();

const SYNTAX: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab cannot indent in YAML; use spaces',
  MULTIPLE_DOCS: 'an inventory is one YAML document; remove the "---" and what belongs to another file',
  RESOURCE_EXHAUSTION: `is nested deeper than ${MAX_DEPTH} levels`,
};

const NO_TAGS = 'an inventory uses no tags: write the value, or for a secret env:NAME, file:PATH or command:COMMAND';

/** The message of an error that needs no look at the text; undefined for all others. */
function syntaxMessage({ code, message }: YAMLError): string | undefined {
  if (code === 'TAG_RESOLVE_FAILED') return `${message.replace(/ at line.*/s, '')}; ${NO_TAGS}`;
  return SYNTAX[code];
}

/** What is found while nodes are located. */
interface Notes {
  /** Makes the rest unreadable. */
  readonly stop: (offset: number, path: Path, message: string) => void;
  readonly report: (offset: number, path: Path, message: string) => void;
}

function checkScalar({ value, source }: Scalar, offset: number, path: Path, { report }: Notes): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    report(offset, path, `${source ?? 'this'} is no number that JSON knows`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    report(offset, path, `${source ?? 'this number'} would lose digits; put it in quotes if it is text`);
}

/** The settings of a map, each with its place. */
function locateMap({ items }: YAMLMap, path: Path, offset: number, notes: Notes): ReadonlyMap<string, Located> {
  const children = new Map<string, Located>();
  for (const { key, value } of items) {
    const keyAt = isNode(key) ? (key.range?.[0] ?? offset) : offset;
    if (!isScalar(key)) {
      notes.stop(
        keyAt,
        path,
        'a setting needs a plain name before its colon; kbuild fills in no templates ({{ }}): write the value, ' +
          'or let your tool write the file first',
      );
      continue;
    }
    const name = typeof key.value === 'string' ? key.value : (key.source ?? '');
    if (name === '<<') notes.stop(keyAt, path, 'merge keys (<<) are not supported; write the settings here');
    else if (name === '__proto__') notes.stop(keyAt, path, 'no setting can have this name');
    else if (children.has(name)) notes.report(keyAt, [...path, name], 'is given twice; keep one of the two');
    else children.set(name, locate(isNode(value) ? value : null, [...path, name], keyAt, notes));
  }
  return children;
}

/** A node with its place and all that is below it. */
function locate(node: Node | null, path: Path, keyOffset: number, notes: Notes): Located {
  const offset = node?.range?.[0] ?? keyOffset;
  const leaf = (value: unknown, source?: string): Located => {
    const place = value === null && source === '' ? keyOffset : offset;
    return { path, offset: place, keyOffset, source, value, children: NOTHING };
  };
  if (path.length > MAX_DEPTH) {
    notes.stop(offset, path.slice(0, 8), SYNTAX['RESOURCE_EXHAUSTION']!);
    return leaf(null);
  }
  if (isAlias(node)) notes.stop(offset, path, 'aliases (*name) are not supported; write the value here');
  else if ((isCollection(node) || isScalar(node)) && node.anchor !== undefined)
    notes.report(offset, path, 'anchors (&name) are not supported; remove it');
  if (isScalar(node)) {
    checkScalar(node, offset, path, notes);
    return leaf(node.value, node.source ?? '');
  }
  if (isSeq(node)) {
    const items = node.items.map((item, i) => {
      const itemNode = isNode(item) ? item : null;
      return locate(itemNode, [...path, i], itemNode?.range?.[0] ?? offset, notes);
    });
    const value = items.map((item) => item.value);
    return { path, offset, keyOffset, source: undefined, value, children: new Map(items.entries()) };
  }
  if (isMap(node)) {
    const children = locateMap(node, path, offset, notes);
    const entries = [...children].map(([name, child]) => [name, child.value] as const);
    return { path, offset, keyOffset, source: undefined, value: Object.fromEntries(entries), children };
  }
  return leaf(null, '');
}

/**
 * Parses the text of an inventory: one YAML 1.2 document without anchors, aliases and tags of its own.
 * Throws `InventoryError` with every problem that makes the rest unreadable.
 */
export function parseInventory(text: string, file: string): InventoryDocument {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const fatal: Problem[] = [];
  const problems: Found[] = [];
  const notes: Notes = {
    stop: (offset, path, message) => void fatal.push({ at: at(offset), path: showPath(path), message }),
    report: (offset, path, message) => void problems.push({ offset, path, message }),
  };
  for (const error of [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_PROBLEMS)) {
    const known = syntaxMessage(error);
    if (known !== undefined) {
      // A line of several tabs is one mistake.
      if (fatal.at(-1)?.message !== known) notes.stop(error.pos[0], [], known);
      continue;
    }
    const { line, col } = lineCounter.linePos(error.pos[0]);
    const found = syntaxProblem(text, { line: Math.max(line, 1), column: Math.max(col, 1) }, error);
    fatal.push({ at: `${file}:${String(found.line)}:${String(found.column)}`, path: '', message: found.message });
    // What the parser meets after one mistake are its consequences.
    break;
  }
  if (fatal.length > 0) throw new InventoryError(fatal);
  const root = locate(document.contents, [], 0, notes);
  if (fatal.length > 0) throw new InventoryError(fatal.slice(0, MAX_SYNTAX_PROBLEMS));
  return { root, at, problems };
}
