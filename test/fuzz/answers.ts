import { readFileSync } from 'node:fs';
import { observedLinux } from '../../src/cluster/fleet/fleet.ts';
import { readFrames } from '../../src/cluster/fleet/framed-script.ts';
import { checks } from '../../src/commands/every.checks.ts';
import { up } from '../../src/commands/up.phases.ts';
import { runChecks } from '../../src/engine/check.ts';
import { plan } from '../../src/engine/plan.ts';
import { exitCodeOf } from '../../src/errors.ts';
import { findingsText } from '../../src/report/findings.ts';
import { masker } from '../../src/report/mask.ts';
import { hostsNote } from '../../src/report/record/notes.ts';
import { visible } from '../../src/report/text.ts';
import { SUPPORTED_FIXTURES } from '../fakes/facts.ts';
import { fleet } from '../fakes/fleet.ts';
import { inventory } from '../fakes/inventory.ts';
import { fuzz, type Fuzzed, type Random } from './random.ts';

const FIXTURES = [...SUPPORTED_FIXTURES, 'debian-12-prepared'] as const;

const answersOf = (name: string): Readonly<Record<string, string>> => {
  const text = readFileSync(new URL(`../fixtures/linux/${name}.txt`, import.meta.url), 'utf8');
  return Object.fromEntries(
    Object.entries(readFrames(text, '', 'NONCE')).flatMap(([fact, answer]) =>
      'stdout' in answer ? [[fact, answer.stdout] as const] : [],
    ),
  );
};
const answers = Object.fromEntries(FIXTURES.map((name) => [name, answersOf(name)]));

/** What stands in the place of an answer, a line or a word. */
const JUNK: readonly string[] = [
  ...[
    '',
    '\n'.repeat(50),
    '{}',
    '[]',
    'null',
    'NaN',
    '-1',
    '1e309',
    '99999999999999999999999',
    'true',
    'absent',
    'none',
  ],
  ...[
    '{"__proto__":{"polluted":1}}',
    '{"items":null}',
    '{"items":[null,1,{"metadata":null}]}',
    '\0\u0001\ufffd',
    '=',
    '\t',
  ],
  ...[
    '\u202e\u001b[31m',
    'a '.repeat(5000),
    'x'.repeat(20_000),
    '0 0 0 0 0 0 0 0',
    '- - - - -',
    '/ / / /',
    'a=b\n=c\n==\n',
  ],
  ...[
    '__proto__ __proto__ __proto__\n',
    'constructor=1\ntoString=2\n__proto__=3\n',
    '255.255.255.255/99 999.1.1.1 ::1/999',
  ],
  ...[
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    '1700000000.000 x',
    '::error::x',
    'a.'.repeat(9000),
  ],
];

function mutated(answer: string, { next, pick, below }: Random): string | undefined {
  const share = next();
  if (share < 0.25) return `${pick(JUNK)}\n`;
  if (share < 0.45) {
    const words = answer.split(' ');
    words[below(words.length)] = pick(JUNK);
    return words.join(' ');
  }
  if (share < 0.6) {
    const lines = answer.split('\n');
    lines[below(lines.length)] = pick(JUNK);
    return lines.join('\n');
  }
  return share < 0.65 ? answer.repeat(200) : undefined;
}

const SEVERITIES: readonly string[] = ['error', 'unknown', 'due', 'warning'];

/**
 * Answers of one host that were changed at random: check, plan and the record work, every finding has a severity and a message, and no
 * step ends with a bug.
 */
export const fuzzAnswers = (runs: number, seed: number): Promise<Fuzzed> =>
  fuzz(runs, seed, (random, report) => {
    const fixture = random.pick(FIXTURES);
    const printed = Object.fromEntries(
      Object.entries(answers[fixture]!).flatMap(([fact, answer]) => {
        const changed = mutated(answer, random);
        return changed === undefined ? [] : [[fact, changed] as const];
      }),
    );
    const given = inventory();
    const [first] = given.hosts;
    const seen = fleet({ inventory: given, fixture, printed: { [first!.name]: printed } });
    const findings = runChecks(checks, { inventory: given, fleet: seen });
    for (const { severity, message, check } of findings)
      if (!SEVERITIES.includes(severity) || typeof message !== 'string') report(`${check}: a finding without severity`);
    for (const { host, step, error } of plan(up(given), given, seen).errors)
      if (exitCodeOf(error) === 1) report(`${host}: ${step}: ${error.stack ?? error.message}`);
    const note = hostsNote(seen);
    const shown = visible(masker().text(`${findingsText(findings)}${JSON.stringify(note)}`));
    if (/[\0-\u0008\u000b-\u001f\u007f-\u009f\u202e]/.test(shown)) report('a control character in the output');
    if (shown.length > 1024 * 1024) report(`an output of ${String(shown.length)} characters`);
    if (observedLinux(seen).length !== given.hosts.length) report('a host is missing');
    if ('polluted' in {}) report('the prototype of all objects was changed');
    return Promise.resolve(findings.some(({ severity }) => severity === 'unknown') ? 'unknown' : 'told');
  });
