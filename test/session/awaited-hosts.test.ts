import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Event } from '../../src/engine/event.ts';
import { line } from '../../src/report/lines.ts';
import { awaitedHosts } from '../../src/session/observe.ts';
import { linuxHost } from '../fakes/inventory.ts';

const hosts = ['cp1', 'w1', 'w2', 'w3'].map((name) => linuxHost(name));
const [cp1, w1, w2, w3] = hosts as [(typeof hosts)[0], (typeof hosts)[0], (typeof hosts)[0], (typeof hosts)[0]];
const shown: string[] = [];
const emit = (event: Event): void => void shown.push(line({ time: '', ...event }) ?? '');

describe('while hosts are waited for', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    shown.length = 0;
  });
  afterEach(() => vi.useRealTimers());

  test('a quick fleet is not counted', () => {
    const awaited = awaitedHosts(hosts, emit, Date.now);
    vi.advanceTimersByTime(1900);
    awaited.stop();
    vi.advanceTimersByTime(60_000);
    expect(shown).toEqual([]);
  });

  test('the slow ones are named after 2, 5 and 10 s, then every 10 s, and a failed host is no answer', () => {
    const awaited = awaitedHosts(hosts, emit, Date.now);
    for (const host of [cp1, w2]) {
      awaited.answered(host);
      awaited.ended(host);
    }
    vi.advanceTimersByTime(4000);
    awaited.ended(w1);
    vi.advanceTimersByTime(27_000);
    awaited.ended(w3);
    awaited.stop();
    vi.advanceTimersByTime(60_000);
    expect(shown).toEqual([
      '2 of 4 hosts answered after 2 s; waiting for w1, w3',
      '2 of 4 hosts answered after 5 s; waiting for w3',
      '2 of 4 hosts answered after 10 s; waiting for w3',
      '2 of 4 hosts answered after 20 s; waiting for w3',
      '2 of 4 hosts answered after 30 s; waiting for w3',
    ]);
  });
});
