import { describe, expect, test } from 'vitest';
import { checks } from '../../src/commands/every.checks.ts';
import { type Check, runChecks, stops } from '../../src/engine/check.ts';
import { cases, type Situation } from '../fixtures/both-ways.ts';
import { type Fixture, GUARDED_FIXTURES, OTHER_FIXTURES, SUPPORTED_FIXTURES } from '../fakes/facts.ts';
import { fleet } from '../fakes/fleet.ts';
import { inventory } from '../fakes/inventory.ts';
import { faultsIn } from '../tools/documents.ts';

function found(situation: Situation, fixture: Fixture, of: readonly Check[] = checks) {
  const inv = situation.inventory ?? inventory();
  const { surveys, ...rest } = situation;
  const seen = { ...fleet({ ...rest, inventory: inv, fixture }), ...(surveys === undefined ? {} : { surveys }) };
  return runChecks(of, { inventory: inv, fleet: seen });
}

test('every check is tested both ways', () =>
  expect(Object.keys(cases).toSorted()).toEqual(checks.map(({ name }) => name).toSorted()));

describe.each(SUPPORTED_FIXTURES)('%s', (fixture) => {
  test('a fresh fleet may be built on, and nothing is unknown', () => {
    const findings = found({}, fixture);
    expect(findings.filter(stops)).toEqual([]);
    expect(findings.filter(({ severity }) => severity !== 'due')).toEqual([]);
  });

  test.each(checks.map((check) => [check.name, check] as const))(
    '%s finds what is wrong, and only that',
    (name, check) => {
      for (const { finds, bad, good } of cases[name]!) {
        const quiet = found(good ?? {}, fixture, [check]);
        expect(quiet, `${name} is never silent`).toEqual([]);
        const loud = found(bad, fixture, [check]);
        expect(loud.map(({ message }) => message).join('\n')).toMatch(finds);
        expect(faultsIn('check', { cluster: 'a', hosts: [], findings: loud })).toEqual([]);
        for (const { severity } of loud.filter(({ severity }) => severity !== 'unknown'))
          expect(check.severities, `${name} says which severities it has`).toContain(severity);
      }
    },
  );
});

describe.each(GUARDED_FIXTURES)('%s', (fixture) => {
  test('may be built on: SELinux stays as it is, and kbuild opens its ports in firewalld', () => {
    const settings = { firewall: 'open' as const, kubeadm: { kubeProxy: { mode: 'nftables' } } };
    const findings = found({ inventory: inventory(settings) }, fixture);
    expect(findings.filter(({ severity }) => severity === 'unknown' || severity === 'error')).toEqual([]);
    expect(findings.filter(({ check }) => check === 'selinux').map(({ severity }) => severity)).toEqual([
      'warning',
      'warning',
      'warning',
    ]);
    expect(findings.filter(({ severity, check }) => severity !== 'due' && check !== 'selinux')).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain('firewall');
  });
});

describe.each(OTHER_FIXTURES)('%s', (fixture) => {
  test('is observed without error, and refused as not yet supported', () => {
    const findings = found({}, fixture);
    expect(findings.filter(({ severity }) => severity === 'unknown')).toEqual([]);
    expect(findings.filter(({ check }) => check === 'os-supported')).toHaveLength(3);
  });
});

test('every check says what it is for', () => {
  for (const { name, title, why } of checks) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(title.length, name).toBeGreaterThan(15);
    expect(why.length, name).toBeGreaterThan(30);
  }
});
