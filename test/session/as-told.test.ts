import { describe, expect, test } from 'vitest';
import { ChecksFailed, FactError, Refused, SeveralErrors } from '../../src/errors.ts';
import { asTold } from '../../src/session/as-told.ts';
import { type Run } from '../../src/session/run.ts';

const untold = (fact: string) => new FactError('cp1', fact, 'context deadline exceeded');

/** A run whose clock goes on by `stepMs` with each look at the hosts. */
function runOf(stepMs = 0, initSystem = 'systemd') {
  const linuxHosts = ['cp1', 'w1'].map((name) => ({ name, os: 'linux' }));
  const counted = { looks: 0, nowMs: 0 };
  const observeAgain = () => {
    counted.looks += 1;
    counted.nowMs += stepMs;
    return Promise.resolve();
  };
  const hosts = linuxHosts.map((host) => ({ os: 'linux', host, facts: { initSystem } }));
  const run = {
    connected: { observeAgain, observations: { fleet: () => ({ hosts, unreachable: [] }) } },
    inventory: { hosts: linuxHosts },
    context: { nowMs: () => counted.nowMs, sleep: () => Promise.resolve() },
    signal: new AbortController().signal,
  } as unknown as Run;
  return { run, counted };
}

describe('what was observed', () => {
  test('is read at once: nothing is observed twice where all was told', async () => {
    const { run, counted } = runOf();
    expect(await asTold(run, () => 'plan')).toBe('plan');
    expect(counted.looks).toBe(0);
  });

  test('is observed first where it may be out of date', async () => {
    const { run, counted } = runOf();
    expect(await asTold(run, () => 'plan', false)).toBe('plan');
    expect(counted.looks).toBe(1);
  });

  test('is observed again while a busy API does not tell something', async () => {
    const { run, counted } = runOf();
    const answers = [untold('systemPods'), new SeveralErrors([untold('nodes'), untold('leases')])];
    const read = () => {
      const error = answers.shift();
      if (error !== undefined) throw error;
      return 'plan';
    };
    expect(await asTold(run, read)).toBe('plan');
    expect(counted.looks).toBe(2);
  });

  test('ends the run after half a minute with what is still unknown', async () => {
    const { run, counted } = runOf(10_000);
    const read = () => {
      throw untold('systemPods');
    };
    await expect(asTold(run, read)).rejects.toThrow('could not tell systemPods');
    expect(counted.looks).toBe(3);
  });

  test('is not asked again on a host that a check knows not to tell it: there is no systemd', async () => {
    const { run, counted } = runOf(0, 'openrc-init');
    const read = () => {
      throw new SeveralErrors([untold('services'), untold('timers')]);
    };
    const error = await asTold(run, read).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ChecksFailed);
    const text = String(error);
    expect(text).toContain('process 1 is openrc-init, and only systemd is supported');
    expect(text).not.toContain('--ignore-check');
    // w1 has told everything that was asked.
    expect(text).not.toContain('w1');
    expect(counted.looks).toBe(0);
  });

  test.each([
    ['a refusal', new Refused('other-cluster', 'prod', 'no')],
    ['a refusal beside it', new SeveralErrors([untold('nodes'), new Refused('other-cluster', 'prod', 'no')])],
  ])('%s is not asked again', async (_, error) => {
    const { run, counted } = runOf();
    const read = () => {
      throw error;
    };
    await expect(asTold(run, read)).rejects.toBe(error);
    expect(counted.looks).toBe(0);
  });
});
