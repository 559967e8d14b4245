import type { z } from 'zod';
import { type Path, showPath } from '../schema/rule.ts';
import { type InventoryFile, inventoryJsonSchema, inventorySchema } from '../schema/schema.ts';
import type { Found, Located } from './document.ts';
import { issueMessage, triedForm } from './messages.ts';
import { meantSetting, unknownSetting } from './unknown-names.ts';
import { withKubeProxy } from './rules/kubernetes/kubelets.ts';
import { TEMPLATES, VARIABLES } from './syntax.ts';

/** The tree without its invalid values, and the place of each remaining value in the text. */
interface Decoded {
  /** undefined if too little of the file is valid. */
  readonly file: InventoryFile | undefined;
  /** True if no value was left out: only then may a rule report that something is missing. */
  readonly whole: boolean;
  readonly problems: readonly Found[];
  /** Where a setting of `file` stands in the text, or should: then the offset is that of the nearest one around it. */
  readonly locate: (path: Path) => Place;
}

/** A setting's path and place in the original text. */
type Place = Pick<Located, 'path' | 'offset'>;

/** The value at a path, and the path's part that leads to it: less than all of it when the rest was not written. */
function follow(root: Located, path: Path): { readonly found: Located; readonly length: number } {
  let found = root;
  for (const [length, part] of path.entries()) {
    const child = found.children.get(part);
    if (child === undefined) return { found, length };
    found = child;
  }
  return { found, length: path.length };
}

/** Where a setting of a tree stood in the original text. */
function place(tree: Located, path: Path): Place {
  const { found, length } = follow(tree, path);
  return { offset: found.offset, path: [...found.path, ...path.slice(length)] };
}

/** The tree without some of its values; items of lists move up. */
function without(node: Located, gone: ReadonlySet<Located>): Located {
  if (node.children.size === 0) return node;
  const kept = [...node.children].filter(([, child]) => !gone.has(child));
  if (Array.isArray(node.value)) {
    const items = kept.map(([, child]) => without(child, gone));
    return { ...node, value: items.map(({ value }) => value), children: new Map(items.entries()) };
  }
  const settings = kept.map(([name, child]) => [name, without(child, gone)] as const);
  return {
    ...node,
    value: Object.fromEntries(settings.map(([name, { value }]) => [name, value])),
    children: new Map(settings),
  };
}

interface JsonSchemaNode {
  readonly properties?: Readonly<Record<string, JsonSchemaNode>>;
  readonly items?: JsonSchemaNode;
  readonly anyOf?: readonly JsonSchemaNode[];
  readonly additionalProperties?: JsonSchemaNode | false;
}

let schema: JsonSchemaNode | undefined;

/**
 * Names that the schema knows at a path. Making the JSON Schema takes 10 ms: it is made once, and only for mistakes.
 */
function settingsAt(path: Path): readonly string[] {
  schema ??= inventoryJsonSchema();
  let node = schema;
  const named = (one: JsonSchemaNode): JsonSchemaNode =>
    one.anyOf?.find(({ properties }) => properties !== undefined) ?? one;
  for (const part of path)
    node = named(
      (typeof part === 'number' ? node.items : node.properties?.[part]) ?? (node.additionalProperties || {}),
    );
  return Object.keys(node.properties ?? {});
}

/** Replacements for missing or invalid settings that the rules need to check the rest. */
const STAND_INS = {
  name: 'stand-in',
  kubernetes: { version: '1.36.0' },
  hosts: [{ name: 'stand-in', address: '192.0.2.1', role: 'control-plane' }],
};

const asPath = (path: readonly PropertyKey[]): Path =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

const MAX_ISSUES = 100;
const MAX_ROUNDS = 6;

/** What to do about a text that another tool was to fill in. */
function hintOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return /\{[{%]/.test(value) ? `; ${TEMPLATES}` : value.includes('${') ? `; ${VARIABLES}` : '';
}

/** Settings that are there under a wrong name: that they are missing is said by the name alone. */
function misnamed(issues: readonly z.core.$ZodIssue[]): ReadonlySet<string> {
  const meant = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [];
    const path = asPath(issue.path);
    const known = settingsAt(path);
    return issue.keys.slice(0, MAX_ISSUES).map((name) => showPath([...path, meantSetting(name, known) ?? '']));
  });
  return new Set(meant);
}

/** A setting as `kbuild explain` names it: `hosts[]`. */
const topicOf = (path: Path): string => showPath(path).replaceAll(/\[\d+\]/g, '[]');

function describe(issue: z.core.$ZodIssue, root: Located): readonly Found[] {
  const path = asPath(issue.path);
  const { found } = follow(root, path);
  if (issue.code === 'unrecognized_keys') {
    const known = settingsAt(path);
    return issue.keys.slice(0, MAX_ISSUES).map((name) => {
      const setting = found.children.get(name);
      return {
        offset: setting?.keyOffset ?? found.offset,
        path: [...path, name],
        message: unknownSetting(name, known, topicOf(path)),
      };
    });
  }
  const wrong = issue.code === 'invalid_key' ? `its name ${issue.issues[0]?.message ?? 'is wrong'}` : issue.message;
  const message = `${wrong}${hintOf(found.value)}`;
  return [{ offset: issue.code === 'invalid_key' ? found.keyOffset : found.offset, path, message }];
}

/** The invalid values to leave out so that the rules can check the rest. */
function culprits(issue: z.core.$ZodIssue, tree: Located): readonly Located[] {
  const { found } = follow(tree, asPath(issue.path));
  return issue.code === 'unrecognized_keys' ? issue.keys.flatMap((name) => found.children.get(name) ?? []) : [found];
}

/**
 * Validates the tree against the schema. Reports invalid values and leaves them out, so that the rules can check the
 * rest in the same run. An incomplete list item or mapping is left out whole.
 */
export function decode(root: Located): Decoded {
  let tree = root;
  const problems: Found[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const current = tree;
    const value: unknown =
      round > 0 && typeof current.value === 'object' ? { ...STAND_INS, ...current.value } : current.value;
    const result = inventorySchema.safeParse(value, {
      // Code that zod makes for a schema costs more than it saves in one inventory.
      jitless: true,
      error: (issue) => {
        const path = asPath(issue.path ?? []);
        const { found, length } = follow(current, path);
        return issueMessage(issue, length === path.length ? found : undefined);
      },
    });
    if (result.success)
      return { file: withKubeProxy(result.data), whole: round === 0, problems, locate: (path) => place(current, path) };
    const issues = result.error.issues.map(triedForm);
    if (round === 0) {
      const meant = misnamed(issues);
      const isMissing = (path: Path): boolean => follow(current, path).length < path.length;
      const told = issues.filter(({ path }) => !(meant.has(showPath(asPath(path))) && isMissing(asPath(path))));
      problems.push(...told.slice(0, MAX_ISSUES).flatMap((issue) => describe(issue, root)));
    }
    const gone = new Set(issues.flatMap((issue) => culprits(issue, current)));
    if (gone.has(current)) {
      if (round > 0 || typeof current.value !== 'object' || Array.isArray(current.value) || current.value === null)
        break;
      gone.delete(current);
    }
    tree = without(current, gone);
  }
  return { file: undefined, whole: false, problems, locate: (path) => place(tree, path) };
}
