import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** Who may import what, from the bottom up; names on one line are peers and do not import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['each-limit.ts', 'errors.ts', 'paths.ts', 'versions.ts', 'shell'],
  ['model', 'templates.ts'],
  ['topology'],
  ['inventory'],
  ['transport'],
  ['remote'],
  ['surveys'],
  ['facts'],
  ['os', 'configuration'],
  ['cluster'],
  ['engine'],
  ['resources'],
  ['checks', 'node', 'runtime', 'lb', 'etcd', 'kubeadm', 'network', 'windows'],
  ['phases', 'report'],
  ['cli'],
];

/** Files, or what the names of files begin with. */
const PACKAGE_HOME: Readonly<Record<string, string>> = {
  ssh2: 'transport/ssh',
  listr2: 'report/terminal.ts',
  handlebars: 'templates.ts',
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(src, from), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, specifier]) => ({
    from,
    to: specifier!.startsWith('.') ? relative(src, resolve(dirname(join(src, from)), specifier!)) : specifier!,
  }));
});

const unitOf = (file: string): string => file.split('/')[0]!;
const layerOf = (file: string): number => LAYERS.findIndex((layer) => layer.includes(unitOf(file)));
const isOwn = ({ to }: Import): boolean => to.endsWith('.ts');

describe('the house', () => {
  test('every file belongs to a layer', () => {
    expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  test('imports point down, never up or sideways', () => {
    const wrong = imports
      .filter(isOwn)
      .filter(({ from, to }) => unitOf(from) !== unitOf(to) && layerOf(to) >= layerOf(from))
      .map(({ from, to }) => `${from} imports ${to}`);
    expect(wrong).toEqual([]);
  });

  test('a package with hazards has one home', () => {
    const strays = imports.filter(({ from, to }) => !from.startsWith(PACKAGE_HOME[to] ?? from));
    expect(strays.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('only the command line touches the process', () => {
    const wrong = files.filter(
      (file) =>
        unitOf(file) !== 'cli' &&
        /\b(?:process\.|console\.)/.test(withoutComments(readFileSync(join(src, file), 'utf8'))),
    );
    expect(wrong).toEqual([]);
  });

  test('what a run writes is masked: only the kubeconfig that was asked for is not', () => {
    const past = files.filter((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      return text.includes(' withRun(') && /\bouter\.(?:out|err)\(|withRun\(context/.test(text);
    });
    expect(past).toEqual(['cli/kubeconfig.ts']);
  });

  test('what only reads takes no lock', () => {
    const locking = imports.filter(({ to }) => /^engine\/(?:lock|lease)\.ts$/.test(to)).map(({ from }) => from);
    expect(locking.filter((from) => from.startsWith('cli/')).toSorted()).toEqual(
      expect.arrayContaining(['cli/etcd.ts', 'cli/up.ts']),
    );
    const session = ['preflight', 'run', 'connect'].map((name) => `session/${name}`);
    const reading = ['plan', 'check', 'status', 'facts', 'kubeconfig', ...session];
    expect(reading.map((name) => `cli/${name}.ts`).filter((file) => locking.includes(file))).toEqual([]);
    // Of what changes things they take only how a plan is made.
    const shared = /import \{([^}]*)\} from '\.\/up\.ts'/;
    for (const name of reading)
      expect(shared.exec(readFileSync(join(src, 'cli', `${name}.ts`), 'utf8'))?.[1] ?? '').not.toMatch(
        /converge|locked/,
      );
  });

  test('names of files are kebab-case, and no file is long', () => {
    expect(files.filter((file) => !/^(?:[a-z0-9-]+\/)*[a-z0-9-]+\.ts$/.test(file))).toEqual([]);
    const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 250);
    expect(long).toEqual([]);
  });

  test('there are no default exports and no enums', () => {
    const wrong = files.filter((file) =>
      /^export (?:default|(?:const )?enum)\b/m.test(readFileSync(join(src, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('every export says what it promises', () => {
    const bare = files.flatMap((file) => {
      const lines = readFileSync(join(src, file), 'utf8').split('\n');
      return lines.flatMap((line, index) =>
        /^export (?:async )?(?:function|class|abstract class)\b/.test(line) && !/\*\/\s*$/.test(lines[index - 1] ?? '')
          ? [`${file}:${String(index + 1)}`]
          : [],
      );
    });
    expect(bare).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
