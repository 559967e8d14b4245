import { expect, test } from 'vitest';
import { shortWait } from '../../src/report/run-progress.ts';
import { byteText, timeText } from '../../src/report/text.ts';

test.each([
  [
    '/var/lib/dpkg/lock-frontend is held by process 812 (unattended-upgr)',
    'lock held by unattended-upgr… (/var/lib/dpkg/lock-frontend)',
  ],
  ['/var/lib/apt/lists/lock is held by process 40 (apt-get)', 'lock held by apt-get (/var/lib/apt/lists/lock)'],
  ['/run/xtables.lock is held by process 812 (iptables)', 'lock held by iptables (/run/xtables.lock)'],
  ['images since 30 s: pull a b; connected to 10.0.0.9:443 10.0.0.8:443; 900 kB in 30 s', 'pull a b'],
  ['packages since 60 s: apt-get update from https://x; 0 kB in 30 s', 'apt-get update from https://x'],
  [
    'packages since 60 s: /var/lib/dpkg/lock is held by process 9 (dpkg); 0 kB in 30 s',
    'lock held by dpkg (/var/lib/dpkg/lock)',
  ],
  ['kubeadm-init since 30 s: it says nothing', 'it says nothing'],
])('%s: a line shows %s', (summary, shown) => {
  expect(shortWait(summary)).toBe(shown);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [14_200_000, '14.2 MB'],
  [123_456_789, '123 MB'],
  [999_600_000, '1.0 GB'],
  [5e15, '5000 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(byteText(bytes)).toBe(text);
});

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [40_000, '40 s'],
  [123_000, '2 min 3 s'],
  [3_900_000, '1 h 5 min'],
])('%i ms are %s', (ms, text) => {
  expect(timeText(ms)).toBe(text);
});
