/** Habits that keep the house small: what is public is used, a way through it is short, and a test is found by the name of its room. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';
import { files, root, rooms, textOf, withoutComments } from './source.ts';

/** Exports that no file imports by name, and who uses them. */
const USED_ELSEWHERE: Readonly<Record<string, string>> = {
  'src/library.ts': 'the library that the package offers',
  'src/cli/compiled.ts#compiled': 'the program that bundle.config.ts writes',
};

/** What a file exports: names of declarations, and of lists in braces. */
const exportsOf = (text: string): readonly string[] => [
  ...[
    ...text.matchAll(
      /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm,
    ),
  ].map(([, name]) => name!),
  ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    namesIn(list!).map((name) => name.split(' as ').at(-1)!),
  ),
];

/** The names of a list in braces, without `type`. */
const namesIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((name) => name.trim().replace(/^type /, ''))
    .filter((name) => name !== '');

/** What a file imports of other files, each as `path#name`. */
function importedBy(file: string, text: string): readonly string[] {
  const at = (specifier: string, name: string): string =>
    `${relative(root, resolve(dirname(join(root, file)), specifier))}#${name}`;
  const listed = [...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/g)].flatMap(
    ([, list, specifier]) => namesIn(list!).map((name) => at(specifier!, name.split(' as ')[0]!)),
  );
  const spaces = [...text.matchAll(/import (?:type )?\* as (\w+) from '(\.[^']+)'/g)].flatMap(([, space, specifier]) =>
    [...text.matchAll(new RegExp(String.raw`\b${space!}\.(\w+)`, 'g'))].map(([, name]) => at(specifier!, name!)),
  );
  // What a file that is loaded late offers is named somewhere in the file that loads it.
  const late = [...text.matchAll(/import\(\s*'(\.[^']+)'\s*\)/g)].flatMap(([, specifier]) => {
    const file = at(specifier!, '');
    return [...new Set(text.match(/\b\w+\b/g))].map((name) => file + name);
  });
  return [...listed, ...spaces, ...late];
}

test('every export has an importer outside its file', () => {
  const everywhere = ['src', 'test', '.ci'].flatMap((folder) =>
    filesIn(folder, '.ts').map((file) => `${folder}/${file}`),
  );
  const used = new Set(
    everywhere
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)
      .filter(([file, text]) => file.startsWith('src/') || text.includes('src/'))
      .flatMap(([file, text]) => importedBy(file, text)),
  );
  const unused = files
    .flatMap((file) => exportsOf(textOf(file)).map((name) => [`src/${file}`, `src/${file}#${name}`] as const))
    .filter(([file, name]) => !used.has(name) && !(file in USED_ELSEWHERE) && !(name in USED_ELSEWHERE));
  expect(unused.map(([, name]) => name)).toEqual([]);
});

/** A file of a way, and the call in it that leads to the next one: to a function, or to a member of an object. */
type Hop = readonly [file: string, call: string];

/** What a reader opens who wants to know how a step of `up` reaches a host; docs/decisions/house-by-subject.md names them. */
const READERS_WAY: readonly Hop[] = [
  ['commands/up.ts', 'up('],
  ['commands/up.phases.ts', 'prepare'],
  ['host/prepare.phases.ts', 'swapOff'],
  ['host/swap.step.ts', 'apply:'],
  ['engine/step-on-host.ts', 'run.on('],
  ['ssh/linux.ts', 'on.ask('],
  ['ssh/exchange.ts', 'transport.exec('],
  ['ssh/reconnect.ts', 'start('],
  ['ssh/ssh2-link.ts', 'client.exec('],
];

