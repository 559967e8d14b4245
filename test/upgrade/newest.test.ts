import { expect, test } from 'vitest';
import { newestOf } from '../../src/upgrade/hop.ts';

const entry = (name: string, version: string): string => `Package: ${name}\nVersion: ${version}\nArchitecture: amd64\n`;
const list = [
  entry('kubeadm', '1.35.9-1.1'),
  entry('kubeadm', '1.35.10-1.1'),
  entry('kubelet', '1.35.12-1.1'),
  entry('kubeadm', '1.36.0-1.1'),
].join('\n');

test('the newest patch of a minor is the highest version of kubeadm, compared as numbers', () => {
  expect(newestOf('1.35', list)).toBe('1.35.10');
});

test('a list without kubeadm of the minor has none', () => {
  expect(newestOf('1.34', list)).toBeUndefined();
});
