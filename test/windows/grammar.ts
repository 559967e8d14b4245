import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Language, Parser, type Node } from 'web-tree-sitter';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}templates/windows/`;

/** Every script for Windows hosts. */
export const scriptNames: readonly string[] = readdirSync(folder).filter((name) => name.endsWith('.ps1'));

/** The text of one of them. */
export const scriptText = (name: string): string => readFileSync(folder + name, 'utf8');

/** Parses PowerShell by tree-sitter's grammar. */
export async function powershellParser(): Promise<(text: string) => Node> {
  await Parser.init();
  const wasm = readFileSync(`${root}node_modules/tree-sitter-powershell/tree-sitter-powershell.wasm`);
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  return (text) => parser.parse(text)!.rootNode;
}

/** All nodes of some types, in the order of the text. */
export function nodesOf(from: Node, ...types: readonly string[]): readonly Node[] {
  const own = types.includes(from.type) ? [from] : [];
  return [...own, ...from.children.flatMap((child) => nodesOf(child, ...types))];
}

/** Where a tree has what the grammar does not know: `line: text`. */
export function problemsOf(from: Node): readonly string[] {
  const bad = from.type === 'ERROR' || from.isMissing;
  return [
    ...(bad ? [`${String(from.startPosition.row + 1)}: ${from.text.slice(0, 80)}`] : []),
    ...from.children.flatMap(problemsOf),
  ];
}

/** The text without comments and without what stands in strings. */
export function codeOf(text: string, tree: Node): string {
  const hidden = nodesOf(tree, 'comment', 'string_literal', 'verbatim_string_characters');
  const characters = text.split('');
  // Positions are in code units, and scripts are ASCII.
  for (const { startIndex, endIndex } of hidden) characters.fill(' ', startIndex, endIndex);
  return characters.join('');
}
