// @module-tag linux
// @module-tag curl
/** The survey reads from a repository's list whether the version is there for the architecture of the host. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDownloads, type Wanted } from '../../../src/host/packages/downloads.survey.ts';
import { script, using } from '../../../src/templates.ts';

const entry = (version: string, architecture: string): string =>
  `Package: kubeadm\nVersion: ${version}\nArchitecture: ${architecture}\nSize: 1\n`;

/** Lists of packages as apt reads them. */
const LISTS: Readonly<Record<string, string>> = {
  '/both': [entry('1.36.3-1.1', 'amd64'), entry('1.36.3-1.1', 'arm64')].join('\n'),
  '/behind': [entry('1.36.3-1.1', 'amd64'), entry('1.36.2-1.1', 'arm64')].join('\n'),
  '/one': [entry('1.36.2-1.1', 'amd64'), entry('1.36.3-1.1', 'amd64')].join('\n'),
  '/all': entry('1.36.3-1.1', 'all'),
};

const site = createServer((request, response) => response.end(LISTS[request.url!]));
let base = '';
beforeAll(async () => {
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  base = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(() => site.close());

test.each([
  ['both', 'amd64', undefined],
  ['both', 'arm64', undefined],
  ['all', 'arm64', undefined],
  ['one', '', undefined],
  ['one', 'amd64', undefined],
  ['one', 'arm64', 'has no version 1.36.3- for arm64'],
  ['behind', 'amd64', undefined],
  ['behind', 'arm64', 'has no version 1.36.3- for arm64'],
])('a list with packages of %s, read by a host of %j', async (list, architecture, expected) => {
  const url = `${base}/${list}`;
  const wanted: Wanted = { kind: 'packages', what: 'Kubernetes 1.36.3', urls: [url], word: '1.36.3-' };
  const survey = script('host/packages/survey-downloads.sh', {
    ...{ WANTED: `packages 1.36.3- ${url}`, ACCESS_IN: '', ARCHITECTURE: architecture },
    ...{ PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' },
  });
  const { script: text } = using('host/packages/download-with-curl.sh', survey);
  const { stdout } = await promisify(execFile)('sh', ['-euc', text]);
  expect(readDownloads([wanted], stdout)[0]?.faults[0]?.why).toBe(expected);
});
