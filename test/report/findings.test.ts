import { describe, expect, test } from 'vitest';
import type { CheckedFinding } from '../../src/engine/check.ts';
import { findingsText } from '../../src/report/findings.ts';
import { hostList } from '../../src/report/text.ts';

type Given = Partial<CheckedFinding> & Pick<CheckedFinding, 'check' | 'message'>;
const finding = (given: Given): CheckedFinding => ({
  page: `docs/checks.md#${given.check}`,
  severity: 'warning',
  ...given,
});
const workers = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `w${String(i + 1)}`);

describe('findings for people', () => {
  test('each is one line with its host, and its remedy below', () => {
    const text = findingsText([
      finding({ check: 'ports', severity: 'error', host: 'w1', message: 'port 10250 is taken', remedy: 'stop it' }),
      finding({ check: 'unique-host', message: 'two hosts are one' }),
    ]);
    expect(text).toBe(
      '✖ error ports: w1: port 10250 is taken\n    → stop it\n! warning unique-host: two hosts are one\n',
    );
  });

  test('what a check says of 200 hosts is one line with the hosts', () => {
    const text = findingsText(
      workers(200).map((host) =>
        finding({ check: 'time-sync', host, message: 'runs no time service', remedy: 'install chrony' }),
      ),
    );
    expect(text).toBe('! warning time-sync: w1 … w200 (200 hosts): runs no time service\n    → install chrony\n');
  });

  test('the name of the host in a message or a remedy does not keep findings apart', () => {
    const text = findingsText(
      ['w1', 'w2'].map((host) =>
        finding({ check: 'leftovers', host, message: `${host} was reset`, remedy: `kbuild reset --hosts ${host}` }),
      ),
    );
    expect(text).toBe('! warning leftovers: w1, w2: HOST was reset\n    → kbuild reset --hosts HOST\n');
  });

  test('measures that differ from host to host are a range; ports and versions keep findings apart', () => {
    const measured = ['9.5', '43', '31'].map((found, i) =>
      finding({
        check: 'clock-skew',
        host: `w${String(i)}`,
        message: `its clock is ${found} s ahead of the other hosts (limit 30 s)`,
      }),
    );
    expect(findingsText(measured)).toBe(
      '! warning clock-skew: w0, w1, w2: its clock is 9.5 … 43 s ahead of the other hosts (limit 30 s)\n',
    );
    const ports = [10250, 10256].map((port) =>
      finding({ check: 'ports', host: 'w1', message: `port ${String(port)} is taken` }),
    );
    expect(findingsText(ports).split('\n')).toHaveLength(3);
  });

  test('a name that only begins like the host stays', () => {
    const text = findingsText(
      ['w1', 'w2'].map((host) => finding({ check: 'mtu', host, message: 'differs from w10 and w1.example' })),
    );
    expect(text).toBe('! warning mtu: w1, w2: differs from w10 and w1.example\n');
  });

  test('where a check says something else of every host, some are shown and the rest is counted', () => {
    const text = findingsText(
      workers(200).map((host, i) =>
        finding({ check: 'ports', severity: 'error', host, message: `port ${String(i)} is taken` }),
      ),
    );
    expect(text.split('\n')).toHaveLength(9);
    expect(text).toContain(
      '\n✖ error ports: w8 … w200 (193 hosts): 193 more findings of this check; `kbuild check --json` shows each\n',
    );
  });

  test('what is ignored is one line in all', () => {
    const ignored = (check: CheckedFinding['check'], hosts: readonly (string | undefined)[]) =>
      hosts.map((host) => finding({ check, message: 'x', ignored: true, ...(host === undefined ? {} : { host }) }));
    const text = findingsText([
      ...ignored('time-sync', workers(200)),
      ...ignored('disk-sync', ['cp1']),
      ...ignored('unnamed', [undefined]),
      finding({ check: 'ports', severity: 'error', host: 'w1', message: 'port 10250 is taken' }),
    ]);
    expect(text).toBe(
      '✖ error ports: w1: port 10250 is taken\nignored: time-sync (200 hosts), disk-sync (1 host), unnamed\n',
    );
  });
});

describe('a list of hosts', () => {
  test.each([
    [['cp1', 'w1', 'w2', 'w3'], 'cp1, w1, w2, w3'],
    [workers(200), 'w1 … w200 (200 hosts)'],
    [['cp1', 'cp2', ...workers(7)], 'cp1, cp2, w1 … w7 (9 hosts)'],
    [['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 'a, b, c, d, e, … (8 hosts)'],
    [['w01', 'w02', 'w03', 'w04', 'w05', 'w06', 'w07'], 'w01 … w07 (7 hosts)'],
  ])('%j', (hosts, shown) => {
    expect(hostList(hosts)).toBe(shown);
  });
});
