import { describe, expect, test } from 'vitest';
import {
  checkDeadNames,
  commandWithDead,
  missingHosts,
  refuseLivingDead,
} from '../../../src/cli/session/dead-hosts.ts';
import type { Run } from '../../../src/cli/session/run.ts';
import type { Fleet } from '../../../src/facts/fleet.ts';
import { ConnectError, Refused } from '../../../src/errors.ts';
import { leftOutText } from '../../../src/report/left-out.ts';
import { cp1, fleetOf, hostOf, inventoryOf, joinedHost, w1 } from '../../fakes/cluster.ts';

const cp2 = hostOf({ name: 'cp2', role: 'control-plane' });
const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const gone = (host: typeof cp1, isDead = false): Fleet['unreachable'][number] => ({
  host,
  error: new ConnectError(host.name, 'no answer', { retryable: true }),
  isDead,
});
const runOf = (unreachable: Fleet['unreachable'], flags: Run['flags'] = {}): Run =>
  ({
    command: 'up',
    flags,
    inventory,
    connected: { observations: { fleet: () => ({ ...fleetOf(joinedHost(cp1)), unreachable }) } },
  }) as unknown as Run;

describe('--dead', () => {
  test('refuses a name that the inventory does not have, with the nearest one, before any host is contacted', () => {
    const check = (dead: readonly string[], options: Parameters<typeof checkDeadNames>[2] = {}) => {
      checkDeadNames(inventory, { dead }, options);
    };
    expect(() => check(['cp2'])).not.toThrow();
    expect(() => check(['cp2', 'cpp2'])).toThrow('--dead cpp2: the inventory has no host of that name');
    expect(() => check(['cpp2'])).toThrow(
      expect.objectContaining({ exitCode: 2, remedy: 'did you mean "cp2"?' }) as Error,
    );
    expect(() => check([])).toThrow(expect.objectContaining({ exitCode: 2 }) as Error);
    // `remove` also takes nodes that the inventory no longer names.
    expect(() => check(['old'], { acceptsUnknownDead: true })).not.toThrow();
  });

  test('refuses a host that answers', () => {
    expect(() => refuseLivingDead(runOf([], { dead: ['cp1'] }))).toThrow(Refused);
    expect(() => refuseLivingDead(runOf([gone(cp2)], { dead: ['cp2'] }))).not.toThrow();
  });

  test('is in the command that the error proposes when a control plane does not answer', () => {
    const error = missingHosts(runOf([gone(cp2)], { inventory: 'my prod.yaml' }))!;
    expect(error.exitCode).toBe(3);
    expect(error.remedy).toContain("`kbuild up 'my prod.yaml' --dead cp2`");
    expect(missingHosts(runOf([gone(cp2, true)]))).toBeUndefined();
    expect(missingHosts(runOf([gone(w1)]))).toBeUndefined();
  });

  test('leaves --hosts in the proposed command: without it, reset would destroy the whole cluster', () => {
    expect(commandWithDead({ command: 'reset', flags: { hosts: ['w*'], dead: ['w2'] } }, ['w1'])).toBe(
      "kbuild reset --hosts 'w*' --dead w2,w1",
    );
    expect(commandWithDead({ command: 'remove', flags: { inventory: 'prod.yaml' } }, ['w1'], ['w1', 'w2'])).toBe(
      'kbuild remove -i prod.yaml w1 w2 --dead w1',
    );
  });
});

test('the report of hosts that were left out names them, the changes that wait for them, and the commands to run next', () => {
  const waiting = [
    { host: 'cp1', summary: 'restart containerd' },
    { host: 'cp3', summary: 'restart containerd' },
  ];
  expect(leftOutText([gone(cp2, true)], waiting)).toBe(
    [
      'left out: cp2 (does not answer)',
      'waiting for every control plane:',
      '  cp1, cp3: restart containerd',
      '  → when this is mended, run `kbuild up` again; if cp2 is gone for good: kbuild remove cp2 --dead cp2',
      '',
    ].join('\n'),
  );
  expect(leftOutText([], [])).toBe('');
});