/** The calls of `kbuild up` between its first line and a byte on a host, one file after another. */
const CALL_CHAIN: readonly Hop[] = [
  ['cli/main.ts', 'run('],
  ['cli/program.ts', 'commands'],
  ['commands/commands.ts', 'runUp'],
  ['commands/up.ts', 'withRun('],
  ['session/with-run.ts', 'work('],
  ['commands/up.ts', 'carryOut('],
  ['session/carry-out.ts', 'withLocks('],
  ['session/locks.ts', 'work('],
  ['session/carry-out.ts', 'converge('],
  ['engine/converge.ts', 'runTasks('],
  ['engine/tasks.ts', 'task'],
  ['engine/converge.ts', 'hostInPhase('],
  ['engine/host-in-phase.ts', 'stepOnHost('],
  ['engine/step-on-host.ts', 'change.apply('],
  ['host/swap.step.ts', 'runs('],
  ['engine/combinators.ts', '.run('],
  ['ssh/linux.ts', 'on.ask('],
  ['ssh/exchange.ts', 'transport.exec('],
  ['ssh/reconnect.ts', 'start('],
  ['ssh/channels.ts', 'link.start('],
  ['ssh/ssh2-link.ts', 'client.exec('],
];

/** Hops whose call is not in their file, or leads to no name of the next file. */
const broken = (way: readonly Hop[]): readonly string[] =>
  way.flatMap(([file, call], index) => {
    const name = /(\w+)\W*$/.exec(call)![1]!;
    const next = way[index + 1]?.[0];
    return [
      ...(withoutComments(textOf(file)).includes(call) ? [] : [`${file} does not say ${call}`]),
      ...(next === undefined || new RegExp(String.raw`\b${name}\b`).test(withoutComments(textOf(next)))
        ? []
        : [`${next} has no ${name}`]),
    ];
  });

describe('from `kbuild up` to a byte on a host', () => {
  test('a reader opens at most nine files', () => {
    expect(broken(READERS_WAY)).toEqual([]);
    expect(READERS_WAY.length).toBeLessThanOrEqual(9);
    expect(new Set(READERS_WAY.map(([file]) => file)).size).toBe(READERS_WAY.length);
  });

  test('the call chain goes through at most twenty files', () => {
    expect(broken(CALL_CHAIN)).toEqual([]);
    expect(new Set(CALL_CHAIN.map(([file]) => file)).size).toBeLessThanOrEqual(20);
  });
});

/** Folders of `test/` that are no rooms and no folders of rooms, and what is in them. */
const NO_ROOMS: Readonly<Record<string, string>> = {
  architecture: 'rules that hold all of src and all scripts',
  bench: 'the bench',
  demo: 'the demo',
  docs: 'the documentation is true',
  fakes: 'stand-ins for hosts, clusters and programs',
  fixtures: 'answers and files that tests read',
  fuzz: 'inventories and answers at random',
  golden: 'results that are compared byte by byte',
  integration: 'tests with real programs',
  lab: 'tests with real hosts',
  needs: 'what tests need of the machine',
  release: 'what is published',
  run: 'how `npm test` runs its parts',
  tools: 'what tests share, and programs that write generated files',
  vm: 'tests in an emulated machine',
  'windows/host': 'a simulated Windows host',
  'windows/interpreter': 'runs scripts over the tree of their grammar',
  'windows/kubelet': 'a simulated kubelet of Windows',
  'windows/wine': 'real Windows programs under wine',
};

/** Folders of a folder of the project. */
const foldersIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

describe('a test is found by its room', () => {
  const folders = foldersIn('test');
  const below = folders
    .filter((folder) => rooms.includes(folder))
    .flatMap((folder) => foldersIn(`test/${folder}`).map((name) => `${folder}/${name}`));

  test('folders of test/ have the names of rooms, and folders in them those of folders in rooms', () => {
    const unknown = [...folders, ...below].filter(
      (folder) => !existsSync(join(root, 'src', folder)) && !(folder in NO_ROOMS),
    );
    expect(unknown).toEqual([]);
    expect(Object.keys(NO_ROOMS).filter((folder) => !existsSync(join(root, 'test', folder)))).toEqual([]);
  });

  test('a test outside of folders is that of a file outside of rooms', () => {
    const alone = filesIn('test', '.test.ts').filter((file) => !file.includes('/'));
    expect(alone.length).toBeGreaterThan(0);
    expect(alone.filter((file) => !files.includes(file.replace('.test.ts', '.ts')))).toEqual([]);
  });
});
