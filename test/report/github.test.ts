import { describe, expect, test } from 'vitest';
import {
  annotations,
  codeQuality,
  type PlacedFinding,
  placedProblems,
  placeOf,
  withoutCommands,
} from '../../src/report/pipelines.ts';

const finding = (over: Partial<PlacedFinding> = {}): PlacedFinding => ({
  severity: 'error',
  check: 'memory',
  host: 'w1',
  message: 'has 512 MiB of memory',
  place: { file: 'clusters/prod.yaml', line: 12, column: 5 },
  ...over,
});

describe('annotations of GitHub Actions', () => {
  test('a finding is an error at the line of its host, with its remedy', () => {
    expect(annotations([finding({ remedy: 'add memory' })])).toBe(
      '::error file=clusters/prod.yaml,line=12,col=5,title=memory%3A w1::has 512 MiB of memory%0A→ add memory\n',
    );
  });

  test('text of a host ends neither the message nor a property, and steers no terminal', () => {
    const text = annotations([
      finding({
        host: 'w1,line=1::x',
        message: '100%\r\n::set-output name=a::b\u001B[2J',
        place: { file: 'a,b:c.yaml', line: 1, column: 1 },
      }),
    ]);
    expect(text).toBe(
      String.raw`::error file=a%2Cb%3Ac.yaml,line=1,col=1,title=memory%3A w1%2Cline=1%3A%3Ax::100%25%0A::set-output name=a::b\x1b[2J` +
        '\n',
    );
  });

  test('ten of each kind are shown, the grave ones first, and one line counts the others', () => {
    const many = (severity: PlacedFinding['severity'], count: number) =>
      Array.from({ length: count }, () => finding({ severity }));
    const lines = annotations([...many('warning', 12), ...many('due', 3), ...many('error', 6), ...many('unknown', 6)])
      .trimEnd()
      .split('\n');
    const kinds = lines.map((line) => /^::(\w+) /.exec(line)?.[1] ?? 'text');
    expect(kinds).toEqual([
      ...Array.from({ length: 10 }, () => 'error'),
      ...Array.from({ length: 10 }, () => 'warning'),
      ...Array.from({ length: 3 }, () => 'notice'),
      'text',
    ]);
    expect(lines.at(-1)).toBe('4 more findings without an annotation: the summary of this step has all');
  });

  test('an inventory from standard input has no file', () => {
    expect(annotations([finding({ place: { file: '-', line: 3, column: 1 } })])).toMatch(
      /^::error title=memory%3A w1::/,
    );
  });

  test('no findings are no text', () => {
    expect(annotations([])).toBe('');
  });

  test('what a host prints is no workflow command', () => {
    for (const text of ['::set-output name=a::b', 'x\n  ::stop-commands::y', '##[add-mask]z', 'a ##[error]b'])
      expect(
        withoutCommands(text)
          .split('\n')
          .filter((line) => /^\s*::[a-z]|##\[/i.test(line)),
      ).toEqual([]);
    expect(withoutCommands('listens on\n::1')).toBe('listens on\n::1');
  });
});

test.each([
  ['inventory.yaml:3:7', { file: 'inventory.yaml', line: 3, column: 7 }],
  ['a:b.yaml:3:7', { file: 'a:b.yaml', line: 3, column: 7 }],
  ['inventory.yaml', { file: 'inventory.yaml', line: 1, column: 1 }],
])('%s is a place', (at, place) => {
  expect(placeOf(at, (file) => file)).toEqual(place);
});

test('problems of an inventory stand before its warnings', () => {
  const at = (message: string) => ({ at: 'i.yaml:2:1', path: 'name', message });
  expect(
    placedProblems({ problems: [at('bad')], warnings: [at('odd')] }, (file) => `x/${file}`).map(
      ({ severity, message, place }) => [severity, message, place.file],
    ),
  ).toEqual([
    ['error', 'name: bad', 'x/i.yaml'],
    ['warning', 'name: odd', 'x/i.yaml'],
  ]);
});

interface Issue {
  readonly fingerprint: string;
}

const issues = (findings: readonly PlacedFinding[]): readonly Issue[] => JSON.parse(codeQuality(findings)) as Issue[];

describe("GitLab's Code Quality report", () => {
  test('has the fields that GitLab reads', () => {
    expect(issues([finding({ remedy: 'add memory' })])).toEqual([
      {
        description: 'w1: has 512 MiB of memory → add memory',
        check_name: 'memory',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        severity: 'critical',
        location: { path: 'clusters/prod.yaml', lines: { begin: 12 } },
      },
    ]);
    expect(issues([])).toEqual([]);
  });

  test('a finding keeps its fingerprint when its line moves and another number was measured', () => {
    const [before] = issues([finding()]);
    const [after] = issues([
      finding({ message: 'has 498 MiB of memory', place: { file: 'clusters/prod.yaml', line: 40, column: 1 } }),
    ]);
    expect(after!.fingerprint).toBe(before!.fingerprint);
  });

  test('other hosts, checks and texts have other fingerprints, and the same text twice has two', () => {
    const all = issues([
      finding(),
      finding(),
      finding({ host: 'w2' }),
      finding({ check: 'cpus' }),
      finding({ message: 'else' }),
    ]);
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(all.length);
  });
});
