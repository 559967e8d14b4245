import { expect, test } from 'vitest';
import { bypassesProxy } from '../../src/host/proxy.value.ts';

test.each([
  ['10.0.0.5', ['10.0.0.0/8'], true],
  ['192.168.0.5', ['10.0.0.0/8'], false],
  ['10.0.0.5', ['10.0.0.5'], true],
  ['pkgs.example.com', ['.example.com'], true],
  ['pkgs.example.com', ['example.com'], true],
  ['badexample.com', ['example.com'], false],
  ['pkgs.example.com', ['10.0.0.0/8', '.svc'], false],
  ['pkgs.example.com', ['*'], true],
  ['10.0.0.5', ['.5'], false],
  ['pkgs.example.com', ['no/network'], false],
])('%s with %j is reached directly: %s', (host, noProxy, direct) => expect(bypassesProxy(noProxy, host)).toBe(direct));
