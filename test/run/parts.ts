/** The parts of `npm test`: what each runs, what it must wait for, and when a machine cannot have it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { groupInTurn, GROUPS } from '../lab/which.ts';
import { secondsOf, sharesExceeded } from './shares.ts';

/** A part of `npm test`. */
export interface Part {
  readonly name: string;
  /** Whether tests run in it, which vitest reports: where it is left out, that counts as one test. */
  readonly hasTests: boolean;
  /** The program and its arguments. `report`: where vitest puts its report of this part. */
  readonly command: (report: string) => readonly string[];
  /** Parts that must have ended well before it begins. */
  readonly after: readonly string[];
  /** It needs the whole machine: no part runs beside it. */
  readonly alone?: true;
  /** Why this machine cannot have it, in one line; undefined when it can. Asked when `npm test` begins. */
  readonly lack?: () => string | undefined;
  /** What must be true of its report (shares.ts); lines that say what is not. */
  readonly verify?: (report: string) => readonly string[];
}

const vitest =
  (projects: readonly string[], ...more: readonly string[]) =>
  (report: string): readonly string[] => [
    ...['npx', 'vitest', 'run', ...projects.flatMap((project) => ['--project', project])],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
    ...['--reporter=./test/needs/skip-reporter.ts', ...more],
  ];

const npm = (script: string) => (): readonly string[] => ['npm', 'run', '--silent', script];

/** What of the machine the lab misses, in one line; undefined if it can have hosts. Installs nothing. */
export function labLack(): string | undefined {
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'lab', '--', 'check'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  const lacks = [...stderr.matchAll(/^ {2}- (.*)$/gm)].map(([, lack]) => lack!);
  return lacks.length === 0 ? `the lab cannot be asked: ${stderr.trim().split('\n').at(-1) ?? ''}` : lacks.join('; ');
}

/** The commit that is tested, in hexadecimal; without git the number of the day. */
function turn(): string {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' });
  return stdout.trim() || Math.floor(Date.now() / 86_400_000).toString(16);
}

/** The group of the lab's other tests that runs after the core: `KBUILD_LAB_GROUP`, a number from 1 or `turn`; without it none. */
function groupPart(lack: NonNullable<Part['lack']>): readonly Part[] {
  const given = process.env['KBUILD_LAB_GROUP'] ?? '';
  if (given === '') return [];
  const number = given === 'turn' ? groupInTurn(turn()) : Number(given);
  const files = GROUPS[number - 1];
  if (files === undefined)
    throw new RangeError(`KBUILD_LAB_GROUP: turn, or a number from 1 to ${String(GROUPS.length)}`);
  const paths = files.map((file) => join('test/lab', file));
  return [
    {
      name: `lab group ${String(number)} of ${String(GROUPS.length)}`,
      hasTests: true,
      command: vitest(['lab*'], ...paths),
      after: ['core'],
      alone: true,
      lack,
    },
  ];
}

/** In this order, as far as nothing keeps them. */
export function parts(): readonly Part[] {
  let asked: { readonly lack: string | undefined } | undefined;
  const lack = (): string | undefined => (asked ??= { lack: labLack() }).lack;
  const plain = { hasTests: false, after: [] };
  const tests = { hasTests: true, after: ['build'] };
  return [
    { ...plain, name: 'build', command: npm('build') },
    { ...plain, name: 'lab build', command: () => ['npm', 'run', '--silent', 'lab', '--', 'build'], lack },
    { ...tests, name: 'unit', command: vitest(['unit'], '--coverage') },
    { ...plain, name: 'lint', command: npm('lint') },
    { ...plain, name: 'types', command: npm('typecheck') },
    { ...tests, name: 'integration', command: vitest(['integration']) },
    {
      name: 'core',
      hasTests: true,
      command: vitest(['core']),
      after: ['lab build', 'build', 'unit', 'lint', 'types', 'integration'],
      alone: true,
      lack,
      verify: (report) => sharesExceeded(secondsOf(report)),
    },
    ...groupPart(lack),
  ];
}
